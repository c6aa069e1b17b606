/**
 * The requests that a write of a Gate makes, and their record. Only a changed annotation is a request. Two changes do
 * not count as requests: a Git sync that restores an older timestamp than a handled one, and text that a user writes
 * into the record.
 */
import { ACCEPTED_REQUEST, OPEN_FOR } from '../../api/annotations.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { sameJson } from '../kube/json.ts';
import { LIMITS } from '../limits.ts';
import {
  annotatedRequest,
  annotatedRequests,
  CLOCK_TOLERANCE_MS,
  formatAcceptedRequests,
  GATE_ACTIONS,
  type GateAction,
  type GateRequest,
  type GateRequests,
  gateRequestsOf,
  parseAcceptedRequests,
  REASON_KEYS,
  REQUESTED_AT_KEYS,
  withDueRequest,
} from './gateRequests.ts';
import { hasEnded } from './gateTimeline.ts';

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
  let requests: GateRequests = old ? requestsBefore(gate, old, now) : restoredRequests(gate, by, now);
  const accepted: GateRequest[] = [];
  const ignored: GateRequest[] = [];
  const reasonBy = reasonAuthors(gate, old, by);
  const isForeign = ({ action, reason }: GateRequest) => reason !== undefined && reasonBy[action] !== by;
  const annotations = annotatedRequests(gate);
  for (const request of annotations.filter(({ action }) => isChanged(REQUESTED_AT_KEYS[action], gate, old))) {
    if (isHandled(request, requests)) {
      ignored.push(request);
    } else {
      const { reason, ...bare } = request;
      requests = addRequest(requests, { ...(isForeign(request) ? bare : request), by }, gate, now);
      accepted.push(request);
    }
  }
  if (accepted.length === 0 && isChanged(OPEN_FOR, gate, old)) requests = limitOpening(requests, gate, by);
  const seen = Object.fromEntries(annotations.map(({ action, at }) => [action, at]));
  const isRecorded = requests.current !== undefined || requests.planned !== undefined;
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
function requestsBefore(gate: Gate, old: Gate, now: EpochMs): GateRequests {
  const { current: newest, planned, handled: known } = gateRequestsOf(old, now);
  const ends = newest && !sameJson(gate.spec, old.spec) && hasEnded(old, now);
  const current: GateRequest | undefined = ends ? { ...newest, hasEnded: true } : newest;
  const handled = { ...known };
  for (const { action, at } of annotatedRequests(old)) {
    if (at <= now + CLOCK_TOLERANCE_MS) handled[action] ??= at;
  }
  return { current, planned, handled };
}

/**
 * The requests of a Gate that is created with a record, for instance from a backup: if it was closed, it stays closed.
 * Any user may write such a text. So an opening in it doesn't count, and the creator is the user of its requests.
 */
function restoredRequests(gate: Gate, by: string, now: EpochMs): GateRequests {
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
    // A planned opening for one version would become one for all.
    ...(planned && !planned.for && { planned: own(planned) }),
    handled: { open: past(handled.open), close: past(handled.close) },
    seen: planned?.action === 'open' ? { close: seen?.close } : seen,
  };
}

function isHandled({ action, at }: GateRequest, { planned, handled, seen }: GateRequests): boolean {
  if (planned?.action === action && planned.at === at) return true;
  // In a Gate from a backup a request may have been planned and withdrawn.
  if (seen?.[action] === at) return true;
  const last = handled[action];
  // The clocks of two users may differ a little. A sync restores exactly the old time, or one from long ago.
  return last !== undefined && (at === last || at <= last - CLOCK_TOLERANCE_MS);
}

/** The requests with a new one, which takes effect at its time. */
function addRequest(requests: GateRequests, request: GateRequest, { spec }: Gate, now: EpochMs): GateRequests {
  const { current, handled, seen } = withDueRequest(requests, now);
  if (request.at > now + CLOCK_TOLERANCE_MS) return { current, planned: request, handled, seen };
  // It only ends an opening: the default, not the request, keeps the Gate closed.
  const endsAtOnce = request.action === 'close' && spec.default === 'closed' && !spec.schedule;
  const effective: GateRequest = endsAtOnce ? { ...request, hasEnded: true } : request;
  return { current: effective, handled: { ...handled, [request.action]: request.at }, seen };
}

/**
 * The requests after a change of only OPEN_FOR, which limits the earlier opening to that version. Removing OPEN_FOR
 * doesn't widen the opening again, because Flux strips annotations (docs/facts.md, F5).
 */
function limitOpening(requests: GateRequests, gate: Gate, by: string): GateRequests {
  const version = gate.metadata.annotations?.[OPEN_FOR];
  const open = annotatedRequest(gate, 'open');
  const limit = (request: GateRequest | undefined, annotatedAt: EpochMs | undefined): GateRequest | undefined =>
    request?.action === 'open' && open?.at === annotatedAt ? { ...request, by, for: version! } : request;
  if (!version) return requests;
  return {
    ...requests,
    current: limit(requests.current, requests.handled.open),
    planned: limit(requests.planned, requests.planned?.at),
  };
}
