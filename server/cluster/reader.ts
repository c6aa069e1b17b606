/** Live reads, the implementation of the port `ClusterReader`. */
import type { KubeObject } from '../../api/kubernetes.ts';
import type { ClusterReader, ResourceRef } from '../../api/ports.ts';
import { createDiscovery } from './discovery.ts';
import { isSegment, resourcePath, withQuery } from './paths.ts';
import { ApiError, type Transport } from './transport.ts';

const METADATA_LIST = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
const PAGE = '500';

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
      const request = { path: withQuery(path, { ...query, limit: PAGE, continue: next }) };
      const page = await transport.send<List>(accept ? { ...request, accept } : request);
      // An empty list of metadata has `items: null`.
      items.push(...(page.items ?? []));
      next = page.metadata?.continue || undefined;
    } while (next && items.length < atMost);
    return items.length > atMost ? items.slice(0, atMost) : items;
  }

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
    listMetadata: (ref) => listAll(resourcePath(ref), { labelSelector: ref.labelSelector }, METADATA_LIST),
    async serves({ apiVersion, resource }) {
      return (await discovery(apiVersion)).some(({ name }) => name === resource);
    },
    async resourceOf({ apiVersion, kind }) {
      const found = (await discovery(apiVersion)).find((each) => each.kind === kind);
      return found && { resource: found.name, namespaced: found.namespaced };
    },
  };
}
