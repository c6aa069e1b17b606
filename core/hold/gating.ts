/** What an object's Gates mean for what is reported of it, and how it stops running behind them or waiting for its applier. */
import { GATE_STATE } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { EpochMs, NamespacedName } from '../../api/kubernetes.ts';
import type { FluxBindingStatus, Gate } from '../../api/types.ts';
import { changedAt } from '../gate/changed.ts';
import { TOO_MANY_TEXT } from '../gate/judge.ts';
import { type RequiredGate, TOO_MANY } from '../gate/refs.ts';
import { refKey } from '../kube/names.ts';
import { LIMITS } from '../limits.ts';
import { awaitedApply, currentAwaits, resumedAloneAt } from '../suspend/resume.ts';
import { closingKey, formatState, INVALID_REFERENCE, isBypassed, parseState } from '../suspend/stateAnnotation.ts';
import { isMarkedAsHeld, marksOf } from './hold.ts';
import { isSeenPassing } from './passing.ts';
import { judgeRequired, type RefRules, recordedGates } from './requiredGates.ts';

export interface Gating {
  /** For the binding's spec. */
  gates: RequiredGate[];
  problems: string[];
  /** Closed ones. */
  closed: NamespacedName[];
  /** The same with which closing it is: see `closingKey`. */
  closings: string[];
  /** When the newest of them opened or closed. */
  changedAt: EpochMs;
  /** Whether the object is marked as these Gates want it. Where not, one of the two is about to change. */
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
  const judged = judgeRequired(required, { gates, now });
  const selected = new Set(selecting.map(refKey));
  const all = [
    ...(tooMany ? [TOO_MANY] : []),
    ...named.filter((ref) => !selected.has(refKey(ref))),
    ...selecting.map((ref) => ({ ...ref, selected: true })),
  ];
  const changes = judged.all.map(({ ref, open }) => changedAt(gates.get(refKey(ref)), open, now));
  return {
    gates: all.slice(0, LIMITS.requiredGates),
    problems: tooMany ? [...problems, TOO_MANY_TEXT] : problems,
    closed: judged.closed.map(({ ref }) => ref),
    closings: judged.closed.map(closingKey),
    changedAt: Math.max(0, ...changes),
    isMarked: isMarkedAsHeld(object, marksOf(required, judged.closed)),
  };
}

/**
 * The annotation GATE_STATE as it should be written where Rollouts or the applier decide, which the decorator that holds
 * (hold.ts) is not sent; undefined: leave it. It only triggers the webhook, which works out what is stored.
 */
export function stateByFollowed(
  object: FluxObject,
  { problems, closed, closings }: Gating,
  observed: FluxBindingStatus | undefined,
  now: EpochMs,
): string | undefined {
  const text = object.metadata.annotations?.[GATE_STATE];
  const state = parseState(text);
  const invalid = problems.some((problem) => problem !== TOO_MANY_TEXT) ? [INVALID_REFERENCE] : [];
  const all = [...closings, ...invalid];
  if (all.length === 0) {
    if (!awaitedApply(object)) return undefined;
    const end = resumedAloneAt(currentAwaits(object, observed));
    return end !== undefined && now >= end ? formatState({ is: 'open' }) : undefined;
  }
  if (isBypassed(state, all)) return undefined;
  if (!isSeenPassing(object, observed, all))
    return state?.is === 'passing'
      ? formatState({ is: 'closed', gates: [...closed.map(refKey), ...invalid] })
      : undefined;
  const passing = formatState({ is: 'passing', gates: all });
  return text === passing ? undefined : passing;
}
