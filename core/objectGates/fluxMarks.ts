/**
 * The parts of an object's Gates that the decorator `flux` writes: the Gates in the spec of its FluxBinding, and the
 * states that depend on a Rollout or an applier. As with `hold`, writing a state triggers the webhook.
 */
import { GATE_STATE } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { FluxBindingStatus, Gate } from '../../api/types.ts';
import { statusChangedAt } from '../gate/evaluateGates.ts';
import { limitText, type RequiredGate } from '../gate/gateRefs.ts';
import { refKey, without } from '../kube/names.ts';
import { LIMITS } from '../limits.ts';
import { currentWait, resumedAloneAt } from '../suspension/applier.ts';
import { isSeenBypassing } from '../suspension/bypassGrant.ts';
import { formatState, isBypassed, readState } from '../suspension/objectState.ts';
import { isMarkedFor } from './holdMarks.ts';
import { type ObjectGates, type RefRules, recordedGates } from './objectGates.ts';

export interface Gating extends ObjectGates {
  /** The Gates and problems for the spec of the FluxBinding. */
  binding: { gates: RequiredGate[]; problems: string[] };
  /** The time of the last opening or closing of a Gate. */
  statusChangedAt: EpochMs;
  /** Whether the object's state fits these Gates. If not, the state or the Gates are about to change. */
  isMarked: boolean;
}

/** @param byName by `refKey`: the Gates of `recordedRefs` that exist */
export function gatingOf(object: FluxObject, byName: ReadonlyMap<string, Gate>, now: EpochMs, rules: RefRules): Gating {
  const gates = recordedGates(object, byName, rules, now);
  const { named, selecting, problems, tooMany } = gates;
  const all = [
    ...(tooMany ? [tooMany] : []),
    ...without(named, selecting),
    ...selecting.map((ref) => ({ ...ref, selected: true })),
  ];
  const changes = gates.all.map(({ ref, open }) => statusChangedAt(byName.get(refKey(ref)), open, now));
  return {
    ...gates,
    binding: {
      gates: all.slice(0, LIMITS.requiredGates),
      problems: tooMany ? [...problems, limitText(tooMany)!] : problems,
    },
    statusChangedAt: Math.max(0, ...changes),
    isMarked: isMarkedFor(object, gates),
  };
}

/** The state to write if it depends on a Rollout or on the applier; undefined if nothing is to be written. */
export function stateByRollouts(
  object: FluxObject,
  { names, closures }: ObjectGates,
  observed: FluxBindingStatus | undefined,
  now: EpochMs,
): string | undefined {
  const state = readState(object);
  if (names.length === 0) {
    const end = resumedAloneAt(currentWait(object, observed));
    return end !== undefined && now >= end ? formatState({ is: 'open' }) : undefined;
  }
  if (isBypassed(state, closures)) return undefined;
  if (!isSeenBypassing(object, observed, closures))
    return state?.is === 'bypassing' ? formatState({ is: 'closed', gates: names }) : undefined;
  const bypassing = formatState({ is: 'bypassing', gates: closures });
  return object.metadata.annotations?.[GATE_STATE] === bypassing ? undefined : bypassing;
}
