/**
 * How many objects each Gate holds. Counting by related objects would wake every Gate at every change of a binding, so
 * the holders are listed live, once for all Gates and at most every half minute.
 */
import type { EpochMs, NamespacedName } from '../../api/kubernetes.ts';
import type { CallContext, ClusterReader } from '../../api/ports.ts';
import type { FluxBinding, Rollout } from '../../api/types.ts';
import { holdersOf } from '../../core/gate/holders.ts';

const MAX_AGE_MS = 30_000;

interface Snapshot {
  at: EpochMs;
  lists: Promise<[FluxBinding[], Rollout[]]>;
}

/** What was read of a cluster goes when its reader goes. */
const snapshots = new WeakMap<ClusterReader, Snapshot>();

/** undefined when the cluster does not answer: a Gate is evaluated all the same. */
export async function countHeld(gate: NamespacedName, call: CallContext): Promise<number | undefined> {
  const snapshot = snapshotOf(call);
  try {
    return holdersOf(gate, ...(await snapshot.lists)).length;
  } catch {
    if (snapshots.get(call.cluster) === snapshot) snapshots.delete(call.cluster);
    return undefined;
  }
}

function snapshotOf({ cluster, now }: CallContext): Snapshot {
  const last = snapshots.get(cluster);
  if (last && Math.abs(now - last.at) < MAX_AGE_MS) return last;
  const apiVersion = 'kuberik.com/v1alpha1';
  const lists = Promise.all([
    cluster.list<FluxBinding>({ apiVersion, resource: 'fluxbindings' }),
    cluster.list<Rollout>({ apiVersion, resource: 'rollouts' }),
  ]);
  const snapshot = { at: now, lists };
  snapshots.set(cluster, snapshot);
  return snapshot;
}
