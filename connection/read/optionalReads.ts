/** Reads of kinds that a user may lack the right to read: what could not be read is noted instead of thrown. */
import { GOVERNED_KINDS, KINDS, type KindName, NAMESPACES, resourceOf } from '../../api/kinds.ts';
import type { AnyObject, NamespacedName } from '../../api/kubernetes.ts';
import { UNREAD, type Unread } from '../../client/explain/related.ts';
import { type Collection, isApiError, type KubeClient } from '../kube/kubeClient.ts';

/** Why a kind could not be read; undefined for an error that ends the command. */
export function whyUnread(error: unknown): keyof typeof UNREAD | undefined {
  if (isApiError(error, 403)) return 'forbidden';
  return isApiError(error, 404) ? 'absent' : undefined;
}

/** The objects, or why they could not be read. @throws any other error */
export async function listIfReadable<T extends AnyObject>(
  client: KubeClient,
  from: Collection,
): Promise<T[] | keyof typeof UNREAD> {
  try {
    return await client.list<T>(from);
  } catch (error) {
    const why = whyUnread(error);
    if (why === undefined) throw error;
    return why;
  }
}

export function collectionOf(kind: Unread['kind']): Collection {
  if (kind === 'Event') return { apiVersion: 'v1', resource: 'events' };
  return kind === 'Namespace' ? NAMESPACES : resourceOf(KINDS[kind]);
}

/** Whether a kind that the cluster lacks simply has no objects there: not each part of Flux is installed everywhere. */
const isOfFlux = (kind: Unread['kind']) => GOVERNED_KINDS.some((row) => row.kind === kind);

export type OptionalReader = ReturnType<typeof optionalReader>;

/** A reader that notes what could not be read in `unread`, each kind once for each namespace. */
export function optionalReader(client: KubeClient) {
  const unread: Unread[] = [];
  const note = (kind: Unread['kind'], namespace: string | undefined, why: keyof typeof UNREAD) => {
    if (why === 'absent' && isOfFlux(kind)) return;
    if (!unread.some((each) => each.kind === kind && each.namespace === namespace))
      unread.push({ kind, why: UNREAD[why], ...(namespace !== undefined && { namespace }) });
  };
  return {
    unread,
    /** The objects; empty if they could not be read. `namespace` undefined: all. */
    async list<T extends AnyObject>(kind: Unread['kind'], namespace: string | undefined): Promise<T[]> {
      const found = await listIfReadable<T>(client, { ...collectionOf(kind), namespace });
      if (Array.isArray(found)) return found;
      note(kind, namespace, found);
      return [];
    },
    async get<T extends AnyObject>(kind: KindName, { namespace, name }: NamespacedName): Promise<T | undefined> {
      try {
        return await client.get<T>({ ...collectionOf(kind), namespace, name });
      } catch (error) {
        if (!isApiError(error, 403)) throw error;
        note(kind, namespace, 'forbidden');
        return undefined;
      }
    },
  };
}
