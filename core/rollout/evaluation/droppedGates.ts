/** The Gates that a write makes a Rollout no longer require: it must not, while they are closed. */
import type { Rollout, RolloutStatus } from '../../../api/types.ts';
import type { GateResult } from '../../gate/evaluateGates.ts';
import { gatesNamedBy, LIMIT_OF_GATES, type RequiredGates } from '../../gate/gateRefs.ts';
import type { SelectingGates } from '../../gate/gateSelection.ts';
import { sameJson } from '../../kube/json.ts';
import { refKey, without } from '../../kube/names.ts';
import { ownGates } from './gatesOfRollout.ts';
import type { Observed } from './observed.ts';

/** Whether a write may make the Rollout require fewer Gates. It reads no Gate: most writes can't. */
export function mayDropGates(rollout: Rollout, before: Rollout): boolean {
  return !hasSameLabels(rollout, before) || without(gatesNamedBy(before), gatesNamedBy(rollout)).length > 0;
}

/** The Gates that the Rollout no longer requires after a write: it doesn't name them, or they don't select it. */
export function droppedGates(rollout: Rollout, before: Rollout, selectors: SelectingGates): RequiredGates {
  const refs = without(ownGates(before, selectors), ownGates(rollout, selectors));
  const isAny = selectors.isTruncated && !hasSameLabels(rollout, before);
  return { refs, limit: isAny ? LIMIT_OF_GATES : undefined };
}

function hasSameLabels(rollout: Rollout, before: Rollout): boolean {
  return sameJson(rollout.metadata.labels ?? {}, before.metadata.labels ?? {});
}

// `status.namedGates`: whether each Gate of `spec.gates` has existed since the Rollout has named it.
// A Gate that does not exist counts as closed, so a write that drops it from the spec would bypass it. If the Gate has
// existed, that write is denied, since the Gate may be created again. If it never has, the name may be a mistake.

type NamedGate = NonNullable<RolloutStatus['namedGates']>[number];

/**
 * The next `status.namedGates`. A name without reference, because other namespaces are forbidden, gets no new entry.
 */
export function namedGateRecords({ rollout, requiredGates, gates }: Observed): NamedGate[] {
  const before = new Map(rollout.status?.namedGates?.map(({ gate, seen }) => [gate, seen]));
  const referenced = new Set(requiredGates.refs.map(refKey));
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
 * The closed Gates that a Rollout is not allowed to drop: all but the names that never were a Gate.
 * @param alsoRequired Gates that something else requires too: for these it doesn't matter whether they existed
 */
export function closedAgainstRemoval(
  closed: readonly GateResult[],
  rollout: Rollout,
  alsoRequired: ReadonlySet<string> = new Set(),
): GateResult[] {
  const never = neverSeen(rollout);
  return closed.filter(({ key, isMissing }) => !isMissing || alsoRequired.has(key) || !never.has(key));
}
