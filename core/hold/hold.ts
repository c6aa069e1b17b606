/**
 * When a Flux object must be written so that the webhook suspends it. Decided from the object, its Gates and the labels of its Namespace
 * alone: nothing that a tenant can make large or many stands between a Gate that closes and what it holds.
 */
import { GATE_STATE, SELECTED_BY } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { EpochMs, NamespacedName } from '../../api/kubernetes.ts';
import { TOO_MANY } from '../gate/refs.ts';
import { refKey } from '../kube/names.ts';
import { closingKey, formatState, INVALID_REFERENCE, parseState, runsBehind } from '../suspend/stateAnnotation.ts';
import { type GateWorld, judgeRequired, requiredGates, selectedByText } from './requiredGates.ts';

export interface Hold {
  /** To be written. Each only triggers the webhook, which works out from live Gates what is stored. */
  annotations: Record<string, string | null>;
  /** The object runs behind its closed Gates for one deployment: only the webhook knows for how long. */
  isPassing: boolean;
  /** When a Gate opens or closes next by itself. */
  until?: EpochMs | undefined;
}

/** @param world every Gate that the object names, and every one that may select it */
export function holdOf(object: FluxObject, world: GateWorld): Hold {
  const required = requiredGates(object, world);
  const { closed, all } = judgeRequired(required, world);
  const invalid = required.problems.length > 0 ? [INVALID_REFERENCE] : [];
  const names = [...closed.map(({ ref }) => refKey(ref)), ...invalid];
  const closings = [...closed.map(closingKey), ...invalid];
  const text = object.metadata.annotations?.[GATE_STATE];
  const state = parseState(text);
  const runs = names.length > 0 && runsBehind(state, closings);
  const isPassing = runs && state?.is === 'passing';
  const annotations: Hold['annotations'] = {};
  const selectedBy = selectedByText(required, world.truncated);
  if (object.metadata.annotations?.[SELECTED_BY] !== selectedBy) annotations[SELECTED_BY] = selectedBy ?? null;
  const closedText = formatState({ is: 'closed', gates: names });
  // One that passes is written too: where its deployment has arrived, the webhook suspends it again.
  if (names.length > 0 && text !== closedText && (!runs || isPassing)) annotations[GATE_STATE] = closedText;
  const edges = all.flatMap(({ until }) => until ?? []);
  return { annotations, isPassing, ...(edges.length > 0 && { until: Math.min(...edges) }) };
}

/** Whether the object is not yet held, or not by all that closed: what is reported of the hold has to wait. */
export function isUnheld(object: FluxObject, closed: readonly NamespacedName[], closings: readonly string[]): boolean {
  if (closed.length === 0) return false;
  const state = parseState(object.metadata.annotations?.[GATE_STATE]);
  return state?.is !== 'closed' && !runsBehind(state, closings);
}

/**
 * What is written on an object whose Gates are too large or too many to be sent to the hook. It holds nothing by itself: the webhook lists
 * the Gates itself, and counts more than its limit as closed.
 */
export const UNSEEN: Hold['annotations'] = {
  [SELECTED_BY]: TOO_MANY.name,
  [GATE_STATE]: formatState({ is: 'closed', gates: [refKey(TOO_MANY)] }),
};
