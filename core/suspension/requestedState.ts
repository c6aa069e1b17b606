/**
 * The state that decorators request for an object, by the annotation GATE_STATE. In that write the webhook decides,
 * from live Gates, which state is stored (suspension.ts).
 */
import { AWAITS_ARTIFACT, GATE_STATE, SELECTED_BY, SUSPENDED } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { FluxBindingStatus } from '../../api/types.ts';
import { LIMIT_OF_GATES } from '../gate/gateRefs.ts';
import { triggerValue, withMinute } from '../kube/annotate.ts';
import { earliestTime } from '../kube/time.ts';
import { evaluateObjectGates, type GateContext, type ObjectGates, selectedByText } from '../objectGates/objectGates.ts';
import {
  currentState,
  formatState,
  isSuspendedByUs,
  readState,
  STATE_MINUTE_MARK,
  suspendingClosures,
} from '../objectGates/objectState.ts';
import { awaitedApply, currentWait, resumedAloneAt } from './applier.ts';
import { isSeenBypassing } from './bypassGrant.ts';

interface Hold {
  /** The annotations to write; null removes one. */
  annotations: Record<string, string | null>;
  /** Whether the object runs behind its closed Gates for one deployment. Only the webhook can decide when that ends. */
  isBypassing: boolean;
  /** The next time at which a Gate opens or closes by itself. */
  requeueAt: EpochMs | undefined;
}

/**
 * The marks of the decorator `hold`. They depend on the object, its Gates and the labels of its Namespace alone:
 * nothing that a tenant can make large or many delays a freeze.
 * @param context has every Gate that the object names, and every one that may select it
 */
export function holdMarks(object: FluxObject, context: GateContext): Hold {
  const { now } = context;
  const gates = evaluateObjectGates(object, context);
  const closures = suspendingClosures(gates);
  const isBypassing = currentState(readState(object), closures) === 'bypassing';
  const annotations: Hold['annotations'] = {};
  const selectedBy = selectedByText(gates);
  if (object.metadata.annotations?.[SELECTED_BY] !== selectedBy) annotations[SELECTED_BY] = selectedBy ?? null;
  // An object that bypasses the Gates gets the state too: once its deployment is applied, the webhook suspends it.
  const closed = formatState({ is: 'closed', gates: closures });
  const triggerOfHeld = fitsGates(object, gates) ? undefined : stateTrigger(object, closed, now);
  const heldState = isBypassing ? withMinute(closed, STATE_MINUTE_MARK, now) : triggerOfHeld;
  const state = closures.length > 0 ? heldState : stateOnceOpen(object, gates, now);
  if (state !== undefined) annotations[GATE_STATE] = state;
  return { annotations, isBypassing, requeueAt: earliestTime(gates.all.map(({ until }) => until)) };
}

/**
 * The state to write while all Gates are open: undefined if the object has that state, null to remove the state of an
 * object that no longer requires a Gate. `stateByRollouts` decides for an object that waits for its applier.
 */
function stateOnceOpen(object: FluxObject, { all }: ObjectGates, now: EpochMs): string | null | undefined {
  const { [GATE_STATE]: text, [SUSPENDED]: suspended, [AWAITS_ARTIFACT]: awaits } = object.metadata.annotations ?? {};
  if (suspended !== undefined && awaitedApply(object)) return undefined;
  const isReleased = suspended === undefined || awaits !== undefined;
  if (isReleased && all.length === 0) return text === undefined ? undefined : null;
  const open = formatState({ is: 'open' });
  if (!isReleased) return stateTrigger(object, open, now);
  return text === open ? undefined : open;
}

/** The state to write on an object that is not suspended or resumed as it requires; undefined if it is written. */
function stateTrigger(object: FluxObject, state: string, now: EpochMs): string | undefined {
  return triggerValue(object.metadata.annotations?.[GATE_STATE], state, STATE_MINUTE_MARK, now);
}

/**
 * The state that the decorator `flux` writes, because it depends on a Rollout or on the applier; undefined if nothing
 * is to be written.
 */
export function stateByRollouts(
  object: FluxObject,
  gates: ObjectGates,
  bindingStatus: FluxBindingStatus | undefined,
  now: EpochMs,
): string | undefined {
  const state = readState(object);
  const closures = suspendingClosures(gates);
  if (closures.length === 0) {
    const end = resumedAloneAt(currentWait(object, bindingStatus));
    return end !== undefined && now >= end ? formatState({ is: 'open' }) : undefined;
  }
  if (currentState(state, closures) === 'bypassed') return undefined;
  if (!isSeenBypassing(object, bindingStatus, closures))
    return state?.is === 'bypassing' ? formatState({ is: 'closed', gates: closures }) : undefined;
  const bypassing = formatState({ is: 'bypassing', gates: closures });
  // The webhook replaces the other decorator's mark. One of this minute that it hasn't seen stays for now.
  const unseen = withMinute(formatState({ is: 'closed', gates: closures }), STATE_MINUTE_MARK, now);
  const text = object.metadata.annotations?.[GATE_STATE];
  return text === bypassing || text === unseen ? undefined : bypassing;
}

/** Whether the object's state fits its Gates: held by exactly the closed ones, bypassing all of them, or not held. */
export function fitsGates(object: FluxObject, gates: ObjectGates): boolean {
  const stored = readState(object);
  const closures = suspendingClosures(gates);
  const state = currentState(stored, closures);
  if (state !== 'closed') return state === (stored?.is ?? 'open');
  const isMarked = object.metadata.annotations?.[GATE_STATE] === formatState({ is: 'closed', gates: closures });
  return isMarked && isSuspendedByUs(object);
}

/**
 * The annotations for an object whose Gates are too large or too many to be sent to the hook. They have the minute each
 * time, because the stored mark is unknown too.
 * The annotations alone hold nothing: the webhook lists the Gates, and counts more than its limit as closed.
 */
export function tooManyMarks(now: EpochMs): Hold['annotations'] {
  const closed = formatState({ is: 'closed', gates: [LIMIT_OF_GATES] });
  return { [SELECTED_BY]: LIMIT_OF_GATES, [GATE_STATE]: withMinute(closed, STATE_MINUTE_MARK, now) };
}
