/**
 * The annotations that decorators write on a Flux object, to suspend and to resume it. Each such write triggers the
 * webhook, which decides from live Gates what is stored.
 */
import { GATE_STATE, SELECTED_BY, SUSPENDED } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { FluxBindingStatus } from '../../api/types.ts';
import { LIMIT_OF_GATES } from '../gate/gateRefs.ts';
import { refKey } from '../kube/names.ts';
import { type GateContext, type ObjectGates, objectGates, selectedByText } from '../objectGates/objectGates.ts';
import { formatState, isBypassed, readState, runsBehind } from '../objectGates/objectState.ts';
import { awaitedApply, currentWait, resumedAloneAt } from './applier.ts';
import { isSeenBypassing } from './bypassGrant.ts';

interface Hold {
  /** The annotations to write; null removes one. */
  annotations: Record<string, string | null>;
  /** Whether the object runs behind its closed Gates for one deployment. Only the webhook can decide when that ends. */
  isBypassing: boolean;
  /** The next time at which a Gate opens or closes by itself. */
  requeueAt?: EpochMs | undefined;
}

/**
 * The marks of the decorator `hold`. They depend on the object, its Gates and the labels of its Namespace alone:
 * nothing that a tenant can make large or many delays a freeze.
 * @param context has every Gate that the object names, and every one that may select it
 */
export function holdMarks(object: FluxObject, context: GateContext): Hold {
  const gates = objectGates(object, context);
  const isMarked = isMarkedFor(object, gates);
  const isBypassing = isMarked && readState(object)?.is === 'bypassing';
  const annotations: Hold['annotations'] = {};
  const selectedBy = selectedByText(gates, context.truncated);
  if (object.metadata.annotations?.[SELECTED_BY] !== selectedBy) annotations[SELECTED_BY] = selectedBy ?? null;
  // An object that bypasses the Gates gets the state too: once its deployment is applied, the webhook suspends it.
  const heldState = isMarked && !isBypassing ? undefined : formatState({ is: 'closed', gates: gates.names });
  const state = gates.names.length > 0 ? heldState : stateOnceOpen(object, gates);
  if (state !== undefined) annotations[GATE_STATE] = state;
  const edges = gates.all.flatMap(({ until }) => until ?? []);
  return { annotations, isBypassing, ...(edges.length > 0 && { requeueAt: Math.min(...edges) }) };
}

/**
 * The state to write while all Gates are open: undefined if the object has that state, null to remove the state of an
 * object that no longer requires a Gate. `stateByRollouts` decides for an object that waits for its applier.
 */
function stateOnceOpen(object: FluxObject, { all }: ObjectGates): string | null | undefined {
  const { [GATE_STATE]: text, [SUSPENDED]: suspended } = object.metadata.annotations ?? {};
  if (all.length === 0 && suspended === undefined) return text === undefined ? undefined : null;
  const open = formatState({ is: 'open' });
  return text === open || awaitedApply(object) ? undefined : open;
}

/**
 * The state that the decorator `flux` writes, because it depends on a Rollout or on the applier; undefined if nothing
 * is to be written.
 */
export function stateByRollouts(
  object: FluxObject,
  { names, closures }: ObjectGates,
  bindingStatus: FluxBindingStatus | undefined,
  now: EpochMs,
): string | undefined {
  const state = readState(object);
  if (names.length === 0) {
    const end = resumedAloneAt(currentWait(object, bindingStatus));
    return end !== undefined && now >= end ? formatState({ is: 'open' }) : undefined;
  }
  if (isBypassed(state, closures)) return undefined;
  if (!isSeenBypassing(object, bindingStatus, closures))
    return state?.is === 'bypassing' ? formatState({ is: 'closed', gates: names }) : undefined;
  const bypassing = formatState({ is: 'bypassing', gates: closures });
  return object.metadata.annotations?.[GATE_STATE] === bypassing ? undefined : bypassing;
}

/** Whether the object's state fits its Gates: held by exactly the closed ones, bypassing all of them, or not held. */
export function isMarkedFor(object: FluxObject, { names, closures }: ObjectGates): boolean {
  const state = readState(object);
  if (names.length === 0) return state === undefined || state.is === 'open' || state.is === 'opening';
  const isHeld = object.metadata.annotations?.[GATE_STATE] === formatState({ is: 'closed', gates: names });
  return isHeld || runsBehind(state, closures);
}

/**
 * The annotations for an object whose Gates are too large or too many to be sent to the hook.
 * The annotations alone hold nothing: the webhook lists the Gates, and counts more than its limit as closed.
 */
export const TOO_MANY_MARKS: Hold['annotations'] = {
  [SELECTED_BY]: LIMIT_OF_GATES.name,
  [GATE_STATE]: formatState({ is: 'closed', gates: [refKey(LIMIT_OF_GATES)] }),
};
