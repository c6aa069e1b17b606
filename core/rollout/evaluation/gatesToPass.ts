/**
 * The Gates that stand in the way of a Rollout's deployments: those that it requires itself, which it names in `spec.gates` or
 * which select it, and those of the objects bound to it.
 */
import type { FluxObject } from '../../../api/flux.ts';
import type { EpochMs, NamespacedName } from '../../../api/kubernetes.ts';
import type { FluxBinding, Gate, HistoryEntry, Rollout, RolloutStatus } from '../../../api/types.ts';
import { gatesInAnnotation, gatesInSelectedBy, type RefRules, requiredGates } from '../../admission/objectGates.ts';
import { bypassedClosings } from '../../admission/suspend/bypassGrant.ts';
import { closingKey } from '../../admission/suspend/stateAnnotation.ts';
import { type Approval, MAX_REASON } from '../../approval/record.ts';
import { evaluateGates, type GateResult, reveal } from '../../gate/evaluateGates.ts';
import { gateRefsOf, gatesOf, TOO_MANY } from '../../gate/gateRefs.ts';
import { gateSelectsRollout } from '../../gate/gateSelection.ts';
import { sameJson } from '../../kube/json.ts';
import { identityOf, refKey } from '../../kube/names.ts';
import { formatTime } from '../../kube/time.ts';
import { LIMITS } from '../../limits.ts';
import { isBoundTo } from '../deployment/adoptDeployment.ts';
import { boundTo, unseenBinding } from '../deployment/progress.ts';
import type { Observed } from './observedRollout.ts';
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

/** All of them, each once. More than the limit are not evaluated one by one: they count as one closed Gate that says so. */
export function gatesToPass(
  rollout: Rollout,
  bindings: readonly FluxBinding[],
  selectors: GateSelectors,
): NamespacedName[] {
  const all = [...ownGates(rollout, selectors), ...boundGates(rollout, bindings)];
  const byKey = new Map(all.map((ref) => [refKey(ref), ref]));
  if (selectors.truncated || byKey.size > LIMITS.requiredGates) return [TOO_MANY];
  return [...byKey.keys()].sort().map((key) => byKey.get(key)!);
}

/** Whether a write can make the Rollout require fewer Gates: without reading any. */
export function mayDropGates(rollout: Rollout, before: Rollout): boolean {
  const kept = new Set(gateRefsOf(rollout).map(refKey));
  return !sameLabels(rollout, before) || gateRefsOf(before).some((ref) => !kept.has(refKey(ref)));
}

/** The Gates that a write no longer requires: it names them no longer, or leaves their selection. Requiring more is never a way around one. */
export function droppedGates(rollout: Rollout, before: Rollout, selectors: GateSelectors): NamespacedName[] {
  const kept = new Set(ownGates(rollout, selectors).map(refKey));
  const dropped = ownGates(before, selectors).filter((ref) => !kept.has(refKey(ref)));
  return selectors.truncated && !sameLabels(rollout, before) ? [...dropped, TOO_MANY] : dropped;
}

function sameLabels(rollout: Rollout, before: Rollout): boolean {
  return sameJson(rollout.metadata.labels ?? {}, before.metadata.labels ?? {});
}

/** Whether a write of the status is a deployment. Past ones cannot change: another id at the top is another deployment. */
export function addsDeployment({ status }: Rollout, { status: before }: Rollout): boolean {
  const [head] = status?.history ?? [];
  const [known] = before?.history ?? [];
  return head !== undefined && (!known || head.id !== known.id);
}

// The Gates of the objects bound to a Rollout, from the objects themselves. A FluxBinding is written by a decorator, which may be
// behind, or fail for as long as it likes: its list of Gates counts only while it is that of the object as it is now.

interface BoundObject {
  /** Its metadata is enough. */
  object: FluxObject;
  /** Its FluxBinding; undefined for that of an earlier object of this name. */
  binding: FluxBinding | undefined;
  /** The binding has exactly the Gates that the object's annotations name. */
  isVouched: boolean;
}

/** The objects that are bound to the Rollout, without those that are being deleted. */
export function boundObjects(
  rollout: Rollout,
  objects: readonly FluxObject[],
  bindings: readonly FluxBinding[],
  rules: RefRules,
): BoundObject[] {
  const byTarget = new Map(bindings.map((binding) => [targetOf(binding), binding]));
  const bound = objects.filter(
    (object) => !object.metadata.deletionTimestamp && isBoundTo(object, object.kind, rollout.metadata.name ?? ''),
  );
  return bound.map((object) => {
    const found = byTarget.get(keyOf(object));
    const binding = found?.spec?.target.uid === (object.metadata.uid ?? '') ? found : undefined;
    return { object, binding, isVouched: binding !== undefined && vouches(binding, object, rules) };
  });
}

/**
 * One binding for each object, with the Gates that the object requires now, those of a binding that vouches for it unchanged.
 * @param selecting the Gates that may select Flux objects of the namespace; unused where every object is vouched for
 */
export function currentBindings(
  rollout: Rollout,
  bindings: readonly FluxBinding[],
  bound: readonly BoundObject[],
  selecting: GateSelectors,
  rules: RefRules,
): FluxBinding[] {
  const known = new Set(bound.map(({ object }) => keyOf(object)));
  // Where the object is gone or no longer bound, its Gates count until its binding is gone too.
  const others = bindings.filter((binding) => !known.has(targetOf(binding)));
  const current = bound.map((each) =>
    each.binding && each.isVouched ? each.binding : withCurrentGates(rollout, each, selecting, rules),
  );
  return [...others, ...current];
}

function withCurrentGates(
  rollout: Rollout,
  { object, binding }: BoundObject,
  { gates, namespaceLabels, truncated = false }: GateSelectors,
  rules: RefRules,
): FluxBinding {
  const byKey = new Map(gates.map((gate) => [refKey(identityOf(gate)), gate]));
  const context = { ...rules, gates: byKey, namespaceLabels, truncated };
  const { named, selecting, tooMany } = requiredGates(object, context, gates.map(identityOf));
  const refs = tooMany ? [TOO_MANY] : [...named, ...selecting];
  const { spec, ...own } = binding ?? unseenBinding(rollout, object.kind, object.metadata.name ?? '');
  return { ...own, spec: { ...spec!, gates: refs.map(({ namespace, name }) => ({ namespace, gate: name })) } };
}

function vouches({ spec }: FluxBinding, object: FluxObject, rules: RefRules): boolean {
  const { refs: named, tooMany } = gatesInAnnotation(object, rules);
  const selecting = gatesInSelectedBy(object);
  if (tooMany || selecting === undefined) return false;
  const wanted = new Set([...named, ...selecting].map(refKey));
  const known = new Set(gatesOf(spec).map(refKey));
  return wanted.size === known.size && [...wanted].every((key) => known.has(key));
}

function targetOf({ spec }: FluxBinding): string {
  return `${spec?.target.kind}/${spec?.target.name}`;
}

function keyOf({ kind, metadata }: FluxObject): string {
  return `${kind}/${metadata.name}`;
}

// `status.namedGates`: whether each Gate of `spec.gates` has existed since the Rollout names it. A Gate that does not exist counts as closed.
// One that was there must not be left because it is deleted, perhaps to be created again a moment later; a name that never was one may be.

type NamedGate = NonNullable<RolloutStatus['namedGates']>[number];

/**
 * A name without an entry is new only where the status is of another spec; otherwise it was looked at by a version that kept no record. One that
 * is not looked at, because references to other namespaces are forbidden, gets no entry.
 */
export function namedGateRecords({ rollout, gateRefs, gates }: Observed): NamedGate[] {
  const { status, metadata } = rollout;
  const before = new Map(status?.namedGates?.map(({ gate, seen }) => [gate, seen]));
  const there = new Set(gates.map((gate) => refKey(identityOf(gate))));
  const looked = new Set(gateRefs.map(refKey));
  const isKnown = status?.observedGeneration !== undefined && status.observedGeneration === metadata.generation;
  const names = new Set(gateRefsOf(rollout).map(refKey));
  return [...names].flatMap((gate) => {
    if (!looked.has(gate)) return before.get(gate) ? [{ gate, seen: true }] : [];
    return [{ gate, seen: there.has(gate) || (before.get(gate) ?? isKnown) }];
  });
}

/** The Gates that a stored Rollout names and that have not existed since: only what its status says of this spec counts. */
export function neverSeen({ status, metadata }: Rollout): ReadonlySet<string> {
  if (status?.observedGeneration === undefined || status.observedGeneration !== metadata.generation) return new Set();
  return new Set(status.namedGates?.flatMap(({ gate, seen }) => (seen ? [] : [gate])));
}

/** The closed Gates that keep a Rollout from being left: without the names that never were one, as far as nothing else requires them. */
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

// The Gates that a version of a Rollout has to pass: which hold it, and who let it through the others.

export type StoredApproval = NonNullable<HistoryEntry['approvals']>[number];

interface GatesInTheWay {
  closed: GateResult[];
  /** Closed Gates that the version may bypass. */
  bypassed: GateResult[];
  /** The requests and approvals that opened the others. */
  approvals: StoredApproval[];
  /** When one of them changes by itself. */
  requeueAt: EpochMs[];
}

/** An opening for one version is the Rollout's alone: an object that requires the same Gate sees it closed and could not take it. */
export function evaluateGatesToPass(
  { rollout, bindings, gateRefs, gates }: Observed,
  version: string | undefined,
  head: HistoryEntry | undefined,
  authors: readonly ReleaseAuthors[],
  now: EpochMs,
): GatesInTheWay {
  if (version === undefined) return { closed: [], bypassed: [], approvals: [], requeueAt: [] };
  const byKey = new Map(gates.map((gate) => [`${gate.metadata.namespace}/${gate.metadata.name}`, gate]));
  const ofBound = new Set(boundGates(rollout, bindings).map(refKey));
  const { uid } = rollout.metadata;
  const background = backgroundOf(rollout, authors, version);
  const next = { version, rollout: refKey(identityOf(rollout)), uid, background };
  const evaluated = gateRefs.map((ref) => {
    const deployment = ofBound.has(refKey(ref)) ? undefined : next;
    return evaluateGates([ref], (each) => byKey.get(refKey(each)), now, deployment);
  });
  const bypassedBy = bypassedClosings(rollout, head, version);
  const all = reveal(
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
    approvals: gateResults.slice(0, MAX_GATES).flatMap((gate) => approvalsOf(gate, rollout.metadata.namespace)),
    requeueAt: gateResults.flatMap(({ until, approvalsUntil }) => [until ?? [], approvalsUntil ?? []].flat()),
  };
}

/** For how many Gates the history keeps who opened them, and how much of each reason. */
export const MAX_GATES = 10;

/** Who opened a Gate of another namespace, and why, is for those who may read that Gate. */
function approvalsOf({ ref, openedBy, approvedBy = [] }: GateResult, namespace: string | undefined): StoredApproval[] {
  const given = openedBy ? [openedBy] : approvedBy;
  const latest = given.at(-1);
  if (!latest) return [];
  if (ref.namespace !== namespace) return [{ gate: refKey(ref), at: formatTime(latest.at) }];
  return given.map((each) => ({ gate: refKey(ref), ...storedApproval(each) }));
}

/** When, by whom and why, as the history keeps it. */
export function storedApproval({ at, by, reason }: Pick<Approval, 'at' | 'reason'> & { by?: string }) {
  return { at: formatTime(at), ...(by && { by }), ...(reason && { reason: reason.slice(0, MAX_REASON) }) };
}
