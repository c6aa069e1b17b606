/** Reads that note what may not be read, and go on without. */
import { KINDS, type KindName, resourceOf } from '../../api/kinds.ts';
import type { KubeObject, NamespacedName } from '../../api/kubernetes.ts';
import type { Unread } from '../../client/explain/related.ts';
import { isApiError, type KubeClient } from '../kube/client.ts';

/** So many Gates of other namespaces, or bound objects, are read one by one; beyond that, all of them at once. */
export const ONE_BY_ONE = 20;

/** What cannot be listed is noted in `unread`, and there is none of it. */
export async function listed<T extends KubeObject<any, any>>(
  client: KubeClient,
  kind: KindName,
  namespace: string | undefined,
  unread: Unread[],
): Promise<T[]> {
  try {
    return await client.list<T>({ ...resourceOf(KINDS[kind]), namespace });
  } catch (error) {
    const why = whyUnread(error);
    if (why === undefined) throw error;
    unread.push({ kind, why, ...(namespace !== undefined && { namespace }) });
    return [];
  }
}

/** One object. What may not be read is noted, once for a namespace. */
export async function noted<T extends KubeObject<any, any>>(
  client: KubeClient,
  kind: KindName,
  { namespace, name }: NamespacedName,
  unread: Unread[],
): Promise<T | undefined> {
  try {
    return await client.get<T>({ ...resourceOf(KINDS[kind]), namespace, name });
  } catch (error) {
    const why = whyUnread(error);
    if (why === undefined) throw error;
    if (!unread.some((each) => each.kind === kind && each.namespace === namespace)) {
      unread.push({ kind, namespace, why });
    }
    return undefined;
  }
}

export function whyUnread(error: unknown): string | undefined {
  if (isApiError(error, 403)) return 'you may not read them';
  return isApiError(error, 404) ? 'the cluster does not have this kind' : undefined;
}
