/**
 * When a Flux object must be written so that the webhook suspends it, or resumes it. Decided from the object, its Gates and the labels of its Namespace
 * alone: nothing that a tenant can make large or many stands between a Gate that closes and what it holds.
 */
import { GATE_STATE, SELECTED_BY, SUSPENDED } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { GateResult } from '../gate/evaluateGates.ts';
import { TOO_MANY } from '../gate/refs.ts';
import { refKey } from '../kube/names.ts';
import {
  evaluateRequired,
  type GateContext,
  type RequiredGates,
  requiredGates,
  selectedByText,
} from './requiredGates.ts';
import { awaitedApply } from './suspend/resume.ts';
import { closingKey, formatState, INVALID_REFERENCE, parseState, runsBehind } from './suspend/stateAnnotation.ts';

export interface Hold {
  /** To be written. Each only triggers the webhook, which works out from live Gates what is stored. */
  annotations: Record<string, string | null>;
  /** The object runs behind its closed Gates for one deployment: only the webhook knows for how long. */
  isPassing: boolean;
  /** When a Gate opens or closes next by itself. */
  until?: EpochMs | undefined;
}

/** @param world every Gate that the object names, and every one that may select it */
export function holdOf(object: FluxObject, context: GateContext): Hold {
  const required = requiredGates(object, context);
  const { closed, all } = evaluateRequired(required, context);
  const marks = marksOf(required, closed);
  const { annotations: stored = {} } = object.metadata;
  const state = parseState(stored[GATE_STATE]);
  const isPassing = state?.is === 'passing' && isMarkedAsHeld(object, marks);
  const annotations: Hold['annotations'] = {};
  const selectedBy = selectedByText(required, context.truncated);
  if (stored[SELECTED_BY] !== selectedBy) annotations[SELECTED_BY] = selectedBy ?? null;
  // One that passes is written too: where its deployment has arrived, the webhook suspends it again.
  if (marks.names.length > 0 && (!isMarkedAsHeld(object, marks) || isPassing))
    annotations[GATE_STATE] = formatState({ is: 'closed', gates: marks.names });
  const released = marks.names.length > 0 ? undefined : releasedState(object, all.length > 0);
  if (released !== undefined) annotations[GATE_STATE] = released;
  const edges = all.flatMap(({ until }) => until ?? []);
  return { annotations, isPassing, ...(edges.length > 0 && { until: Math.min(...edges) }) };
}

/** With its Gates open; null: no gate is required any more. Resumed is what waits for no apply: that it need not is the other decorator's to say. */
function releasedState(object: FluxObject, isGated: boolean): string | null | undefined {
  const text = object.metadata.annotations?.[GATE_STATE];
  if (!isGated && object.metadata.annotations?.[SUSPENDED] === undefined) return text === undefined ? undefined : null;
  const open = formatState({ is: 'open' });
  return text === open || awaitedApply(object) ? undefined : open;
}

/** What keeps an object from running: the closed gates, and text that names none. */
export interface Marks {
  names: string[];
  /** See `closingKey`. */
  closings: string[];
}

export function marksOf({ problems }: Pick<RequiredGates, 'problems'>, closed: readonly GateResult[]): Marks {
  const invalid = problems.length > 0 ? [INVALID_REFERENCE] : [];
  return {
    names: [...closed.map(({ ref }) => refKey(ref)), ...invalid],
    closings: [...closed.map(closingKey), ...invalid],
  };
}

/** Whether the object's annotation GATE_STATE is what its Gates want: held by just these, past all of these, or not held. */
export function isMarkedAsHeld(object: FluxObject, { names, closings }: Marks): boolean {
  const text = object.metadata.annotations?.[GATE_STATE];
  const state = parseState(text);
  if (names.length > 0) return text === formatState({ is: 'closed', gates: names }) || runsBehind(state, closings);
  return state === undefined || state.is === 'open' || state.is === 'opening';
}

/**
 * What is written on an object whose Gates are too large or too many to be sent to the hook. It holds nothing by itself: the webhook lists
 * the Gates itself, and counts more than its limit as closed.
 */
export const UNSEEN: Hold['annotations'] = {
  [SELECTED_BY]: TOO_MANY.name,
  [GATE_STATE]: formatState({ is: 'closed', gates: [refKey(TOO_MANY)] }),
};
