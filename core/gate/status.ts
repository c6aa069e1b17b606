/** A Gate's status: the RFC's fields, and who, why and what next. */
import { OPENED, RECEIVER_READY, STALLED } from '../../api/conditions.ts';
import type { Condition, EpochMs } from '../../api/kubernetes.ts';
import type { Gate, GateStatus } from '../../api/types.ts';
import { setCondition } from '../kube/conditions.ts';
import { formatTime } from '../kube/time.ts';
import type { GateEvaluation } from './evaluate.ts';
import type { GateRequest } from './requests.ts';

/** Told by the hook, which has asked the cluster. */
export interface Surroundings {
  /** undefined: not known now, the last count stays. */
  held?: number | undefined;
  /** undefined when the Gate takes no calls. */
  receiver?: { path: string } | { problem: string; reason: string } | undefined;
}

/** The whole status; equal to the one before when nothing has changed. */
export function gateStatus(gate: Gate, evaluation: GateEvaluation, around: Surroundings, now: EpochMs): GateStatus {
  const { request, planned, requestedAt, resetToDefaultAt, until } = evaluation;
  const held = around.held ?? gate.status?.held;
  const { receiver } = around;
  return withoutUndefined({
    observedGeneration: gate.metadata.generation,
    requestedAt: time(requestedAt),
    resetToDefaultAt: time(resetToDefaultAt),
    request: request && stored(request),
    planned: planned && stored(planned),
    openedBy: request?.action === 'open' ? request.by : undefined,
    closedBy: request?.action === 'close' ? request.by : undefined,
    reason: request?.reason,
    nextTransition: time(until),
    held,
    webhookPath: receiver && ('path' in receiver ? receiver.path : gate.status?.webhookPath),
    conditions: conditionsOf(gate, evaluation, receiver, now),
  });
}

function conditionsOf(
  gate: Gate,
  { opened, message, stalled }: GateEvaluation,
  receiver: Surroundings['receiver'],
  now: EpochMs,
): Condition[] {
  let conditions = setCondition<Condition>(
    gate.status?.conditions,
    { type: OPENED, status: opened ? 'True' : 'False', reason: 'ReconciliationSucceeded', message },
    now,
  ).filter(({ type }) => (type !== STALLED || stalled) && (type !== RECEIVER_READY || receiver));
  if (stalled) {
    const reason = 'InvalidRequest';
    conditions = setCondition(conditions, { type: STALLED, status: 'True', reason, message: stalled }, now);
  }
  if (!receiver) return conditions;
  return setCondition(
    conditions,
    'path' in receiver
      ? {
          type: RECEIVER_READY,
          status: 'True',
          reason: 'Succeeded',
          message: `Receiver takes calls at ${receiver.path}`,
        }
      : { type: RECEIVER_READY, status: 'False', reason: receiver.reason, message: receiver.problem },
    now,
  );
}

function stored({ at, ...request }: GateRequest) {
  return { ...request, at: formatTime(at) };
}

function time(at: EpochMs | undefined): string | undefined {
  return at === undefined ? undefined : formatTime(at);
}

/** Metacontroller compares and stores what it gets: a key without a value would differ for ever. */
function withoutUndefined(status: { [K in keyof GateStatus]: GateStatus[K] | undefined }): GateStatus {
  return Object.fromEntries(Object.entries(status).filter(([, value]) => value !== undefined)) as GateStatus;
}
