/** An object's Gates, for the report on it, and when it starts or ends a bypass, or its wait for the applier. */
import { GATE_STATE } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { EpochMs, NamespacedName } from '../../api/kubernetes.ts';
import type { FluxBindingStatus, Gate } from '../../api/types.ts';
import { changedAt } from '../gate/changed.ts';
import { TOO_MANY_TEXT } from '../gate/evaluateGates.ts';
import { type RequiredGate, TOO_MANY } from '../gate/refs.ts';
import { refKey } from '../kube/names.ts';
import { LIMITS } from '../limits.ts';
import { isMarkedAsHeld, type Marks, marksOf } from './hold.ts';
import { isSeenPassing } from './passing.ts';
import { evaluateRequired, type RefRules, recordedGates } from './requiredGates.ts';
import { awaitedApply, currentAwaits, resumedAloneAt } from './suspend/resume.ts';
import { closingKey, formatState, isBypassed, parseState } from './suspend/stateAnnotation.ts';

export interface Gating {
  /** For the binding's spec. */
  gates: RequiredGate[];
  problems: string[];
  /** The closed Gates. */
  closed: NamespacedName[];
  /** The closed Gates, each as `closingKey` has it. */
  closings: string[];
  /** The closed Gates, and text that names none. */
  marks: Marks;
  /** When the newest Gate opened or closed. */
  changedAt: EpochMs;
  /** Whether the object is marked as these Gates want it. If not, one of the two is about to change. */
  isMarked: boolean;
}

/** @param gates by `namespace/name`: those of `recordedNames` that exist */
export function gatingOf(
  object: FluxObject,
  gates: ReadonlyMap<string, Gate>,
  now: EpochMs,
  rules: RefRules = {},
): Gating {
  const required = recordedGates(object, gates, rules);
  const { named, selecting, problems, tooMany } = required;
  const evaluated = evaluateRequired(required, { gates, now });
  const marks = marksOf(required, evaluated.closed);
  const selected = new Set(selecting.map(refKey));
  const all = [
    ...(tooMany ? [TOO_MANY] : []),
    ...named.filter((ref) => !selected.has(refKey(ref))),
    ...selecting.map((ref) => ({ ...ref, selected: true })),
  ];
  const changes = evaluated.all.map(({ ref, open }) => changedAt(gates.get(refKey(ref)), open, now));
  return {
    gates: all.slice(0, LIMITS.requiredGates),
    problems: tooMany ? [...problems, TOO_MANY_TEXT] : problems,
    closed: evaluated.closed.map(({ ref }) => ref),
    closings: evaluated.closed.map(closingKey),
    marks,
    changedAt: Math.max(0, ...changes),
    isMarked: isMarkedAsHeld(object, marks),
  };
}

/**
 * The annotation GATE_STATE to write where it depends on a Rollout or on the applier, which hold.ts doesn't have; undefined: leave
 * it. It only triggers the webhook, which works out what is stored.
 */
export function stateByRollouts(
  object: FluxObject,
  { marks: { names, closings } }: Pick<Gating, 'marks'>,
  observed: FluxBindingStatus | undefined,
  now: EpochMs,
): string | undefined {
  const text = object.metadata.annotations?.[GATE_STATE];
  const state = parseState(text);
  if (names.length === 0) {
    if (!awaitedApply(object)) return undefined;
    const end = resumedAloneAt(currentAwaits(object, observed));
    return end !== undefined && now >= end ? formatState({ is: 'open' }) : undefined;
  }
  if (isBypassed(state, closings)) return undefined;
  if (!isSeenPassing(object, observed, closings))
    return state?.is === 'passing' ? formatState({ is: 'closed', gates: names }) : undefined;
  const passing = formatState({ is: 'passing', gates: closings });
  return text === passing ? undefined : passing;
}
