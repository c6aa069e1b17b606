/**
 * The requests that a write of a Gate makes, and their record. Only a changed annotation is a request. Two changes do
 * not count as requests: a Git sync that restores an older timestamp than a handled one, and text that a user writes
 * into the record.
 */
import { ACCEPTED_REQUEST } from '../../api/annotations.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { sameJson } from '../kube/json.ts';
import { wholeSeconds } from '../kube/time.ts';
import { LIMITS } from '../limits.ts';
import {
  annotatedRequests,
  asEnded,
  CLOCK_TOLERANCE_MS,
  formatAcceptedRequests,
  GATE_ACTIONS,
  type GateAction,
  type GateRequest,
  gateRequestsOf,
  isException,
  isKnown,
  parseAcceptedRequests,
  REASON_KEYS,
  REQUESTED_AT_KEYS,
  type RecordedRequests,
  withDueRequest,
} from './gateRequests.ts';
import { evaluateGate, isNewestOver } from './gateTimeline.ts';

/** The requests that a write of a Gate makes, and the record to store. */
export interface AcceptedRequests {
  /** The text of ACCEPTED_REQUEST; undefined before the first request. */
  record: string | undefined;
  accepted: GateRequest[];
  /** Changed annotations that request nothing new. */
  ignored: GateRequest[];
  /** Actions whose annotated reason another user wrote for an earlier request. Such a reason is not recorded. */
  foreignReasons: GateAction[];
}

/** The requests that the write makes. `old`: undefined for a new Gate. `by`: the writer. */
export function acceptRequests(gate: Gate, old: Gate | undefined, by: string, now: EpochMs): AcceptedRequests {
  let requests = old ? requestsBefore(gate, old, now) : restoredRequests(gate, by, now);
  const accepted: GateRequest[] = [];
  const ignored: GateRequest[] = [];
  const reasonBy = reasonAuthors(gate, old, by);
  const isForeign = ({ action, reason }: GateRequest) => reason !== undefined && reasonBy[action] !== by;
  const annotations = annotatedRequests(gate);
  for (const request of annotations.filter(({ action }) => isChanged(REQUESTED_AT_KEYS[action], gate, old))) {
    if (isKnown(request, requests, CLOCK_TOLERANCE_MS)) {
      ignored.push(request);
    } else {
      const { reason, ...bare } = request;
      requests = addRequest(requests, { ...(isForeign(request) ? bare : request), by }, gate, now);
      accepted.push(request);
    }
  }
  const seen = { ...requests.seen, ...Object.fromEntries(annotations.map(({ action, at }) => [action, at])) };
  const isRecorded = [requests.current, requests.planned, requests.exception].some((each) => each !== undefined);
  return {
    record: isRecorded ? formatAcceptedRequests({ ...requests, seen, reasonBy }) : undefined,
    accepted,
    ignored,
    foreignReasons: accepted.filter(isForeign).map(({ action }) => action),
  };
}

/** The users who wrote the reasons in the annotations. */
function reasonAuthors(gate: Gate, old: Gate | undefined, by: string) {
  const known = parseAcceptedRequests(old?.metadata.annotations?.[ACCEPTED_REQUEST])?.reasonBy;
  const reasonBy: Partial<Record<GateAction, string>> = {};
  for (const action of GATE_ACTIONS) {
    const key = REASON_KEYS[action];
    if (gate.metadata.annotations?.[key] === undefined) continue;
    const author = isChanged(key, gate, old) ? by : known?.[action];
    if (author !== undefined) reasonBy[action] = author;
  }
  return reasonBy;
}

function isChanged(key: string, gate: Gate, old: Gate | undefined): boolean {
  return gate.metadata.annotations?.[key] !== old?.metadata.annotations?.[key];
}

/** The stored requests. Timestamps in the annotations count as handled, even if the webhook never saw their write. */
function requestsBefore(gate: Gate, old: Gate, now: EpochMs): RecordedRequests {
  const { current, planned, exception, handled: known, seen } = gateRequestsOf(old, now);
  const handled = { ...known };
  for (const { action, at } of annotatedRequests(old)) {
    if (at <= now + CLOCK_TOLERANCE_MS) handled[action] = Math.max(at, handled[action] ?? at);
  }
  if (sameJson(gate.spec, old.spec)) return { current, planned, exception, handled, seen };
  // Another spec doesn't bring back requests that have no effect any more.
  const isIdle = exception && exception.at <= now && evaluateGate(old, now).openFor === undefined;
  return {
    current: current && isNewestOver(old, now) ? asEnded(current) : current,
    planned,
    exception: isIdle ? asEnded(exception) : exception,
    handled,
    seen,
  };
}

/**
 * The requests of a Gate that is created with a record, for instance from a backup: if it was closed, it stays closed.
 * Any user may write such a text. So an opening in it doesn't count, and the creator is the user of its requests.
 */
function restoredRequests(gate: Gate, by: string, now: EpochMs): RecordedRequests {
  const record = parseAcceptedRequests(gate.metadata.annotations?.[ACCEPTED_REQUEST]);
  const { current, planned, handled, seen } = withDueRequest(record ?? { handled: {} }, now);
  if (current?.action !== 'close') return { handled: {} };
  const own = ({ action, at, reason, hasEnded }: GateRequest): GateRequest => {
    return {
      action,
      at,
      by,
      ...(reason && { reason: reason.slice(0, LIMITS.gateReason) }),
      ...(hasEnded && { hasEnded }),
    };
  };
  // A time ahead of now would make every request before it count as handled.
  const past = (at: EpochMs | undefined) => (at !== undefined && at <= now + CLOCK_TOLERANCE_MS ? at : undefined);
  return {
    current: own(current),
    ...(planned && { planned: own(planned) }),
    handled: { open: past(handled.open), close: past(handled.close) },
    seen,
  };
}

/** The requests with a new one, which takes effect at its time. */
function addRequest(before: RecordedRequests, request: GateRequest, { spec }: Gate, now: EpochMs): RecordedRequests {
  const requests = withDueRequest(before, now);
  const { action, at } = request;
  const isAhead = at > now + CLOCK_TOLERANCE_MS;
  const handled = isAhead ? requests.handled : { ...requests.handled, [action]: at };
  if (isException(request)) {
    return { ...requests, exception: isAhead ? request : { ...request, at: Math.min(at, wholeSeconds(now)) }, handled };
  }
  if (isAhead) return { ...requests, planned: request };
  // It only ends an opening: the default, not the request, keeps the Gate closed.
  const endsAtOnce = action === 'close' && spec.default === 'closed' && !spec.schedule;
  const current = endsAtOnce ? asEnded(request) : request;
  const exception = requests.exception && action === 'close' ? asEnded(requests.exception) : requests.exception;
  return { ...requests, current, planned: undefined, exception, handled };
}
