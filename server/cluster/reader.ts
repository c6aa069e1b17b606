/** Live reads, the implementation of the port `ClusterReader`. */
import type { KubeObject } from '../../api/kubernetes.ts';
import type { ClusterReader, ResourceRef } from '../../api/ports.ts';
import { Lru } from '../lru.ts';
import { createDiscovery } from './discovery.ts';
import { isSegment, resourcePath, withQuery } from './paths.ts';
import { ApiError, type Transport } from './transport.ts';

const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
const PAGE = 500;
const MOMENT_MS = 1000;
const MAX_REMEMBERED = 10_000;

interface List {
  metadata?: { continue?: string };
  items: KubeObject[] | null;
}

export function createReader(transport: Transport): ClusterReader {
  const discovery = createDiscovery(transport);

  async function listAll(
    path: string,
    query: Record<string, string | undefined>,
    accept?: string,
    atMost = Number.POSITIVE_INFINITY,
  ): Promise<KubeObject[]> {
    const items: KubeObject[] = [];
    let next: string | undefined;
    do {
      const request = { path: withQuery(path, { ...query, limit: String(Math.min(PAGE, atMost)), continue: next }) };
      const page = await transport.send<List>(accept ? { ...request, accept } : request);
      // An empty list of metadata has `items: null`.
      items.push(...(page.items ?? []));
      next = page.metadata?.continue || undefined;
    } while (next && items.length < atMost);
    return items.length > atMost ? items.slice(0, atMost) : items;
  }

  const serves: ClusterReader['serves'] = async ({ apiVersion, resource }) =>
    (await discovery(apiVersion)).some(({ name }) => name === resource);

  return {
    async get<T extends KubeObject<any, any>>(ref: ResourceRef & { name: string }) {
      if (![ref.name, ref.namespace || ref.name].every(isSegment)) return undefined;
      try {
        return await transport.send<T>({ path: resourcePath(ref, ref.name) });
      } catch (error) {
        if (error instanceof ApiError && error.code === 404) return undefined;
        throw error;
      }
    },
    async list<T extends KubeObject<any, any>>(
      ref: ResourceRef & { labelSelector?: string; fieldSelector?: string; atMost?: number },
    ) {
      const query = { labelSelector: ref.labelSelector, fieldSelector: ref.fieldSelector };
      return (await listAll(resourcePath(ref), query, undefined, ref.atMost)) as unknown as T[];
    },
    listMetadata: (ref) =>
      listAll(resourcePath(ref), { labelSelector: ref.labelSelector, fieldSelector: ref.fieldSelector }, METADATA_LIST),
    hasAny: forAMoment(async (ref) => {
      if (!(await serves(ref))) return false;
      const { labelSelector } = ref;
      return (await listAll(resourcePath(ref), { labelSelector }, METADATA_LIST, 1)).length > 0;
    }),
    serves,
    async resourceOf({ apiVersion, kind }) {
      const found = (await discovery(apiVersion)).find((each) => each.kind === kind);
      return found && { resource: found.name, namespaced: found.namespaced };
    },
  };
}

/** Every Rollout asks the same when Metacontroller starts. */
function forAMoment(hasAny: ClusterReader['hasAny']): ClusterReader['hasAny'] {
  const answers = new Lru<{ at: number; any: Promise<boolean> }>(MAX_REMEMBERED);
  return (ref) => {
    const key = JSON.stringify(ref);
    const known = answers.get(key);
    if (known && performance.now() - known.at < MOMENT_MS) return known.any;
    const any = hasAny(ref);
    answers.set(key, { at: performance.now(), any });
    any.catch(() => answers.delete(key));
    return any;
  };
}
