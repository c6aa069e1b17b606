/**
 * Requests to open or close a Gate: which of them count now. The request that arrived last counts, regardless of the
 * timestamps. Requests are in three places:
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
export const GATE_ACTIONS = ['open', 'close'] as const;

/** A request to open or close a Gate. */
export interface GateRequest {
  action: GateAction;
  /**
   * The time at which it takes effect, as written, in whole seconds. A time up to a minute ahead takes effect at once.
   */
  at: EpochMs;
  by?: string;
  reason?: string;
  /** The one version that the opening is for: then it is an exception. */
  for?: string;
  /** Its effect has ended: a later default, window or schedule doesn't bring it back. */
  hasEnded?: true;
}

/**
 * An opening for one version, which passes while the Gate is closed. It changes neither the Gate's state nor another
 * request. A request to close ends it.
 */
export type Exception = GateRequest & { action: 'open'; for: string };

export function isException(request: GateRequest): request is Exception {
  return request.action === 'open' && request.for !== undefined;
}

export function asEnded<T extends GateRequest>(request: T): T {
  return { ...request, hasEnded: true };
}

/** The requests of one Gate that count. */
export interface GateRequests {
  /** The newest request for all versions whose time has come. */
  current?: GateRequest | undefined;
  /** A request for all versions whose time has not come. At that time it replaces `current`. */
  planned?: GateRequest | undefined;
  /** The newest exception, whether its time has come or not. */
  exception?: Exception | undefined;
}

/** The requests, with what shows whether an annotation is a new request: see `isKnown`. */
export interface RecordedRequests extends GateRequests {
  /** The timestamp of each action's last request that took effect. A value that a Git sync restores is not newer. */
  handled: RequestTimes;
  /**
   * The last timestamp that each annotation had after a write through the webhook, even if a later write removed it.
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
export function gateRequestsOf(gate: Gate, now: EpochMs): RecordedRequests {
  const known = withDueRequest(storedRequests(gate), now);
  const { seen, handled } = known;
  const fresh = annotatedRequests(gate).filter((request) => !isKnown(request, known));
  // The order in which these requests were written is unknown, so their timestamps decide, which gives the same result
  // each time. Of two future requests the later one is planned; the earlier one takes effect at its own time, exactly
  // then: with a tolerance, a request of the next minute would come before a planned one that is due earlier.
  const tolerance = known.planned ? 0 : CLOCK_TOLERANCE_MS;
  const isAhead = ({ at }: GateRequest) => at > now + tolerance;
  const forAll = fresh.filter((request) => !isException(request));
  const current = sortedRequests([known.current, ...forAll.filter((request) => !isAhead(request))]).at(-1);
  const planned = sortedRequests([known.planned, ...forAll.filter(isAhead)]).at(-1);
  const exception = fresh.find(isException) ?? known.exception;
  const isNew = current !== known.current || exception !== known.exception;
  return { current, planned, exception: isNew ? exceptionAfter(current, exception) : exception, handled, seen };
}

/**
 * Whether the request is not new: it is the planned one or the exception, was in the annotations before, or is no later
 * than the last handled one.
 * @param toleranceMs by this much a new request may be earlier than the last handled one, because the clocks of two
 * users differ. A sync restores exactly the old time, or one from long ago.
 */
export function isKnown({ action, at }: GateRequest, requests: RecordedRequests, toleranceMs = 0): boolean {
  const { planned, exception, handled, seen } = requests;
  const isPending = [planned, exception].some((each) => each?.action === action && each.at === at);
  const last = handled[action];
  return isPending || at === seen?.[action] || (last !== undefined && (at === last || at <= last - toleranceMs));
}

/** The exception after this request has taken effect: a request to close ends it, unless it begins later. */
function exceptionAfter(request: GateRequest | undefined, exception: Exception | undefined): Exception | undefined {
  const isEnded = exception && request?.action === 'close' && exception.at <= request.at;
  return isEnded ? asEnded(exception) : exception;
}

/** The requests in the annotations in the order in which they count: later ones last, and close after open. */
export function annotatedRequests(gate: Gate): GateRequest[] {
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
export function withDueRequest(requests: RecordedRequests, now: EpochMs): RecordedRequests {
  const { planned, exception, handled, seen } = requests;
  if (!planned || planned.at > now) return requests;
  return {
    current: planned,
    exception: exceptionAfter(planned, exception),
    handled: { ...handled, [planned.action]: planned.at },
    seen,
  };
}

function storedRequests(gate: Gate): RecordedRequests {
  const { request, planned, exception } = gate.status ?? {};
  return (
    parseAcceptedRequests(gate.metadata.annotations?.[ACCEPTED_REQUEST]) ?? {
      ...parseRequests(request, planned, exception),
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
export function isLegalTarget(value: string): boolean {
  const { version, rollout } = splitTarget(value);
  return isLegalTag(version) && (rollout === undefined || ROLLOUT.test(rollout));
}

/** Whether an opening for `value` is for this version of this Rollout. */
export function targetsVersion(value: string, next: { version: string; rollout: string }): boolean {
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
export function formatAcceptedRequests(requests: RecordedRequests): string {
  const { current, planned, exception, handled, seen = {}, reasonBy } = requests;
  const formatted = (at: EpochMs | undefined) => (at === undefined ? undefined : formatTime(at));
  const times = ({ open, close }: RequestTimes) => ({ open: formatted(open), close: formatted(close) });
  const request = ({ action, at, by, reason, for: version, hasEnded }: GateRequest) => {
    return { action, at: formatTime(at), by, reason, for: version, hasEnded };
  };
  return JSON.stringify({
    current: current && request(current),
    planned: planned && request(planned),
    exception: exception && request(exception),
    handled: times(handled),
    seen: times(seen),
    reasonBy: reasonBy && { open: reasonBy.open, close: reasonBy.close },
  });
}

/** The requests in a text of ACCEPTED_REQUEST; undefined if the webhook did not write it. */
export function parseAcceptedRequests(text: string | undefined): RecordedRequests | undefined {
  const record = parseRecord(text);
  if (!isMap(record)) return undefined;
  const entry = (key: string) => childOf(record, key) as Entry;
  const times = (key: string) => {
    const { open, close } = textsOf(entry(key), 'open', 'close');
    return { open: parseRequestTime(open), close: parseRequestTime(close) };
  };
  return {
    ...parseRequests(entry('current'), entry('planned'), entry('exception')),
    handled: times('handled'),
    seen: times('seen'),
    ...(entry('reasonBy') && { reasonBy: textsOf(entry('reasonBy'), 'open', 'close') }),
  };
}

/**
 * The stored requests. An earlier commit stored an opening for one version as the current or planned request, which
 * closed the Gate for all others: it becomes a closure, or is dropped.
 */
function parseRequests(...entries: [current: Entry, planned: Entry, exception: Entry]) {
  const [current, planned, exception] = entries.map(parseRequest);
  const closure = ({ for: _, ...request }: GateRequest): GateRequest => ({ ...request, action: 'close' });
  return {
    current: current && isException(current) ? closure(current) : current,
    planned: planned && isException(planned) ? undefined : planned,
    exception: exception && isException(exception) ? exception : undefined,
  };
}

function parseRequest(entry: Entry): GateRequest | undefined {
  const { action, at: time, ...texts } = textsOf(entry, 'action', 'at', 'by', 'reason', 'for');
  const at = parseRequestTime(time);
  return at === undefined || (action !== 'open' && action !== 'close')
    ? undefined
    : { action, at, ...withoutEmpty(texts), ...(entry?.hasEnded === true && { hasEnded: true }) };
}
