/**
 * What the decorator `flux` knows of an object's Gates: for the spec of the FluxBinding, for the conditions of the
 * object, and for the part of its state that depends on a Rollout or an applier.
 * The decorator `hold` (hold.ts) writes the rest of the state.
 */
import { GATE_STATE } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { FluxBindingStatus, Gate } from '../../api/types.ts';
import { changedAt, TOO_MANY_TEXT } from '../gate/evaluateGates.ts';
import { type RequiredGate, TOO_MANY } from '../gate/gateRefs.ts';
import { refKey, without } from '../kube/names.ts';
import { LIMITS } from '../limits.ts';
import { currentAwaits, resumedAloneAt } from '../suspension/applier.ts';
import { isSeenBypassing } from '../suspension/bypassGrant.ts';
import { formatState, isBypassed, parseState } from '../suspension/stateAnnotation.ts';
import { isMarkedAsHeld } from './hold.ts';
import { type ObjectGates, type RefRules, recordedGates } from './objectGates.ts';

export interface Gating extends ObjectGates {
  /** For the spec of the FluxBinding. */
  binding: { gates: RequiredGate[]; problems: string[] };
  /** When the newest Gate opened or closed. */
  changedAt: EpochMs;
  /** Whether the object is marked as these Gates want it. If not, one of the two is about to change. */
  isMarked: boolean;
}

/** @param byName by `namespace/name`: the Gates of `recordedRefs` that exist */
export function gatingOf(
  object: FluxObject,
  byName: ReadonlyMap<string, Gate>,
  now: EpochMs,
  rules: RefRules = {},
): Gating {
  const gates = recordedGates(object, byName, rules, now);
  const { named, selecting, problems, tooMany } = gates;
  const all = [
    ...(tooMany ? [TOO_MANY] : []),
    ...without(named, selecting),
    ...selecting.map((ref) => ({ ...ref, selected: true })),
  ];
  const changes = gates.all.map(({ ref, open }) => changedAt(byName.get(refKey(ref)), open, now));
  return {
    ...gates,
    binding: {
      gates: all.slice(0, LIMITS.requiredGates),
      problems: tooMany ? [...problems, TOO_MANY_TEXT] : problems,
    },
    changedAt: Math.max(0, ...changes),
    isMarked: isMarkedAsHeld(object, gates),
  };
}

/**
 * The annotation GATE_STATE to write if it depends on a Rollout or on the applier; undefined: leave it.
 * It only triggers the webhook, which works out what is stored.
 */
export function stateByRollouts(
  object: FluxObject,
  { names, closings }: ObjectGates,
  observed: FluxBindingStatus | undefined,
  now: EpochMs,
): string | undefined {
  const text = object.metadata.annotations?.[GATE_STATE];
  const state = parseState(text);
  if (names.length === 0) {
    const end = resumedAloneAt(currentAwaits(object, observed));
    return end !== undefined && now >= end ? formatState({ is: 'open' }) : undefined;
  }
  if (isBypassed(state, closings)) return undefined;
  if (!isSeenBypassing(object, observed, closings))
    return state?.is === 'passing' ? formatState({ is: 'closed', gates: names }) : undefined;
  const wanted = formatState({ is: 'passing', gates: closings });
  return text === wanted ? undefined : wanted;
}
