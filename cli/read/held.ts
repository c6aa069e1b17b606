/** What a Gate holds, or would hold: read from the objects that it selects. */
import { GOVERNED_KINDS, KINDS, type KindName, NAMESPACES, resourceOf } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { selectedBy } from '../../client/actions/writes/held.ts';
import type { Requirer } from '../../core/gate/gateSelection.ts';
import { isApiError, type KubeClient } from '../kube/client.ts';

/** `unread`: kinds that the reader may not list. */
export async function readSelected(client: KubeClient, gate: Gate): Promise<{ held: Requirer[]; unread: string[] }> {
  const { selects } = gate.spec;
  if (!selects) return { held: [], unread: [] };
  const isWide = selects.namespaceSelector !== undefined;
  const namespace = isWide ? undefined : gate.metadata.namespace;
  const unread: string[] = [];
  const listed = async (kind: string, from: Parameters<KubeClient['list']>[0]) => {
    try {
      return await client.list(from);
    } catch (error) {
      if (isApiError(error, 403)) unread.push(kind);
      else if (!isApiError(error, 404)) throw error;
      return [];
    }
  };
  const every = GOVERNED_KINDS.map(({ kind }) => kind);
  const kinds: readonly KindName[] = selects.kinds?.length ? selects.kinds : every;
  const [namespaces, ...lists] = await Promise.all([
    isWide ? listed('Namespaces', NAMESPACES) : [],
    ...kinds.map((kind) => listed(`${kind}s`, { ...resourceOf(KINDS[kind]), namespace })),
  ]);
  const labels = new Map(namespaces.map(({ metadata }) => [metadata.name ?? '', metadata.labels ?? {}]));
  return { held: selectedBy(gate, lists.flat() as KubeObject<any, any>[], labels), unread };
}
