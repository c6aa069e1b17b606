/**
 * `status.namedGates`: whether each Gate of `spec.gates` has existed since the Rollout names it.
 * A Gate that does not exist counts as closed.
 * A Gate that existed must not be left because it is deleted, perhaps to be created again a moment later; a name that
 * never was a Gate may be.
 */
import type { Rollout, RolloutStatus } from '../../../api/types.ts';
import type { GateResult } from '../../gate/evaluateGates.ts';
import { gateRefsOf } from '../../gate/gateRefs.ts';
import { refKey } from '../../kube/names.ts';
import type { Observed } from './inputs.ts';

type NamedGate = NonNullable<RolloutStatus['namedGates']>[number];

/**
 * A name without an entry is new only if the status is of another spec; otherwise it was looked at by a version that
 * kept no record. One that is not looked at, because references to other namespaces are forbidden, gets no entry.
 */
export function namedGateRecords({ rollout, gateRefs, gates }: Observed): NamedGate[] {
  const { status, metadata } = rollout;
  const before = new Map(status?.namedGates?.map(({ gate, seen }) => [gate, seen]));
  const looked = new Set(gateRefs.map(refKey));
  const isKnown = status?.observedGeneration !== undefined && status.observedGeneration === metadata.generation;
  const names = new Set(gateRefsOf(rollout).map(refKey));
  return [...names].flatMap((gate) => {
    if (!looked.has(gate)) return before.get(gate) ? [{ gate, seen: true }] : [];
    return [{ gate, seen: gates.has(gate) || (before.get(gate) ?? isKnown) }];
  });
}

/**
 * The Gates that a stored Rollout names and that have not existed since: only what its status says of this spec counts.
 */
export function neverSeen({ status, metadata }: Rollout): ReadonlySet<string> {
  if (status?.observedGeneration === undefined || status.observedGeneration !== metadata.generation) return new Set();
  return new Set(status.namedGates?.flatMap(({ gate, seen }) => (seen ? [] : [gate])));
}

/**
 * The closed Gates that keep a Rollout from being left: without the names that never were one, as far as nothing else
 * requires them.
 */
export function closedToLeave(
  closed: readonly GateResult[],
  rollout: Rollout,
  alsoRequired: ReadonlySet<string> = new Set(),
): GateResult[] {
  const never = neverSeen(rollout);
  return closed.filter(({ ref, missing }) => {
    const key = refKey(ref);
    return !missing || alsoRequired.has(key) || !never.has(key);
  });
}
