/** Live reads, the implementation of the port `ClusterReader`. */
import type { AnyObject, KubeObject } from '../../api/kubernetes.ts';
import type { ClusterReader, ResourceRef } from '../../api/ports.ts';
import { LIST_BYTES, memoryLimit } from '../../core/collection/memoryLimit.ts';
import { createDiscovery } from './apiDiscovery.ts';
import { isApiError, tooLarge } from './apiError.ts';
import { listPages } from './listPages.ts';
import { isSegment, resourcePath } from './paths.ts';
import { createSharedReads } from './sharedReads.ts';
import type { Transport } from './transport.ts';

const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
/** Objects of the first page. */
const FIRST_METADATA = 100;
const FIRST_OBJECTS = 50;
/**
 * The maximum age of an answer of `hasAny`: when Metacontroller starts, every Rollout needs the same answers. A list
 * counts as an answer too: before a deployment Gates are listed, and a moment later its objects need that answer.
 */
const HAS_ANY_MAX_AGE_MS = 1000;

export function createReader(
  transport: Transport,
  sharedReads = createSharedReads(() => performance.now()),
): ClusterReader {
  const discovery = createDiscovery(transport, sharedReads);

  /**
   * A read that many callers need at once, such as the Gate of a freeze, or the objects of a namespace in which many
   * Rollouts are created. A caller shares the next read of the same object, never one that is already running, so no
   * answer is older than its call.
   */
  const shared = <Ref, T>(name: string, read: (ref: Ref) => Promise<T>): ((ref: Ref) => Promise<T>) => {
    return (ref) => sharedReads.recent(0, `${name} ${JSON.stringify(ref)}`, () => read(ref));
  };

  async function* pages(
    { labelSelector, fieldSelector, metadataOnly, ...ref }: Parameters<ClusterReader['pages']>[0],
    atMost = Number.POSITIVE_INFINITY,
  ): AsyncGenerator<{ objects: KubeObject[]; bytes: number; isLast: boolean }> {
    const first = Math.min(metadataOnly ? FIRST_METADATA : FIRST_OBJECTS, atMost);
    const request = {
      path: resourcePath(ref),
      query: { labelSelector, fieldSelector },
      withoutFieldOwners: true,
      first,
    };
    const all = listPages(transport.send, { ...request, ...(metadataOnly && { accept: METADATA_LIST }) });
    for await (const { list, bytes } of all) {
      // An empty list of metadata has `items: null`.
      const items = list.items ?? [];
      const objects = metadataOnly ? items.map(withoutManagedFields) : items;
      yield { objects, bytes, isLast: !list.metadata?.continue };
    }
  }

  async function listAll(
    ref: Parameters<ClusterReader['pages']>[0],
    atMost = Number.POSITIVE_INFINITY,
  ): Promise<KubeObject[]> {
    const fits = memoryLimit();
    const listed: KubeObject[] = [];
    for await (const { objects } of pages(ref, atMost)) {
      for (const object of objects) {
        if (listed.length === atMost) return listed;
        if (!fits(object))
          throw tooLarge(`the ${ref.resource} in a list take more memory than ${LIST_BYTES} bytes (limit listBytes)`);
        listed.push(object);
      }
      if (listed.length === atMost) return listed;
    }
    return listed;
  }

  const serves: ClusterReader['serves'] = async ({ apiVersion, resource }) =>
    (await discovery(apiVersion)).some(({ name }) => name === resource);

  const hasAny: ClusterReader['hasAny'] = async (ref) => {
    if (!(await serves(ref))) return false;
    return (await listAll({ ...ref, metadataOnly: true }, 1)).length > 0;
  };

  const recentAny = (ref: ResourceRef, read: () => Promise<boolean>) =>
    sharedReads.recent(HAS_ANY_MAX_AGE_MS, `hasAny ${JSON.stringify(ref)}`, read);

  async function get(ref: ResourceRef & { name: string }): Promise<KubeObject | undefined> {
    if (![ref.name, ref.namespace || ref.name].every(isSegment)) return undefined;
    try {
      return await transport.send({ path: resourcePath(ref, ref.name), withoutFieldOwners: true });
    } catch (error) {
      if (isApiError(error, 404)) return undefined;
      throw error;
    }
  }

  function listAtMost({ atMost, maxBytes, ...ref }: Parameters<ClusterReader['listAtMost']>[0]) {
    const answer = listPart(ref, atMost, maxBytes);
    recentAny(ref, async () => (await answer).listed.length > 0).catch(() => {});
    return answer;
  }

  async function listPart(ref: Parameters<ClusterReader['pages']>[0], atMost: number, maxBytes: number) {
    const listed: KubeObject[] = [];
    let read = 0;
    let isTruncated = false;
    for await (const { objects, bytes, isLast } of pages(ref, atMost + 1)) {
      const room = atMost - listed.length;
      listed.push(...objects.slice(0, room));
      read += bytes;
      isTruncated = objects.length > room || (!isLast && (objects.length === room || read > maxBytes));
      if (isTruncated) break;
    }
    return { listed, isTruncated };
  }

  const list = ({ atMost, ...ref }: Parameters<ClusterReader['list']>[0]) => listAll(ref, atMost);

  return {
    get: shared('get', get) as ClusterReader['get'],
    list: shared('list', list) as ClusterReader['list'],
    listAtMost: shared('listAtMost', listAtMost) as ClusterReader['listAtMost'],
    listMetadata: shared('listMetadata', (ref) => listAll({ ...ref, metadataOnly: true })),
    async *pages<T extends AnyObject>(ref: Parameters<ClusterReader['pages']>[0]) {
      for await (const { objects } of pages(ref)) yield objects as unknown as T[];
    },
    hasAny: (ref) => recentAny(ref, () => hasAny(ref)),
    serves,
    async resourceOf({ apiVersion, kind }) {
      const found = (await discovery(apiVersion)).find((each) => each.kind === kind);
      return found && { resource: found.name, namespaced: found.namespaced };
    },
  };
}

function withoutManagedFields({ metadata: { managedFields: _, ...metadata }, ...object }: KubeObject): KubeObject {
  return { ...object, metadata };
}
