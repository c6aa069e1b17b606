/**
 * The annotations by which decorators let the webhook suspend or resume an object that no client writes: a trigger in
 * GATE_STATE, such as `closed@<minute>`. In that write the webhook decides, from live Gates, which state is stored
 * (suspension.ts). The trigger only tells it what to read:
 *
 * | trigger | written by | when | the webhook |
 * |---|---|---|---|
 * | `closed` | `hold` | Gates hold the object, and its state doesn't fit or is `bypassing` | needs no list of Gates |
 * | `closed` | `flux` | the deployment no longer bypasses the Gates | the same |
 * | `bypassing` | `flux` | a deployment bypasses the Gates | reads the Rollouts behind closed Gates too |
 * | `open` | `hold` | its Gates are open, and it is still suspended or marked | |
 * | `open` | `flux` | its applier won't apply it | reads the applier, and may end the wait (`endsOpening`) |
 */
import { GATE_STATE, SELECTED_BY } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { FluxBindingStatus } from '../../api/types.ts';
import { LIMIT_OF_GATES } from '../gate/closedGates.ts';
import { earliestTime, minuteOf } from '../kube/time.ts';
import { evaluateObjectGates, type GateContext, type ObjectGates, selectedByText } from '../objectGates/objectGates.ts';
import {
  currentState,
  formatState,
  isSuspendedByUs,
  type ObjectState,
  storedState,
  suspensionReason,
} from '../objectGates/objectState.ts';
import { applierOf, currentWait, resumedAloneAt } from './applier.ts';
import { isReportedBypassing } from './bypassGrant.ts';

interface Hold {
  /** The annotations to write; null removes one. */
  annotations: Record<string, string | null>;
  /** Whether the object runs behind its closed Gates for one deployment. Only the webhook can decide when that ends. */
  isBypassing: boolean;
  /** The next time at which a Gate opens or closes by itself. */
  requeueAt: EpochMs | undefined;
}

/**
 * The marks of the decorator `hold`: a trigger, and SELECTED_BY, by which webhook and decorator `flux` find the Gates
 * that select the object. They depend on the object, its Gates and the labels of its Namespace alone: nothing that a
 * tenant can make large or many delays a freeze.
 * @param context has every Gate that the object names, and every one that may select it
 */
export function holdMarks(object: FluxObject, context: GateContext): Hold {
  const gates = evaluateObjectGates(object, context);
  const annotations: Hold['annotations'] = {};
  const selectedBy = selectedByText(gates);
  if (object.metadata.annotations?.[SELECTED_BY] !== selectedBy) annotations[SELECTED_BY] = selectedBy ?? null;
  const isBypassing = currentState(object, gates.heldBy) === 'bypassing';
  const state = requestedByGates(object, gates, isBypassing, context.now);
  if (state !== undefined) annotations[GATE_STATE] = state;
  return { annotations, isBypassing, requeueAt: earliestTime(gates.all.map(({ until }) => until)) };
}

/**
 * The state that the decorator `hold` writes: undefined if the object is suspended or resumed as it requires, null to
 * remove the state of an object that no longer requires a Gate.
 */
function requestedByGates(
  object: FluxObject,
  gates: ObjectGates,
  isBypassing: boolean,
  now: EpochMs,
): string | null | undefined {
  if (gates.heldBy.length > 0) {
    // Once the deployment that bypasses the Gates is applied, the webhook suspends the object in such a write.
    return fitsGates(object, gates) && !isBypassing ? undefined : newTrigger(object, 'closed', now);
  }
  const reason = suspensionReason(object);
  if (reason === 'applier' && applierOf(object)) return undefined;
  const isReleased = reason === undefined || reason === 'artifact';
  const text = object.metadata.annotations?.[GATE_STATE];
  if (isReleased && gates.all.length === 0) return text === undefined ? undefined : null;
  return isReleased && text === formatState({ is: 'open' }) ? undefined : newTrigger(object, 'open', now);
}

/**
 * The state that the decorator `flux` writes, because it depends on a Rollout or on the applier; undefined if nothing
 * is to be written.
 */
export function requestedByRollouts(
  object: FluxObject,
  { heldBy }: ObjectGates,
  bindingStatus: FluxBindingStatus | undefined,
  now: EpochMs,
): string | undefined {
  if (heldBy.length === 0) {
    const end = resumedAloneAt(currentWait(object, bindingStatus));
    return end !== undefined && now >= end ? newTrigger(object, 'open', now) : undefined;
  }
  if (currentState(object, heldBy) === 'bypassed') return undefined;
  const isBypassing = isReportedBypassing(bindingStatus, heldBy);
  if (isBypassing === (storedState(object)?.is === 'bypassing')) return undefined;
  return newTrigger(object, isBypassing ? 'bypassing' : 'closed', now);
}

/**
 * The trigger to write; undefined if the object has one of this minute, whatever that requests: the API server has not
 * called the webhook for it, and two decorators would replace each other's triggers without end. Metacontroller writes
 * no value twice, so a trigger that the webhook hasn't seen is written again in the next minute.
 */
function newTrigger({ metadata }: FluxObject, is: ObjectState['is'], now: EpochMs): string | undefined {
  const isUnseen = metadata.annotations?.[GATE_STATE]?.endsWith(`@${minuteOf(now)}`);
  return isUnseen ? undefined : stateTrigger(is, now);
}

/** The value by which a decorator requests a state. The webhook stores its own value instead, which has no minute. */
function stateTrigger(is: ObjectState['is'], now: EpochMs): string {
  return `${is}@${minuteOf(now)}`;
}

/** Whether the object's state fits its Gates: held by exactly the closed ones, bypassing all of them, or not held. */
export function fitsGates(object: FluxObject, { heldBy }: ObjectGates): boolean {
  const state = currentState(object, heldBy);
  if (state !== 'closed') return state === (storedState(object)?.is ?? 'open');
  const isMarked = object.metadata.annotations?.[GATE_STATE] === formatState({ is: 'closed', gates: heldBy });
  return isMarked && isSuspendedByUs(object);
}

/**
 * The annotations for an object whose Gates are too large or too many to be sent to the hook. They alone hold nothing:
 * in the write the webhook lists the Gates, and counts more than its limit as closed.
 */
export function tooManyMarks(now: EpochMs): Hold['annotations'] {
  return { [SELECTED_BY]: LIMIT_OF_GATES, [GATE_STATE]: stateTrigger('closed', now) };
}
