/** What an object's decorator knows of its Gates for the FluxBinding, and how it releases the object when they have opened. */
import { GATE_STATE, SUSPENDED } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { EpochMs, NamespacedName } from '../../api/kubernetes.ts';
import type { FluxBindingStatus, Gate } from '../../api/types.ts';
import { changedAt } from '../gate/changed.ts';
import { closingOf, evaluateGate } from '../gate/evaluate.ts';
import { TOO_MANY_TEXT } from '../gate/judge.ts';
import type { RequiredGate } from '../gate/refs.ts';
import { TOO_MANY } from '../gate/refs.ts';
import { identityOf, refKey } from '../kube/names.ts';
import { LIMITS } from '../limits.ts';
import { awaitedApply, currentAwaits, resumedAloneAt } from '../suspend/resume.ts';
import { closingKey, formatState, INVALID_REFERENCE, isBypassed, parseState } from '../suspend/stateAnnotation.ts';
import { isSeenPassing } from './passing.ts';
import { type GateWorld, type RefRules, requiredGates } from './requiredGates.ts';

export interface Gating {
  /** For the binding's spec. */
  gates: RequiredGate[];
  problems: string[];
  /** Closed ones; undefined while the state of a named Gate is not known yet. Empty lists mean open or no gate. */
  closed: NamespacedName[] | undefined;
  /** The same with which closing it is: see `closingKey`. */
  closings: string[];
  /** When the newest of them opened or closed. */
  changedAt: EpochMs;
}

/** `sent`: the Gates that may select the object, and those that it names as far as the decorator relates them; of the others the observed binding tells. */
export function gatingOf(
  object: FluxObject,
  sent: readonly Gate[],
  namespaceLabels: Readonly<Record<string, string>>,
  observed: FluxBindingStatus | undefined,
  now: EpochMs,
  rules: RefRules = {},
): Gating {
  const gates = new Map(sent.map((gate) => [refKey(identityOf(gate)), gate]));
  const world: GateWorld = { ...rules, gates, namespaceLabels, now };
  const required = requiredGates(object, world, sent.map(identityOf));
  const { named, selecting, problems, tooMany } = required;
  const selectingKeys = new Set(selecting.map(refKey));
  const namedOnly = named.filter((ref) => !selectingKeys.has(refKey(ref)));
  const states = new Map((observed?.gates ?? []).map((state) => [refKey(state), state]));
  const opened = new Map([...states].map(([key, state]) => [key, state.opened]));
  for (const [key, gate] of gates) opened.set(key, evaluateGate(gate, now).opened);
  const changes = [...named, ...selecting]
    .map(refKey)
    .map((key) => changedAt(gates.get(key), opened.get(key) ?? false, now));
  const changed = Math.max(0, ...changes);
  const isKnown = namedOnly.every((ref) => opened.has(refKey(ref)));
  const closed: NamespacedName[] = [
    ...namedOnly.filter((ref) => opened.get(refKey(ref)) === false),
    ...selecting.filter((ref) => !evaluateGate(gates.get(refKey(ref))!, now).opened),
  ];
  const closings = closed.map((ref) => {
    const gate = gates.get(refKey(ref));
    const closing = gate ? closingOf(evaluateGate(gate, now)) : states.get(refKey(ref))?.closing;
    return closingKey({ ref, closing });
  });
  const all = [...namedOnly, ...selecting.map((ref) => ({ ...ref, selected: true }))];
  if (!tooMany) return { gates: all, problems, closed: isKnown ? closed : undefined, closings, changedAt: changed };
  // Closed ones first: a Rollout that is bound to the object waits for these too.
  const isClosed = new Set(closed.map(refKey));
  const sorted = [true, false].flatMap((wanted) => all.filter((ref) => isClosed.has(refKey(ref)) === wanted));
  return {
    gates: [TOO_MANY, ...sorted].slice(0, LIMITS.requiredGates),
    problems: [...problems, TOO_MANY_TEXT],
    closed: [TOO_MANY],
    closings: [refKey(TOO_MANY)],
    changedAt: changed,
  };
}

/**
 * The annotation GATE_STATE as the decorator that follows Rollouts should write it; undefined: leave it, null: no gate is required any
 * more. It only triggers the webhook, which works out what is stored. That an object comes to be held is the other decorator's: hold.ts.
 */
export function releasingState(
  object: FluxObject,
  { gates, problems, closed, closings }: Gating,
  observed: FluxBindingStatus | undefined,
  now: EpochMs,
): string | null | undefined {
  const text = object.metadata.annotations?.[GATE_STATE];
  const isSuspendedByUs = object.metadata.annotations?.[SUSPENDED] !== undefined;
  if (gates.length === 0 && problems.length === 0) {
    if (!isSuspendedByUs) return text === undefined ? undefined : null;
  } else if (closed === undefined) return undefined;
  const names = (closed ?? []).map(refKey);
  const invalid = problems.some((problem) => problem !== TOO_MANY_TEXT) ? [INVALID_REFERENCE] : [];
  names.push(...invalid);
  const state = parseState(text);
  if (names.length > 0) {
    const all = [...closings, ...invalid];
    if (isBypassed(state, all)) return undefined;
    if (isSeenPassing(object, observed, all)) return changed(text, formatState({ is: 'passing', gates: all }));
    return state?.is === 'passing' ? formatState({ is: 'closed', gates: names }) : undefined;
  }
  // The webhook resumes it in the applier's apply, or without one that will not come.
  if (awaitedApply(object)) {
    const end = resumedAloneAt(currentAwaits(object, observed));
    if (end === undefined || now < end) return undefined;
  }
  return changed(text, formatState({ is: 'open' }));
}

function changed(text: string | undefined, wanted: string): string | undefined {
  return text === wanted ? undefined : wanted;
}
