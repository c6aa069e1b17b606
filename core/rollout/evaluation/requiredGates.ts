/**
 * The Gates that a Rollout requires for its deployments: those that it names in `spec.gates`, those that select it, and
 * those of the objects bound to it. Which of them block a version, and who opened the others.
 */
import type { EpochMs, NamespacedName } from '../../../api/kubernetes.ts';
import type { FluxBinding, Gate, HistoryEntry, Rollout } from '../../../api/types.ts';
import type { Approval } from '../../approval/approvalRecord.ts';
import { evaluateGates, type GateResult, redactFor } from '../../gate/evaluateGates.ts';
import { gatesNamedBy, requiredGatesOfBinding, TOO_MANY } from '../../gate/gateRefs.ts';
import { gateSelectsRollout } from '../../gate/gateSelection.ts';
import { sameJson } from '../../kube/json.ts';
import { identityOf, refKey, uniqueRefs, without } from '../../kube/names.ts';
import { formatTime } from '../../kube/time.ts';
import { LIMITS } from '../../limits.ts';
import { bypassedClosures } from '../../suspension/bypassGrant.ts';
import { closureKey } from '../../suspension/stateAnnotation.ts';
import { boundTo } from '../deployment/progress.ts';
import type { Observed } from './inputs.ts';
import { backgroundOf, type ReleaseAuthors } from './versionApprovals.ts';

/** Gates that may select the Rollouts of one namespace. */
export interface GateSelectors {
  /** Gates that do not select are ignored. */
  gates: readonly Gate[];
  /** Labels of the Rollout's Namespace. */
  namespaceLabels: Readonly<Record<string, string>>;
  /** Whether there are more Gates than one list returns: they count as closed. */
  truncated?: boolean;
}

/** The Gates that a Rollout requires itself: the named ones, then those that select it. */
function ownGates(rollout: Rollout, { gates, namespaceLabels }: GateSelectors): NamespacedName[] {
  const selecting = gates.filter((gate) => gateSelectsRollout(gate, rollout, namespaceLabels));
  return [...gatesNamedBy(rollout), ...selecting.map(identityOf)];
}

/** The Gates that the objects bound to these Rollouts require, of each object once. */
export function boundGates(rollouts: readonly Rollout[], bindings: readonly FluxBinding[]): NamespacedName[] {
  const bound = new Set(rollouts.flatMap((rollout) => boundTo(rollout, bindings)));
  return [...bound].flatMap(({ spec }) => requiredGatesOfBinding(spec));
}

/**
 * All Gates that Rollouts of one namespace require, each once. More than the limit count as one closed Gate that names
 * the limit.
 */
export function requiredGatesOf(
  rollouts: readonly Rollout[],
  bindings: readonly FluxBinding[],
  selectors: GateSelectors,
): NamespacedName[] {
  const own = rollouts.flatMap((rollout) => ownGates(rollout, selectors));
  const all = uniqueRefs([...own, ...boundGates(rollouts, bindings)]);
  if (selectors.truncated || all.length > LIMITS.requiredGates) return [TOO_MANY];
  return all.sort((a, b) => (refKey(a) < refKey(b) ? -1 : 1));
}

/** Whether a write may make the Rollout require fewer Gates. It reads no Gate: most writes can't. */
export function mayDropGates(rollout: Rollout, before: Rollout): boolean {
  return !hasSameLabels(rollout, before) || without(gatesNamedBy(before), gatesNamedBy(rollout)).length > 0;
}

/** The Gates that the Rollout no longer requires after a write: it doesn't name them, or they don't select it. */
export function droppedGates(rollout: Rollout, before: Rollout, selectors: GateSelectors): NamespacedName[] {
  const dropped = without(ownGates(before, selectors), ownGates(rollout, selectors));
  return selectors.truncated && !hasSameLabels(rollout, before) ? [...dropped, TOO_MANY] : dropped;
}

function hasSameLabels(rollout: Rollout, before: Rollout): boolean {
  return sameJson(rollout.metadata.labels ?? {}, before.metadata.labels ?? {});
}

export type StoredApproval = NonNullable<HistoryEntry['approvals']>[number];

interface RequiredGatesResult {
  /** Closed Gates that block the version. */
  closed: GateResult[];
  /** Closed Gates that the version may bypass. */
  bypassed: GateResult[];
  /** The requests and approvals that opened the other Gates. */
  approvals: StoredApproval[];
  /** When a Gate opens or closes by time alone, or an approval expires. */
  requeueAt: EpochMs[];
}

/**
 * Evaluates the Gates that a deployment of the version requires.
 * An opening for one version counts at Gates that the Rollout itself requires. Such an opening doesn't count at a Gate
 * that a bound object requires: for the object that Gate is closed, so the object couldn't take the version.
 */
export function evaluateRequiredGates(
  { rollout, bindings, gateRefs, gates }: Observed,
  version: string | undefined,
  head: HistoryEntry | undefined,
  authors: readonly ReleaseAuthors[],
  now: EpochMs,
): RequiredGatesResult {
  if (version === undefined) return { closed: [], bypassed: [], approvals: [], requeueAt: [] };
  const boundKeys = new Set(boundGates([rollout], bindings).map(refKey));
  const { uid } = rollout.metadata;
  const background = backgroundOf(rollout, authors, version);
  const next = { version, rollout: refKey(identityOf(rollout)), uid, background };
  const evaluated = gateRefs.map((ref) => {
    const deployment = boundKeys.has(refKey(ref)) ? undefined : next;
    return evaluateGates([ref], gates, now, deployment);
  });
  const bypassedBy = bypassedClosures(rollout, head, version);
  const all = redactFor(
    evaluated.flatMap((each) => each.closed),
    rollout.metadata.namespace ?? '',
  );
  const isBypassed = (gate: GateResult) => bypassedBy.has(closureKey(gate));
  const gateResults = evaluated.flatMap((each) => each.all);
  return {
    closed: all.filter((gate) => !isBypassed(gate)),
    bypassed: all.filter(isBypassed),
    approvals: gateResults.slice(0, GATES_IN_HISTORY).flatMap((gate) => approvalsOf(gate, rollout.metadata.namespace)),
    requeueAt: gateResults.flatMap(({ until, approvalsUntil }) => [until ?? [], approvalsUntil ?? []].flat()),
  };
}

/** The number of Gates for which a deployment in the history records the users who opened or bypassed them. */
export const GATES_IN_HISTORY = 10;

/** The requests and approvals that opened a Gate; of another namespace only the time: that Gate's readers see more. */
function approvalsOf({ ref, openedBy, approvedBy = [] }: GateResult, namespace: string | undefined): StoredApproval[] {
  const given = openedBy ? [openedBy] : approvedBy;
  const latest = given.at(-1);
  if (!latest) return [];
  if (ref.namespace !== namespace) return [{ gate: refKey(ref), at: formatTime(latest.at) }];
  return given.map((each) => ({ gate: refKey(ref), ...storedApproval(each) }));
}

/** Time, user and reason in the form of the history. */
export function storedApproval({ at, by, reason }: Pick<Approval, 'at' | 'reason'> & { by?: string }) {
  return { at: formatTime(at), ...(by && { by }), ...(reason && { reason: reason.slice(0, LIMITS.reason) }) };
}
