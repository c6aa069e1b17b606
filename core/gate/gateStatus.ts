/**
 * A Gate's status: the RFC's fields; the user, reason and next transition; its Events; and when to compute it again.
 */
import { GATE_CLOSED, OPENED, READY, RECEIVER_READY, STALLED } from '../../api/conditions.ts';
import type { Condition, EpochMs } from '../../api/kubernetes.ts';
import type { ApprovalsStatus, Gate, GateStatus } from '../../api/types.ts';
import { findCondition, type NewCondition, setCondition } from '../kube/conditions.ts';
import { parseDuration } from '../kube/duration.ts';
import type { NewEvent } from '../kube/events.ts';
import { shortHash } from '../kube/names.ts';
import { formatTime, parseTime } from '../kube/time.ts';
import { LIMITS } from '../limits.ts';
import { requestText } from './evaluateGates.ts';
import type { GateRequest } from './gateRequests.ts';
import type { Requirer } from './gateSelection.ts';
import type { GateEvaluation } from './gateState.ts';

/** How many of the objects that require it the status of a Gate names, and of those that it has not reached. */
const OBJECTS_IN_STATUS = 100;
const NAMED_UNREACHED = 20;

/** How long an opening or closing takes to reach what requires the Gate before what it has not reached is reported. */
const REACHES_MS = 10_000;

/** For Gates without `spec.interval`: the count of what requires them is at most this old. */
const DEFAULT_MS = 60_000;
/**
 * Objects that a Gate selects report it some seconds after the Gate has changed: until then they are counted more
 * often.
 */
const SETTLES_MS = 60_000;
const SETTLING_MS = 5000;
const SHORTEST_MS = 1000;
const LONGEST_MS = LIMITS.resyncAfterSeconds * 1000;
/**
 * Gates created together do not stay in step: an interval is cut short by up to a tenth, always the same for one Gate.
 */
const SPREAD = 0.1;

/** The objects that the hook has read for a Gate. */
export interface GateFacts {
  /** undefined: not known now, the last count stays. */
  requirers?: readonly Requirer[] | undefined;
  /** The Flux objects among the requirers that nothing suspends. */
  unheld?: GateStatus['notHeldObjects'] | undefined;
  /** The Flux objects that are still suspended although the Gate is open. */
  unresumed?: GateStatus['notResumedObjects'] | undefined;
  /** Approvals; undefined for a Gate without `spec.approvals`. */
  approvals?: ApprovalsStatus | undefined;
  /** undefined when the Gate takes no calls. */
  receiver?: { path: string } | { problem: string; reason: string } | undefined;
}

/** The whole status; equal to the one before when nothing has changed. */
export function gateStatus(gate: Gate, evaluation: GateEvaluation, facts: GateFacts, now: EpochMs): GateStatus {
  const { request, cause, planned, requestedAt, resetToDefaultAt, until } = evaluation;
  const { receiver, requirers, approvals } = facts;
  const isSettled = hasLasted(gate, evaluation, now);
  const unheld = evaluation.opened || !isSettled ? [] : facts.unheld;
  const unresumed = evaluation.opened && isSettled ? facts.unresumed : [];
  const objects = requirers
    ? requirers.slice(0, OBJECTS_IN_STATUS).map((each) => ({ ...each }))
    : gate.status?.heldObjects;
  return withoutUndefined({
    observedGeneration: gate.metadata.generation,
    requestedAt: time(requestedAt),
    resetToDefaultAt: time(resetToDefaultAt),
    request: request && stored(request),
    planned: planned && stored(planned),
    openedBy: cause?.action === 'open' ? cause.by : undefined,
    closedBy: cause?.action === 'close' ? cause.by : undefined,
    reason: cause?.reason,
    nextTransition: time(until),
    held: requirers?.length ?? gate.status?.held,
    heldObjects: objects?.length ? objects : undefined,
    notHeld: unheld ? unheld.length || undefined : gate.status?.notHeld,
    notHeldObjects: unheld ? firstOf(unheld) : gate.status?.notHeldObjects,
    notResumed: unresumed ? unresumed.length || undefined : gate.status?.notResumed,
    notResumedObjects: unresumed ? firstOf(unresumed) : gate.status?.notResumedObjects,
    approvals,
    webhookPath: receiver && ('path' in receiver ? receiver.path : gate.status?.webhookPath),
    conditions: conditionsOf(gate, evaluation, receiver, now),
  });
}

/** undefined for none. */
function firstOf<Each extends object>(all: readonly Each[]): Each[] | undefined {
  return all.length > 0 ? all.slice(0, NAMED_UNREACHED).map((each) => ({ ...each })) : undefined;
}

/** Whether the Gate has been open, or closed, for so long that everything that requires it should have followed. */
function hasLasted({ status }: Gate, { opened }: GateEvaluation, now: EpochMs): boolean {
  const shown = findCondition(status?.conditions, OPENED);
  const since = shown?.status === (opened ? 'True' : 'False') ? parseTime(shown.lastTransitionTime) : undefined;
  return since !== undefined && now - since >= REACHES_MS;
}

function conditionsOf(
  gate: Gate,
  { opened, message, cause, stalled }: GateEvaluation,
  receiver: GateFacts['receiver'],
  now: EpochMs,
): Condition[] {
  const status = opened ? 'True' : 'False';
  // The RFC's words in front: clients may look for them.
  const text = cause?.by ? `${message}, ${requestText(cause)}` : message;
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

function stored({ at, ...request }: GateRequest) {
  return { ...request, at: formatTime(at) };
}

function time(at: EpochMs | undefined): string | undefined {
  return at === undefined ? undefined : formatTime(at);
}

/** Metacontroller compares and stores what it gets: a key without a value would differ forever. */
function withoutUndefined(status: { [K in keyof GateStatus]: GateStatus[K] | undefined }): GateStatus {
  return Object.fromEntries(Object.entries(status).filter(([, value]) => value !== undefined)) as GateStatus;
}

/** Seconds until the next edge, exactly, or until the interval is over. Always above 0: 0 would mean never. */
export function resyncSeconds(
  gate: Gate,
  { until, planned }: GateEvaluation,
  now: EpochMs,
  approvalsUntil = Number.POSITIVE_INFINITY,
): number {
  const wanted = parseDuration(gate.spec.interval) ?? DEFAULT_MS;
  const interval = Math.min(Math.max(wanted, SHORTEST_MS), LONGEST_MS);
  const settling = isSettling(gate, now) ? SETTLING_MS : Number.POSITIVE_INFINITY;
  const share = Number.parseInt(shortHash(gate.metadata.uid ?? '').slice(0, 4), 16) / 0xffff;
  const next = Math.min(
    Math.min(interval, settling) * (1 - SPREAD * share),
    (until ?? Number.POSITIVE_INFINITY) - now,
    (planned?.at ?? Number.POSITIVE_INFINITY) - now,
    approvalsUntil - now,
  );
  return Math.ceil(next) / 1000;
}

/** Whether the Gate was made or changed a moment ago, by whomever; a write of its status is no change. */
export function isSettling({ metadata }: Gate, now: EpochMs): boolean {
  const writes = (metadata.managedFields ?? []).filter(({ subresource }) => !subresource).map(({ time }) => time);
  return [metadata.creationTimestamp, ...writes].some((text) => {
    const at = parseTime(text);
    return at !== undefined && Math.abs(now - at) < SETTLES_MS;
  });
}

// Events.

type StoredRequest = NonNullable<GateStatus['request']>;

/**
 * The Events of a Gate: what has changed since its last status.
 * @param forOthers the part of its state that every user may see
 */
export function gateEvents({ status: before }: Gate, after: GateStatus, forOthers: string): NewEvent[] {
  const events: NewEvent[] = [];
  const add = (reason: string, message: string, about: string, order = 'a') =>
    events.push({ type: 'Normal', reason, message, about, order });
  const { request, planned } = after;
  if (request && !same(request, before?.request) && !same(request, before?.planned)) {
    add(request.action === 'open' ? 'OpenRequested' : 'CloseRequested', sentence(request, 'requested'), idOf(request));
  }
  if (planned && !same(planned, before?.planned)) {
    const reason = planned.action === 'open' ? 'OpenPlanned' : 'ClosePlanned';
    add(reason, sentence(planned, `planned for ${planned.at}`), idOf(planned));
  }
  const was = findCondition(before?.conditions, OPENED);
  const is = findCondition(after.conditions, OPENED);
  if (was && is && was.status !== is.status) {
    add(is.status === 'True' ? 'GateOpened' : 'GateClosed', is.message, is.lastTransitionTime, 'b');
    // Its message has user and reason: one message for what one user did.
    return events.map((event) => (event.order === 'b' ? { ...event, forOthers } : { ...event, quiet: true }));
  }
  return events;
}

function sentence({ action, by, reason, for: version }: StoredRequest, what: string): string {
  const who = by ? ` by ${by}` : '';
  const only = version ? ` for version '${version}'` : '';
  return `Gate ${action} ${what}${only}${who}${reason ? `: ${reason}` : ''}`;
}

function same(a: StoredRequest, b: StoredRequest | undefined): boolean {
  return b !== undefined && idOf(a) === idOf(b);
}

function idOf({ action, at, by = '', for: version = '' }: StoredRequest): string {
  return [action, at, by, version].join(' ');
}
