/**
 * `status.namedGates`: whether each Gate of `spec.gates` has existed since the Rollout has named it.
 * A Gate that does not exist counts as closed, so a write that drops it from the spec would bypass it. If the Gate has
 * existed, that write is denied, since the Gate may be created again. If it never has, the name may be a mistake.
 */
import type { Rollout, RolloutStatus } from '../../../api/types.ts';
import type { GateResult } from '../../gate/evaluateGates.ts';
import { gatesNamedBy } from '../../gate/gateRefs.ts';
import { refKey } from '../../kube/names.ts';
import type { Observed } from './inputs.ts';

type NamedGate = NonNullable<RolloutStatus['namedGates']>[number];

/**
 * The next `status.namedGates`. A name without reference, because other namespaces are forbidden, gets no new entry.
 */
export function namedGateRecords({ rollout, gateRefs, gates }: Observed): NamedGate[] {
  const before = new Map(rollout.status?.namedGates?.map(({ gate, seen }) => [gate, seen]));
  const referenced = new Set(gateRefs.map(refKey));
  const names = new Set(gatesNamedBy(rollout).map(refKey));
  return [...names].flatMap((gate) => {
    if (!referenced.has(gate)) return before.get(gate) ? [{ gate, seen: true }] : [];
    return [{ gate, seen: gates.has(gate) || before.get(gate) === true }];
  });
}

/**
 * The Gates that the Rollout names and that have never existed while it named them. A status of an earlier spec proves
 * nothing.
 */
export function neverSeen({ status, metadata }: Rollout): ReadonlySet<string> {
  if (status?.observedGeneration === undefined || status.observedGeneration !== metadata.generation) return new Set();
  return new Set(status.namedGates?.flatMap(({ gate, seen }) => (seen ? [] : [gate])));
}

/**
 * The closed Gates that a Rollout may not drop: all but the names that never were a Gate.
 * @param alsoRequired Gates that something else requires too: for these it doesn't matter whether they existed
 */
export function closedAgainstRemoval(
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
