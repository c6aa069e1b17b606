/**
 * The Gates that a Rollout requires for its deployments: those that it names in `spec.gates`, those that select it, and
 * those of the objects bound to it. Which of them block a version, and who opened the others.
 */
import type { FluxObject } from '../../../api/flux.ts';
import type { EpochMs, NamespacedName, ObjectName } from '../../../api/kubernetes.ts';
import type { FluxBinding, Gate, HistoryEntry, Rollout, RolloutStatus } from '../../../api/types.ts';
import type { Approval } from '../../approval/approvalRecord.ts';
import { evaluateGates, type GateResult, redactFor } from '../../gate/evaluateGates.ts';
import { gatesNamedBy, requiredGatesOfBinding, TOO_MANY } from '../../gate/gateRefs.ts';
import { gateSelectsRollout } from '../../gate/gateSelection.ts';
import { sameJson } from '../../kube/json.ts';
import { byRefKey, identityOf, refKey, sortedKeys, uniqueRefs, without } from '../../kube/names.ts';
import { formatTime } from '../../kube/time.ts';
import { LIMITS } from '../../limits.ts';
import { objectsBoundTo } from '../../managedField/managedFields.ts';
import { type RefRules, requiredGates } from '../../objectGates/objectGates.ts';
import { bypassedClosures } from '../../suspension/bypassGrant.ts';
import { closureKey } from '../../suspension/stateAnnotation.ts';
import { boundTo, unseenBinding } from '../deployment/progress.ts';
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
  const { uid, namespace = '' } = rollout.metadata;
  const background = backgroundOf(rollout, authors, version);
  const next = { version, rollout: refKey(identityOf(rollout)), uid, background };
  const evaluated = gateRefs.flatMap((ref) => {
    const deployment = boundKeys.has(refKey(ref)) ? undefined : next;
    return evaluateGates([ref], gates, now, deployment).all;
  });
  const bypassedBy = bypassedClosures(rollout, head, version);
  const closed = redactFor(
    evaluated.filter(({ open }) => !open),
    namespace,
  );
  const isBypassed = (gate: GateResult) => bypassedBy.has(closureKey(gate));
  return {
    closed: closed.filter((gate) => !isBypassed(gate)),
    bypassed: closed.filter(isBypassed),
    approvals: evaluated.slice(0, GATES_IN_HISTORY).flatMap((gate) => approvalsOf(gate, namespace)),
    requeueAt: evaluated.flatMap(({ until, approvalsUntil }) => [until ?? [], approvalsUntil ?? []].flat()),
  };
}

/** The number of Gates for which a deployment in the history records the users who opened or bypassed them. */
export const GATES_IN_HISTORY = 10;

/** The requests and approvals that opened a Gate; of another namespace only the time: that Gate's readers see more. */
function approvalsOf({ ref, openedBy, approvedBy = [] }: GateResult, namespace: string): StoredApproval[] {
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

// `status.namedGates`: whether each Gate of `spec.gates` has existed since the Rollout has named it.
// A Gate that does not exist counts as closed, so a write that drops it from the spec would bypass it. If the Gate has
// existed, that write is denied, since the Gate may be created again. If it never has, the name may be a mistake.

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

// The FluxBindings of the objects bound to Rollouts, with the Gates that these objects require now.
// The decorators that write a FluxBinding and the annotations of its object may lag or fail indefinitely, so neither is
// believed about the Gates that select the object.

interface BoundObject {
  /** The Flux object; metadata is enough. */
  object: FluxObject;
  /** One of the Rollouts that the object is bound to. */
  rollout: Rollout;
  /** The object's FluxBinding; undefined if it is that of an earlier object of this name. */
  binding: FluxBinding | undefined;
}

/**
 * The objects that are bound to these Rollouts, without those that are being deleted. Each object is there once: it may
 * be bound to many of them.
 */
export function boundObjects(
  rollouts: readonly Rollout[],
  objects: readonly FluxObject[],
  bindings: readonly FluxBinding[],
): BoundObject[] {
  const byTarget = new Map(bindings.map((binding) => [targetOf(binding), binding]));
  const rolloutOf = new Map<FluxObject, Rollout>();
  for (const rollout of rollouts) {
    for (const object of objectsBoundTo(rollout.metadata.name ?? '', objects)) rolloutOf.set(object, rollout);
  }
  return [...rolloutOf].flatMap(([object, rollout]) => {
    if (object.metadata.deletionTimestamp) return [];
    const found = byTarget.get(keyOf(object));
    const binding = found?.spec?.target.uid === (object.metadata.uid ?? '') ? found : undefined;
    return [{ object, rollout, binding }];
  });
}

/** The names of the objects that are bound to the Rollout, by the objects themselves or by their FluxBindings. */
export function namesOfBound(
  { metadata }: Rollout,
  bindings: readonly FluxBinding[],
  objects: readonly FluxObject[],
): ObjectName[] {
  const { namespace = '', name = '' } = metadata;
  const bound = objectsBoundTo(name, objects).map((object) => ({
    kind: object.kind,
    name: object.metadata.name ?? '',
  }));
  const targets = bindings.flatMap(({ spec }) => spec?.target ?? []);
  const byKey = new Map([...bound, ...targets].map((each) => [`${each.kind}/${each.name}`, each]));
  return [...byKey.values()].map((each) => ({ kind: each.kind, namespace, name: each.name }));
}

/** One binding for each object: the stored one, or one that proves nothing. */
export function bindingsOfObjects(bindings: readonly FluxBinding[], bound: readonly BoundObject[]): FluxBinding[] {
  const known = new Set(bound.map(({ object }) => keyOf(object)));
  // An object that was deleted or unbound counts until its binding is deleted, and so do its Gates.
  const others = bindings.filter((binding) => !known.has(targetOf(binding)));
  return [...others, ...bound.map(bindingOf)];
}

/**
 * One binding for each object, with the Gates that the object requires now.
 * @param selecting the Gates that may select Flux objects of the namespace
 */
export function currentBindings(
  bindings: readonly FluxBinding[],
  bound: readonly BoundObject[],
  selecting: GateSelectors,
  rules: RefRules,
): FluxBinding[] {
  const { gates, namespaceLabels, truncated = false } = selecting;
  const candidates = sortedKeys(gates.map(identityOf));
  const context = { ...rules, gates: byRefKey(gates), namespaceLabels, candidates, truncated };
  const current = bound.map((each) => ({ ...each, binding: withCurrentGates(each, context) }));
  return bindingsOfObjects(bindings, current);
}

function withCurrentGates(bound: BoundObject, context: Parameters<typeof requiredGates>[1]): FluxBinding {
  const { named, selecting, tooMany } = requiredGates(bound.object, context);
  const refs = tooMany ? [tooMany] : [...named, ...selecting];
  const { spec, ...own } = bindingOf(bound);
  return { ...own, spec: { ...spec!, gates: refs.map(({ namespace, name }) => ({ namespace, gate: name })) } };
}

function bindingOf({ object, rollout, binding }: BoundObject): FluxBinding {
  return binding ?? unseenBinding(rollout, object.kind, object.metadata.name ?? '');
}

function targetOf({ spec }: FluxBinding): string {
  return `${spec?.target.kind}/${spec?.target.name}`;
}

function keyOf({ kind, metadata }: FluxObject): string {
  return `${kind}/${metadata.name}`;
}
