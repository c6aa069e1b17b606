/** A Gate's status, and the time to compute it again. */
import { GATE_CLOSED, OPENED, READY, RECEIVER_READY, STALLED } from '../../api/conditions.ts';
import type { Condition, EpochMs, ObjectName } from '../../api/kubernetes.ts';
import type { ApprovalsStatus, Gate, GateStatus } from '../../api/types.ts';
import { findCondition, type NewCondition, setCondition } from '../kube/conditions.ts';
import { parseDuration } from '../kube/duration.ts';
import { withoutEmpty } from '../kube/json.ts';
import { uidFraction } from '../kube/names.ts';
import { earliestTime, formatTime, parseTime } from '../kube/time.ts';
import { LIMITS } from '../limits.ts';
import { requestText, withException } from './evaluateGates.ts';
import type { GateRequest } from './gateRequests.ts';
import { type CountingException, exceptionChange, type GateEvaluation } from './gateTimeline.ts';

const REQUIRERS_IN_STATUS = 100;
const UNREACHED_IN_STATUS = 20;

/** The delay from an opening or closing to the report of objects that it has not reached. */
const REACHES_MS = 10_000;

/** The interval of Gates without `spec.interval`. Their count of requirers is at most this late. */
const DEFAULT_INTERVAL_MS = 60_000;
/**
 * After a change of a Gate, its requirers are counted more often for `SETTLES_MS`, because the objects that it selects
 * name it only some seconds later.
 */
const SETTLES_MS = 60_000;
const SETTLING_INTERVAL_MS = 5000;
/**
 * The shortest interval: as long as the maximum age of the lists from which requirers are counted, because nothing else
 * changes between openings and closings.
 */
const MIN_INTERVAL_MS = 30_000;
const MAX_INTERVAL_MS = LIMITS.resyncAfterSeconds * 1000;
/**
 * The largest part by which a Gate's interval is shortened, so that Gates created together drift apart. Constant for
 * each Gate.
 */
const INTERVAL_SPREAD = 0.1;

/** The state that the hook has read for a Gate. */
export interface GateFacts {
  /** The time at which the objects were read; undefined if they are unknown. */
  readAt?: EpochMs | undefined;
  /** The objects that require the Gate; undefined if unknown, so that the last count stays. */
  requirers?: readonly ObjectName[] | undefined;
  /** The Flux objects among the requirers that aren't suspended. */
  unheld?: GateStatus['notHeldObjects'] | undefined;
  /** The Flux objects that are still suspended although the Gate is open. */
  unresumed?: GateStatus['notResumedObjects'] | undefined;
  /** Approvals; undefined for a Gate without `spec.approvals`. */
  approvals?: ApprovalsStatus | undefined;
  /** The path for calls, or why there is none; undefined if the Gate accepts no calls. */
  receiver?: { path: string } | { problem: string; reason: string } | undefined;
}

/**
 * The complete status; equal to the previous one if nothing has changed. It has no undefined values: Metacontroller
 * would find such a key different at every sync.
 */
export function gateStatus(gate: Gate, evaluation: GateEvaluation, facts: GateFacts, now: EpochMs): GateStatus {
  const { request, cause, planned, exception, resetToDefaultAt, until } = evaluation;
  const { receiver, requirers, approvals } = facts;
  // Objects that were read earlier may show the previous state.
  const isStable = hasLasted(gate, evaluation, facts.readAt ?? now);
  const unheld = evaluation.opened || !isStable ? [] : facts.unheld;
  const unresumed = evaluation.opened && isStable ? facts.unresumed : [];
  const objects = requirers ? requirers.slice(0, REQUIRERS_IN_STATUS) : gate.status?.requiredBy;
  return withoutEmpty({
    observedGeneration: gate.metadata.generation,
    requestedAt: timeText(request?.at),
    resetToDefaultAt: timeText(resetToDefaultAt),
    request: request && storedRequest(request),
    planned: planned && storedRequest(planned),
    exception: exception && storedException(exception),
    openedBy: cause?.action === 'open' ? cause.by : undefined,
    closedBy: cause?.action === 'close' ? cause.by : undefined,
    reason: cause?.reason,
    nextTransition: timeText(until),
    requiredByCount: requirers?.length ?? gate.status?.requiredByCount,
    requiredBy: objects?.length ? objects : undefined,
    notHeld: unheld ? unheld.length || undefined : gate.status?.notHeld,
    notHeldObjects: unheld ? firstEntries(unheld) : gate.status?.notHeldObjects,
    notResumed: unresumed ? unresumed.length || undefined : gate.status?.notResumed,
    notResumedObjects: unresumed ? firstEntries(unresumed) : gate.status?.notResumedObjects,
    approvals,
    webhookPath: receiver && ('path' in receiver ? receiver.path : gate.status?.webhookPath),
    conditions: nextConditions(gate, evaluation, receiver, now),
  });
}

/** The first entries for the status; undefined if there are none. */
function firstEntries<Each extends object>(all: readonly Each[]): Each[] | undefined {
  return all.length > 0 ? all.slice(0, UNREACHED_IN_STATUS) : undefined;
}

/** Whether the Gate had been in its state long enough at this time for all requirers to be suspended or resumed. */
function hasLasted({ status }: Gate, { opened }: GateEvaluation, at: EpochMs): boolean {
  const shown = findCondition(status?.conditions, OPENED);
  const since = shown?.status === (opened ? 'True' : 'False') ? parseTime(shown.lastTransitionTime) : undefined;
  return since !== undefined && at - since >= REACHES_MS;
}

function nextConditions(
  gate: Gate,
  evaluation: GateEvaluation,
  receiver: GateFacts['receiver'],
  now: EpochMs,
): Condition[] {
  const { opened, message, cause, stalled } = evaluation;
  const status = opened ? 'True' : 'False';
  // The RFC's words come first, because clients may match them.
  const text = withException(cause?.by ? `${message}, ${requestText(cause)}` : message, evaluation, now);
  const isOpen = { type: OPENED, status, reason: 'ReconciliationSucceeded', message: text } as const;
  let conditions = setCondition(gate.status?.conditions, isOpen, now).filter(
    ({ type }) => (type !== STALLED || stalled) && (type !== RECEIVER_READY || receiver),
  );
  if (stalled) {
    const reason = 'InvalidRequest';
    conditions = setCondition(conditions, { type: STALLED, status: 'True', reason, message: stalled }, now);
  }
  if (receiver) conditions = setCondition(conditions, receiverCondition(receiver), now);
  // For kstatus, a closed Gate is not ready.
  const { generation } = gate.metadata;
  const observed = generation !== undefined && { observedGeneration: generation };
  const reason = opened ? 'GateOpened' : GATE_CLOSED;
  return setCondition(conditions, { type: READY, status, reason, message: text, ...observed }, now);
}

function receiverCondition(receiver: NonNullable<GateFacts['receiver']>): NewCondition {
  return 'path' in receiver
    ? {
        type: RECEIVER_READY,
        status: 'True',
        reason: 'Succeeded',
        message: `Receiver accepts calls at ${receiver.path}`,
      }
    : { type: RECEIVER_READY, status: 'False', reason: receiver.reason, message: receiver.problem };
}

function storedRequest<T extends GateRequest>({ at, hasEnded: _, ...request }: T) {
  return { ...request, at: formatTime(at) };
}

function storedException({ until, ...exception }: CountingException) {
  return { ...storedRequest(exception), ...(until !== undefined && { until: formatTime(until) }) };
}

function timeText(at: EpochMs | undefined): string | undefined {
  return at === undefined ? undefined : formatTime(at);
}

/** Seconds until the next change, or until the interval is over. Always above 0, because 0 would mean never. */
export function requeueSeconds(
  gate: Gate,
  { until, planned, exception }: GateEvaluation,
  now: EpochMs,
  approvalsUntil?: EpochMs,
): number {
  const wanted = parseDuration(gate.spec.interval) ?? DEFAULT_INTERVAL_MS;
  const interval = Math.min(Math.max(wanted, MIN_INTERVAL_MS), MAX_INTERVAL_MS);
  const settling = isSettling(gate, now) ? SETTLING_INTERVAL_MS : Number.POSITIVE_INFINITY;
  const share = uidFraction(gate.metadata.uid);
  const change = earliestTime([until, planned?.at, exception && exceptionChange(exception, now), approvalsUntil]);
  const next = Math.min(
    Math.min(interval, settling) * (1 - INTERVAL_SPREAD * share),
    (change ?? Number.POSITIVE_INFINITY) - now,
  );
  return Math.ceil(next) / 1000;
}

/** Whether the Gate was created or changed a moment ago; a write of the status doesn't count. */
export function isSettling({ metadata }: Gate, now: EpochMs): boolean {
  const writes = (metadata.managedFields ?? []).filter(({ subresource }) => !subresource).map(({ time }) => time);
  return [metadata.creationTimestamp, ...writes].some((text) => {
    const at = parseTime(text);
    return at !== undefined && Math.abs(now - at) < SETTLES_MS;
  });
}
