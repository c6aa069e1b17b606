/**
 * The Gates that a Rollout requires for its deployments: those that it names in `spec.gates`, those that select it, and
 * those of the objects bound to it. Also which of these Gates block a version, which requests opened the others, and
 * which ones a write may drop.
 */
import type { EpochMs, NamespacedName } from '../../../api/kubernetes.ts';
import type { FluxBinding, Rollout, RolloutStatus } from '../../../api/types.ts';
import { bindingsOfRollout } from '../../binding/boundObjects.ts';
import {
  type ClosedGates,
  closedAmong,
  closedWhere,
  LIMIT_OF_GATES,
  type RequiredGates,
  requiredByBinding,
  unionOfRequired,
} from '../../gate/closedGates.ts';
import { evaluateGates, type GateResult, isMissing, redactFor } from '../../gate/evaluateGates.ts';
import { gatesNamedBy, type RefRules } from '../../gate/gateRefs.ts';
import { gateSelectsRollout, type SelectingGates } from '../../gate/gateSelection.ts';
import { sameJson } from '../../kube/json.ts';
import { identityOf, refKey, without } from '../../kube/names.ts';
import { LIMITS } from '../../limits.ts';
import { mayBypass } from '../../suspension/bypassGrant.ts';
import type { Observed, RolloutState } from './observed.ts';
import { GATES_IN_HISTORY, permissionsAtGate, type StoredPermission, versionUsers } from './versionApprovals.ts';

/** The Gates that a Rollout requires itself: the named ones, then those that select it. */
function ownGates(rollout: Rollout, { gates, namespaceLabels }: SelectingGates, rules: RefRules): NamespacedName[] {
  const selecting = gates.filter((gate) => gateSelectsRollout(gate, rollout, namespaceLabels));
  return [...gatesNamedBy(rollout, rules), ...selecting.map(identityOf)];
}

/** The Gates that the objects bound to these Rollouts require. */
export function requiredByBound(rollouts: readonly Rollout[], bindings: readonly FluxBinding[]): RequiredGates {
  const bound = new Set(rollouts.flatMap((rollout) => bindingsOfRollout(rollout, bindings)));
  return unionOfRequired([...bound].map(({ spec }) => requiredByBinding(spec)));
}

/** All Gates that Rollouts of one namespace require, each once; none if they are more than the limit. */
export function gatesOfRollouts(
  rollouts: readonly Rollout[],
  bindings: readonly FluxBinding[],
  selectingGates: SelectingGates,
  rules: RefRules,
): RequiredGates {
  const own = rollouts.flatMap((rollout) => ownGates(rollout, selectingGates, rules));
  const { refs, limit } = unionOfRequired([{ refs: own }, requiredByBound(rollouts, bindings)]);
  if (selectingGates.isTruncated || refs.length > LIMITS.requiredGates) return { refs: [], limit: LIMIT_OF_GATES };
  return { refs: refs.sort((a, b) => (refKey(a) < refKey(b) ? -1 : 1)), limit };
}

/** The Gates that a deployment of one version requires. */
export interface VersionGates {
  /** The closed Gates that block the version. */
  closed: ClosedGates | undefined;
  /** The closed Gates that the version may bypass. */
  bypassed: ClosedGates | undefined;
  /** The requests and approvals that opened the other Gates. */
  permissions: StoredPermission[];
  /** The times at which a Gate opens or closes by itself, or an approval expires. */
  requeueAt: EpochMs[];
}

/** The part of a RolloutContext on which the Gates of a version depend. */
interface VersionContext {
  observed: Pick<Observed, 'rollout' | 'bindings' | 'requiredGates' | 'gates'>;
  state: Pick<RolloutState, 'history' | 'authors'>;
  now: EpochMs;
}

/**
 * Evaluates the Gates that a deployment of the version requires.
 * An opening for one version counts only at Gates that no bound object requires. For a bound object such a Gate stays
 * closed, so the object couldn't take the version.
 */
export function evaluateGatesOfVersion(
  { observed, state, now }: VersionContext,
  version: string | undefined,
): VersionGates {
  if (version === undefined) return { closed: undefined, bypassed: undefined, permissions: [], requeueAt: [] };
  const { rollout, bindings, requiredGates, gates } = observed;
  const boundKeys = new Set(bindings.flatMap(({ spec }) => requiredByBinding(spec).refs).map(refKey));
  const { uid, namespace = '' } = rollout.metadata;
  const users = versionUsers(rollout, state.authors, version);
  const next = { version, rollout: refKey(identityOf(rollout)), uid, users };
  const evaluated = requiredGates.refs.flatMap((ref) => {
    const deployment = boundKeys.has(refKey(ref)) ? undefined : next;
    return evaluateGates([ref], gates, now, deployment);
  });
  const isBypassed = mayBypass(rollout, state.history[0], version);
  const closed = closedAmong(redactFor(evaluated, namespace), requiredGates.limit);
  return {
    closed: closedWhere(closed, (closure) => !isBypassed(closure)),
    bypassed: closedWhere(closed, isBypassed),
    permissions: evaluated
      .map((gate) => permissionsAtGate(gate, namespace))
      .filter((permissions) => permissions.length > 0)
      .slice(0, GATES_IN_HISTORY)
      .flat(),
    requeueAt: evaluated.flatMap(({ until, approvalsUntil }) =>
      [until, approvalsUntil].filter((at) => at !== undefined),
    ),
  };
}

// A write must not make a Rollout require fewer closed Gates.

/** Whether a write may make the Rollout require fewer Gates. It reads no Gate: most writes can't. */
export function mayDropGates(rollout: Rollout, old: Rollout, rules: RefRules): boolean {
  const dropped = without(gatesNamedBy(old, rules), gatesNamedBy(rollout, rules));
  return !hasSameLabels(rollout, old) || dropped.length > 0;
}

/** The Gates that the Rollout no longer requires after a write: it doesn't name them, or they don't select it. */
export function droppedGates(
  rollout: Rollout,
  old: Rollout,
  selectingGates: SelectingGates,
  rules: RefRules,
): RequiredGates {
  const refs = without(ownGates(old, selectingGates, rules), ownGates(rollout, selectingGates, rules));
  const isAny = selectingGates.isTruncated && !hasSameLabels(rollout, old);
  return { refs, limit: isAny ? LIMIT_OF_GATES : undefined };
}

function hasSameLabels(rollout: Rollout, old: Rollout): boolean {
  return sameJson(rollout.metadata.labels ?? {}, old.metadata.labels ?? {});
}

// `status.namedGates`: whether each Gate of `spec.gates` has existed since the Rollout has named it.
// A Gate that does not exist counts as closed, so a write that drops it from the spec would bypass it. If the Gate has
// existed, that write is denied, since the Gate may be created again. If it never has, the name may be a mistake.

type NamedGate = NonNullable<RolloutStatus['namedGates']>[number];

/** The next `status.namedGates`. Beyond the limit of Gates none is read, and no name gets a new entry. */
export function namedGateRecords({ rollout, requiredGates, gates, settings }: Observed): NamedGate[] {
  const before = new Map(rollout.status?.namedGates?.map(({ gate, seen }) => [gate, seen]));
  const read = new Set(requiredGates.refs.map(refKey));
  const names = new Set(gatesNamedBy(rollout, settings).map(refKey));
  return [...names].flatMap((gate) => {
    if (!read.has(gate)) return before.get(gate) ? [{ gate, seen: true }] : [];
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
  closed: ClosedGates | undefined,
  rollout: Rollout,
  alsoRequired: ReadonlySet<string> = new Set(),
): ClosedGates | undefined {
  const never = neverSeen(rollout);
  const mayDrop = (gate: GateResult) => isMissing(gate) && !alsoRequired.has(gate.key) && never.has(gate.key);
  return (
    closed &&
    closedAmong(
      closed.gates.filter((gate) => !mayDrop(gate)),
      closed.limit,
    )
  );
}
