/** Live reads, the implementation of the port `ClusterReader`. */
import type { AnyObject, KubeObject } from '../../api/kubernetes.ts';
import type { ClusterReader, ResourceRef } from '../../api/ports.ts';
import { createSharedReads } from '../sharedReads.ts';
import { isApiError } from './apiError.ts';
import { createDiscovery } from './discovery.ts';
import { isSegment, resourcePath, withQuery } from './paths.ts';
import type { Transport } from './transport.ts';

const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
const PAGE_SIZE = 500;
/**
 * Items in a page of objects that tenants can make large: metadata takes up to 256 KiB, whole objects up to 1.5 MiB.
 */
const METADATA_PAGE_SIZE = 100;
const OBJECT_PAGE_SIZE = 50;
/** How old an answer of `hasAny` may be: when Metacontroller starts, each Rollout needs the same ones. */
const HAS_ANY_MAX_AGE_MS = 1000;

interface List {
  metadata?: { continue?: string };
  items: KubeObject[] | null;
}

/** @param clock milliseconds that only grow */
export function createReader(transport: Transport, clock = () => performance.now()): ClusterReader {
  const discovery = createDiscovery(transport, clock);
  const sharedReads = createSharedReads(clock);

  async function* pages(
    path: string,
    query: Record<string, string | undefined>,
    size: number,
    accept?: string,
  ): AsyncGenerator<KubeObject[]> {
    let next: string | undefined;
    do {
      const request = { path: withQuery(path, { ...query, limit: String(size), continue: next }) };
      const page = await transport.send<List>(accept ? { ...request, accept } : request);
      // An empty list of metadata has `items: null`.
      yield page.items ?? [];
      next = page.metadata?.continue || undefined;
    } while (next);
  }

  async function listAll(
    path: string,
    query: Record<string, string | undefined>,
    accept?: string,
    atMost = Number.POSITIVE_INFINITY,
  ): Promise<KubeObject[]> {
    const items: KubeObject[] = [];
    for await (const page of pages(path, query, Math.min(PAGE_SIZE, atMost), accept)) {
      items.push(...page);
      if (items.length >= atMost) break;
    }
    return items.length > atMost ? items.slice(0, atMost) : items;
  }

  const serves: ClusterReader['serves'] = async ({ apiVersion, resource }) =>
    (await discovery(apiVersion)).some(({ name }) => name === resource);

  const hasAny: ClusterReader['hasAny'] = async (ref) => {
    if (!(await serves(ref))) return false;
    const { labelSelector } = ref;
    return (await listAll(resourcePath(ref), { labelSelector }, METADATA_LIST, 1)).length > 0;
  };

  return {
    async get<T extends AnyObject>(ref: ResourceRef & { name: string }) {
      if (![ref.name, ref.namespace || ref.name].every(isSegment)) return undefined;
      try {
        return await transport.send<T>({ path: resourcePath(ref, ref.name) });
      } catch (error) {
        if (isApiError(error, 404)) return undefined;
        throw error;
      }
    },
    async list<T extends AnyObject>(
      ref: ResourceRef & { labelSelector?: string; fieldSelector?: string; atMost?: number },
    ) {
      const query = { labelSelector: ref.labelSelector, fieldSelector: ref.fieldSelector };
      return (await listAll(resourcePath(ref), query, undefined, ref.atMost)) as unknown as T[];
    },
    listMetadata: (ref) =>
      listAll(resourcePath(ref), { labelSelector: ref.labelSelector, fieldSelector: ref.fieldSelector }, METADATA_LIST),
    pages: <T extends AnyObject>({
      labelSelector,
      fieldSelector,
      metadataOnly,
      ...ref
    }: Parameters<ClusterReader['pages']>[0]) => {
      const [size, accept] = metadataOnly ? ([METADATA_PAGE_SIZE, METADATA_LIST] as const) : [OBJECT_PAGE_SIZE];
      return pages(resourcePath(ref), { labelSelector, fieldSelector }, size, accept) as AsyncIterable<
        unknown[]
      > as AsyncIterable<T[]>;
    },
    hasAny: (ref) => sharedReads.recent(HAS_ANY_MAX_AGE_MS, JSON.stringify(ref), () => hasAny(ref)),
    serves,
    async resourceOf({ apiVersion, kind }) {
      const found = (await discovery(apiVersion)).find((each) => each.kind === kind);
      return found && { resource: found.name, namespaced: found.namespaced };
    },
  };
}

/**
 * A reader that shares reads which many callers need at once: the Gate of a freeze, the objects of a namespace in which
 * many Rollouts are created.
 * A caller shares the next read of the same object, never one that is already running: no answer is older than its
 * call.
 */
export function withSharedReads(reader: ClusterReader): ClusterReader {
  return {
    ...reader,
    get: shared(reader.get) as ClusterReader['get'],
    list: shared(reader.list) as ClusterReader['list'],
    listMetadata: shared(reader.listMetadata),
  };
}

/** The read, running at most once at a time for the same argument. */
export function shared<Ref, T>(read: (ref: Ref) => Promise<T>): (ref: Ref) => Promise<T> {
  const { fresh } = createSharedReads(() => performance.now());
  return (ref) => fresh(JSON.stringify(ref), () => read(ref));
}
