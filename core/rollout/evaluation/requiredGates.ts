/**
 * The Gates that a Rollout requires for its deployments: those that it names in `spec.gates`, those that select it, and
 * those of the objects bound to it. Which of them block a version, and who opened the others.
 */
import type { EpochMs, NamespacedName } from '../../../api/kubernetes.ts';
import type { FluxBinding, Gate, HistoryEntry, Rollout } from '../../../api/types.ts';
import type { Approval } from '../../approval/approvalRecord.ts';
import { evaluateGates, type GateResult, redactFor } from '../../gate/evaluateGates.ts';
import { gateRefsOf, gatesOf, TOO_MANY } from '../../gate/gateRefs.ts';
import { gateSelectsRollout } from '../../gate/gateSelection.ts';
import { sameJson } from '../../kube/json.ts';
import { identityOf, refKey, uniqueRefs, without } from '../../kube/names.ts';
import { formatTime } from '../../kube/time.ts';
import { LIMITS } from '../../limits.ts';
import { MAX_REASON } from '../../record/record.ts';
import { bypassedClosings } from '../../suspension/bypassGrant.ts';
import { closingKey } from '../../suspension/stateAnnotation.ts';
import { boundTo } from '../deployment/progress.ts';
import type { Observed } from './inputs.ts';
import { backgroundOf, type ReleaseAuthors } from './versionApprovals.ts';

/** Gates that may select the Rollouts of one namespace, as read for it. */
export interface GateSelectors {
  /** Gates that do not select are ignored. */
  gates: readonly Gate[];
  /** Labels of the Rollout's Namespace. */
  namespaceLabels: Readonly<Record<string, string>>;
  /** There are more Gates than one list may bring: they count as closed. */
  truncated?: boolean;
}

/** The Gates that a Rollout requires itself: the named ones, then those that select it. */
function ownGates(rollout: Rollout, { gates, namespaceLabels }: GateSelectors): NamespacedName[] {
  const selecting = gates.filter((gate) => gateSelectsRollout(gate, rollout, namespaceLabels));
  return [...gateRefsOf(rollout), ...selecting.map(identityOf)];
}

/** The Gates that the bound objects require. */
export function boundGates(rollout: Rollout, bindings: readonly FluxBinding[]): NamespacedName[] {
  return boundTo(rollout, bindings).flatMap(({ spec }) => gatesOf(spec));
}

/**
 * All Gates that a Rollout requires, each once. More than the limit are not evaluated one by one: they count as one
 * closed Gate with a message about the limit.
 */
export function rolloutRequiredGates(
  rollout: Rollout,
  bindings: readonly FluxBinding[],
  selectors: GateSelectors,
): NamespacedName[] {
  const all = uniqueRefs([...ownGates(rollout, selectors), ...boundGates(rollout, bindings)]);
  if (selectors.truncated || all.length > LIMITS.requiredGates) return [TOO_MANY];
  return all.sort((a, b) => (refKey(a) < refKey(b) ? -1 : 1));
}

/** Whether a write can make the Rollout require fewer Gates: without reading any. */
export function mayDropGates(rollout: Rollout, before: Rollout): boolean {
  return !sameLabels(rollout, before) || without(gateRefsOf(before), gateRefsOf(rollout)).length > 0;
}

/**
 * The Gates that a write no longer requires: it names them no longer, or leaves their selection.
 * Requiring more is never a way around one.
 */
export function droppedGates(rollout: Rollout, before: Rollout, selectors: GateSelectors): NamespacedName[] {
  const dropped = without(ownGates(before, selectors), ownGates(rollout, selectors));
  return selectors.truncated && !sameLabels(rollout, before) ? [...dropped, TOO_MANY] : dropped;
}

function sameLabels(rollout: Rollout, before: Rollout): boolean {
  return sameJson(rollout.metadata.labels ?? {}, before.metadata.labels ?? {});
}

// The Gates that a version of a Rollout has to pass: which of them block it, and who opened the others.

export type StoredApproval = NonNullable<HistoryEntry['approvals']>[number];

interface RequiredGatesResult {
  closed: GateResult[];
  /** Closed Gates that the version may bypass. */
  bypassed: GateResult[];
  /** The requests and approvals that opened the others. */
  approvals: StoredApproval[];
  /** When one of them changes by itself. */
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
  const ofBound = new Set(boundGates(rollout, bindings).map(refKey));
  const { uid } = rollout.metadata;
  const background = backgroundOf(rollout, authors, version);
  const next = { version, rollout: refKey(identityOf(rollout)), uid, background };
  const evaluated = gateRefs.map((ref) => {
    const deployment = ofBound.has(refKey(ref)) ? undefined : next;
    return evaluateGates([ref], gates, now, deployment);
  });
  const bypassedBy = bypassedClosings(rollout, head, version);
  const all = redactFor(
    evaluated.flatMap((each) => each.closed),
    rollout.metadata.namespace ?? '',
  );
  const { true: bypassed = [], false: closed = [] } = Object.groupBy(
    all,
    (gate) => `${bypassedBy.has(closingKey(gate))}`,
  );
  const gateResults = evaluated.flatMap((each) => each.all);
  return {
    closed,
    bypassed,
    approvals: gateResults.slice(0, GATES_IN_HISTORY).flatMap((gate) => approvalsOf(gate, rollout.metadata.namespace)),
    requeueAt: gateResults.flatMap(({ until, approvalsUntil }) => [until ?? [], approvalsUntil ?? []].flat()),
  };
}

/** For how many Gates the history keeps who opened them, and how much of each reason. */
export const GATES_IN_HISTORY = 10;

/** The user who opened a Gate of another namespace, and the reason, are only for readers of that Gate. */
function approvalsOf({ ref, openedBy, approvedBy = [] }: GateResult, namespace: string | undefined): StoredApproval[] {
  const given = openedBy ? [openedBy] : approvedBy;
  const latest = given.at(-1);
  if (!latest) return [];
  if (ref.namespace !== namespace) return [{ gate: refKey(ref), at: formatTime(latest.at) }];
  return given.map((each) => ({ gate: refKey(ref), ...storedApproval(each) }));
}

/** Time, user and reason, as the history stores them. */
export function storedApproval({ at, by, reason }: Pick<Approval, 'at' | 'reason'> & { by?: string }) {
  return { at: formatTime(at), ...(by && { by }), ...(reason && { reason: reason.slice(0, MAX_REASON) }) };
}
