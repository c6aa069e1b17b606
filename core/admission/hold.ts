/**
 * What the decorator `hold` writes on a Flux object, so that the webhook suspends or resumes it.
 * Decided from the object, its Gates and the labels of its Namespace alone: nothing that a tenant can make large or
 * many delays a freeze.
 */
import { GATE_STATE, SELECTED_BY, SUSPENDED } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import { TOO_MANY } from '../gate/gateRefs.ts';
import { refKey } from '../kube/names.ts';
import { awaitedApply } from '../suspension/applier.ts';
import { formatState, parseState, runsBehind } from '../suspension/stateAnnotation.ts';
import { type GateContext, type ObjectGates, objectGates, selectedByText } from './objectGates.ts';

export interface Hold {
  /** To be written. Each only triggers the webhook, which works out from live Gates what is stored. */
  annotations: Record<string, string | null>;
  /** The object runs behind its closed Gates for one deployment: only the webhook knows for how long. */
  isBypassing: boolean;
  /** When a Gate opens or closes next by itself. */
  until?: EpochMs | undefined;
}

/** @param context has every Gate that the object names, and every one that may select it */
export function holdMarks(object: FluxObject, context: GateContext): Hold {
  const gates = objectGates(object, context);
  const { annotations: stored = {} } = object.metadata;
  const isMarked = isMarkedAsHeld(object, gates);
  const isBypassing = isMarked && parseState(stored[GATE_STATE])?.is === 'passing';
  const annotations: Hold['annotations'] = {};
  const selectedBy = selectedByText(gates, context.truncated);
  if (stored[SELECTED_BY] !== selectedBy) annotations[SELECTED_BY] = selectedBy ?? null;
  const state = gates.names.length > 0 ? heldState(gates, isMarked && !isBypassing) : releasedState(object, gates);
  if (state !== undefined) annotations[GATE_STATE] = state;
  const edges = gates.all.flatMap(({ until }) => until ?? []);
  return { annotations, isBypassing, ...(edges.length > 0 && { until: Math.min(...edges) }) };
}

/**
 * Behind closed Gates.
 * An object that bypasses them is written too: once its deployment is applied, the webhook suspends it again.
 */
function heldState({ names }: ObjectGates, isHeld: boolean): string | undefined {
  return isHeld ? undefined : formatState({ is: 'closed', gates: names });
}

/**
 * With open Gates; null: no gate is required any more.
 * `stateByRollouts` decides for an object that waits for its applier.
 */
function releasedState(object: FluxObject, { all }: ObjectGates): string | null | undefined {
  const { [GATE_STATE]: text, [SUSPENDED]: suspended } = object.metadata.annotations ?? {};
  if (all.length === 0 && suspended === undefined) return text === undefined ? undefined : null;
  const open = formatState({ is: 'open' });
  return text === open || awaitedApply(object) ? undefined : open;
}

/**
 * Whether the object's annotation GATE_STATE is what its Gates want: held by exactly these, bypassing all of these, or
 * not held.
 */
export function isMarkedAsHeld(object: FluxObject, { names, closings }: ObjectGates): boolean {
  const text = object.metadata.annotations?.[GATE_STATE];
  const state = parseState(text);
  if (names.length > 0) return text === formatState({ is: 'closed', gates: names }) || runsBehind(state, closings);
  return state === undefined || state.is === 'open' || state.is === 'opening';
}

/**
 * What is written on an object whose Gates are too large or too many to be sent to the hook.
 * It holds nothing by itself: the webhook lists the Gates itself, and counts more than its limit as closed.
 */
export const UNSEEN: Hold['annotations'] = {
  [SELECTED_BY]: TOO_MANY.name,
  [GATE_STATE]: formatState({ is: 'closed', gates: [refKey(TOO_MANY)] }),
};
