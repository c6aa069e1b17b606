/**
 * The port `GateRequirers`. As related objects they would trigger a sync of every Gate at every change of any binding, so they are
 * listed instead, once for all Gates.
 */
import { FLUX_BINDINGS, GOVERNED_KINDS, NAMESPACES, ROLLOUTS, resourceOf } from '../../api/kinds.ts';
import type { EpochMs, KubeObject } from '../../api/kubernetes.ts';
import type { ClusterReader, GateRequirers } from '../../api/ports.ts';
import type { FluxBinding, Rollout } from '../../api/types.ts';

interface Snapshot {
  at: EpochMs;
  lists: ReturnType<GateRequirers['read']>;
}

export function createGateRequirers(cluster: Pick<ClusterReader, 'list' | 'listMetadata' | 'serves'>): GateRequirers {
  let last: Snapshot | undefined;

  async function list() {
    const [bindings, rollouts, namespaces, objects] = await Promise.all([
      cluster.list<FluxBinding>(FLUX_BINDINGS),
      cluster.list<Rollout>(ROLLOUTS),
      cluster.listMetadata(NAMESPACES),
      Promise.all(GOVERNED_KINDS.map(listKind)),
    ]);
    const labels = namespaces.map(({ metadata }) => [metadata.name ?? '', metadata.labels ?? {}] as const);
    return { bindings, rollouts, namespaces: new Map(labels), objects: objects.flat() };
  }

  async function listKind(row: (typeof GOVERNED_KINDS)[number]): Promise<KubeObject[]> {
    const ref = resourceOf(row);
    if (!(await cluster.serves(ref))) return [];
    const found = await cluster.listMetadata(ref);
    return found.map(({ metadata }) => ({ apiVersion: ref.apiVersion, kind: row.kind, metadata }));
  }

  return {
    read(now, maxAgeMs) {
      if (last && Math.abs(now - last.at) < maxAgeMs) return last.lists;
      const snapshot: Snapshot = { at: now, lists: list() };
      last = snapshot;
      snapshot.lists.catch(() => {
        if (last === snapshot) last = undefined;
      });
      return snapshot.lists;
    },
  };
}
