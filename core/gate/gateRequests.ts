/**
 * Requests to open or close a Gate: which requests a write makes, and which of them count now. Only a changed
 * annotation is a request. The request that arrived last counts, regardless of the timestamps. Two changes do not count
 * as requests: a Git sync that restores an older timestamp than a handled one, and text that a user writes into the
 * record.
 *
 * Requests are in three places:
 *
 * 1. the webhook's record (annotation ACCEPTED_REQUEST), which has the order in which they arrived and their users;
 * 2. the status, if there is no record, because there is no webhook;
 * 3. the RFC's annotations, only if they are newer than both, because they were written while the webhook was down.
 */

import {
  ACCEPTED_REQUEST,
  CLOSE_REASON,
  CLOSE_REQUESTED_AT,
  OPEN_FOR,
  OPEN_REASON,
  OPEN_REQUESTED_AT,
} from '../../api/annotations.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { splitTarget } from '../approval/approvalRecord.ts';
import { parseDuration } from '../kube/duration.ts';
import { childOf, isMap, withoutEmpty } from '../kube/json.ts';
import { isLegalTag } from '../kube/tag.ts';
import { dayNumber, formatTime, LAST_INSTANT, parseTime, wholeSeconds } from '../kube/time.ts';
import { LIMITS } from '../limits.ts';
import { type Entry, parseRecord, textsOf } from '../record/record.ts';

export type GateAction = 'open' | 'close';
const GATE_ACTIONS = ['open', 'close'] as const;

/** A request to open or close a Gate. */
export interface GateRequest {
  action: GateAction;
  /**
   * The time at which it takes effect, as written, in whole seconds. A time up to a minute ahead takes effect at once.
   */
  at: EpochMs;
  by?: string;
  reason?: string;
  /** The one version that the opening is for. */
  for?: string;
}

/** The requests of one Gate that count, and what later requests are compared with. */
export interface GateRequests {
  /** The newest request whose time has come. */
  current?: GateRequest;
  /** A request whose time has not come. At that time it replaces `current`. */
  planned?: GateRequest;
  /** The timestamp of each action's last request that took effect. A value that a Git sync restores is not newer. */
  handled: RequestTimes;
  /**
   * The timestamps in the annotations after the last write through the webhook, including those of withdrawn requests.
   */
  seen?: RequestTimes;
  /** The user who wrote the reason in each annotation. The reason counts only for that user. */
  reasonBy?: Partial<Record<GateAction, string>>;
}

type RequestTimes = Partial<Record<GateAction, EpochMs>>;

export const REQUESTED_AT_KEYS: Record<GateAction, string> = { open: OPEN_REQUESTED_AT, close: CLOSE_REQUESTED_AT };
export const REASON_KEYS: Record<GateAction, string> = { open: OPEN_REASON, close: CLOSE_REASON };

/** A timestamp no further ahead than this means now: the clocks of laptops, API server and hooks differ. */
export const CLOCK_TOLERANCE_MS = 60_000;

/** The requests at `now`: the stored ones, and annotations that were written while the webhook was down. */
export function gateRequestsOf(gate: Gate, now: EpochMs): GateRequests {
  const known = withDueRequest(storedRequests(gate), now);
  const { seen, handled } = known;
  const isPlanned = ({ action, at }: GateRequest) => known.planned?.action === action && known.planned.at === at;
  const fresh = annotatedRequests(gate).filter(
    (request) =>
      !isPlanned(request) &&
      request.at !== seen?.[request.action] &&
      request.at > (handled[request.action] ?? Number.NEGATIVE_INFINITY),
  );
  // The order in which these requests were written is unknown, so their timestamps decide, which gives the same result
  // each time. Of two future requests the later one is planned; the earlier one takes effect at its own time, exactly
  // then: with a tolerance, a request of the next minute would come before a planned one that is due earlier.
  const tolerance = known.planned ? 0 : CLOCK_TOLERANCE_MS;
  const isAhead = ({ at }: GateRequest) => at > now + tolerance;
  const current = sortedRequests([known.current, ...fresh.filter((request) => !isAhead(request))]).at(-1);
  const planned = sortedRequests([known.planned, ...fresh.filter(isAhead)]).at(-1);
  return { current, planned, handled, seen };
}

/** The requests in the annotations in the order in which they count: later ones last, and close after open. */
function annotatedRequests(gate: Gate): GateRequest[] {
  return sortedRequests(GATE_ACTIONS.map((action) => annotatedRequest(gate, action)));
}

/** The request in the annotation of this action; undefined if there is none or its time does not parse. */
export function annotatedRequest(gate: Gate, action: GateAction): GateRequest | undefined {
  const annotations = gate.metadata.annotations ?? {};
  const at = parseRequestTime(annotations[REQUESTED_AT_KEYS[action]]);
  if (at === undefined) return undefined;
  const request: GateRequest = { action, at };
  const reason = annotations[REASON_KEYS[action]]?.slice(0, LIMITS.gateReason);
  if (reason) request.reason = reason;
  if (action === 'open' && annotations[OPEN_FOR]) request.for = annotations[OPEN_FOR];
  return request;
}

/** The requests at `now`: a planned request whose time has come is the current one. */
function withDueRequest(requests: GateRequests, now: EpochMs): GateRequests {
  const { planned, handled, seen } = requests;
  if (!planned || planned.at > now) return requests;
  return { current: planned, handled: { ...handled, [planned.action]: planned.at }, seen };
}

function storedRequests(gate: Gate): GateRequests {
  const { request, planned } = gate.status ?? {};
  return (
    parseAcceptedRequests(gate.metadata.annotations?.[ACCEPTED_REQUEST]) ?? {
      current: parseRequest(request),
      planned: parseRequest(planned),
      handled: {},
    }
  );
}

function sortedRequests(requests: (GateRequest | undefined)[]): GateRequest[] {
  return requests
    .filter((request) => request !== undefined)
    .sort((a, b) => a.at - b.at || Number(a.action === 'close') - Number(b.action === 'close'));
}

const ROLLOUT = /^[a-z0-9-]{1,63}\/[a-z0-9.-]{1,253}$/;

/** Whether the text is a value of OPEN_FOR: a tag, of any Rollout, or `namespace/name:tag`, of one Rollout only. */
export function isOpenFor(value: string): boolean {
  const { version, rollout } = splitTarget(value);
  return isLegalTag(version) && (rollout === undefined || ROLLOUT.test(rollout));
}

/** Whether an opening for `value` is for this version of this Rollout. */
export function opensFor(value: string, next: { version: string; rollout: string }): boolean {
  const { version, rollout } = splitTarget(value);
  return version === next.version && (rollout === undefined || rollout === next.rollout);
}

/** The time in whole seconds; undefined if the text is not an RFC 3339 time of a day that exists. */
export function parseRequestTime(text: string | undefined): EpochMs | undefined {
  const at = parseTime(text);
  if (!text || at === undefined || at < 0 || at > LAST_INSTANT) return undefined;
  // Date.parse accepts 24:00 as the next day.
  return dayNumber(text.slice(0, 10)) === undefined || text.slice(11, 13) === '24' ? undefined : wholeSeconds(at);
}

/** The window in milliseconds, rounded up to whole seconds, like stored times; undefined if it doesn't parse. */
export function parseWindow(text: string): number | undefined {
  const window = parseDuration(text);
  return window === undefined ? undefined : Math.ceil(window / 1000) * 1000;
}

/** The end of a window, at most the last instant that can be stored. */
export function addWindow(at: EpochMs, duration: number): EpochMs {
  return Math.min(at + duration, LAST_INSTANT);
}

/** The JSON text of the annotation ACCEPTED_REQUEST; equal requests have equal texts. */
export function formatAcceptedRequests({ current, planned, handled, seen = {}, reasonBy }: GateRequests): string {
  const formatted = (at: EpochMs | undefined) => (at === undefined ? undefined : formatTime(at));
  const times = ({ open, close }: RequestTimes) => ({ open: formatted(open), close: formatted(close) });
  const request = ({ action, at, by, reason, for: version }: GateRequest) => {
    return { action, at: formatTime(at), by, reason, for: version };
  };
  return JSON.stringify({
    current: current && request(current),
    planned: planned && request(planned),
    handled: times(handled),
    seen: times(seen),
    reasonBy: reasonBy && { open: reasonBy.open, close: reasonBy.close },
  });
}

/** The requests in a text of ACCEPTED_REQUEST; undefined if the webhook did not write it. */
export function parseAcceptedRequests(text: string | undefined): GateRequests | undefined {
  const record = parseRecord(text);
  if (!isMap(record)) return undefined;
  const entry = (key: string) => childOf(record, key) as Entry;
  const times = (key: string) => {
    const { open, close } = textsOf(entry(key), 'open', 'close');
    return { open: parseRequestTime(open), close: parseRequestTime(close) };
  };
  return {
    current: parseRequest(entry('current')),
    planned: parseRequest(entry('planned')),
    handled: times('handled'),
    seen: times('seen'),
    ...(entry('reasonBy') && { reasonBy: textsOf(entry('reasonBy'), 'open', 'close') }),
  };
}

function parseRequest(entry: Entry): GateRequest | undefined {
  const { action, at: time, ...texts } = textsOf(entry, 'action', 'at', 'by', 'reason', 'for');
  const at = parseRequestTime(time);
  return at === undefined || (action !== 'open' && action !== 'close')
    ? undefined
    : { action, at, ...withoutEmpty(texts) };
}

/** The newest request, if it is a close request. It revokes earlier approvals, even if its effect has ended. */
export function closeRequestOf(gate: Gate, now: EpochMs): GateRequest | undefined {
  const { current } = gateRequestsOf(gate, now);
  return current?.action === 'close' ? current : undefined;
}

/**
 * Whether a request to open has an effect. On a Gate with approvals it can only end a closure, or withdraw a planned
 * one. Of the write's own requests only a closure counts: the opening would precede or replace a planned one.
 * @param gate the Gate after the write, with the record of its requests; before the write the same as `old`
 */
export function openRequestHasEffect(gate: Gate, old: Gate | undefined, now: EpochMs): boolean {
  if (!gate.spec.approvals || closeRequestOf(gate, now)) return true;
  return old !== undefined && (closeRequestOf(old, now) ?? gateRequestsOf(old, now).planned) !== undefined;
}

// The requests that a write of a Gate makes, and their record.

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
  let requests: GateRequests = old ? requestsBefore(old, now) : restoredRequests(gate, by, now);
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
      requests = addRequest(requests, { ...(isForeign(request) ? bare : request), by }, now);
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
function requestsBefore(old: Gate, now: EpochMs): GateRequests {
  const { current, planned, handled: known } = gateRequestsOf(old, now);
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
  const own = ({ action, at, reason }: GateRequest): GateRequest => {
    return { action, at, by, ...(reason && { reason: reason.slice(0, LIMITS.gateReason) }) };
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
function addRequest(requests: GateRequests, request: GateRequest, now: EpochMs): GateRequests {
  const { current, handled, seen } = withDueRequest(requests, now);
  if (request.at > now + CLOCK_TOLERANCE_MS) return { current, planned: request, handled, seen };
  return { current: request, handled: { ...handled, [request.action]: request.at }, seen };
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
