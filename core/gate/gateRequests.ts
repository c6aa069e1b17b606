/**
 * Requests to open or close a Gate: how a write becomes requests, and which of them count now.
 *
 * Only an annotation that a write changes is a request; the one that arrived last counts, whatever the timestamps are.
 * Not requests: Git's value that Flux restores over a user's (its timestamp is older than one that was handled), and a
 * user's own text in the record.
 *
 * Requests are in three places.
 * The webhook's record (annotation ACCEPTED_REQUEST) has the order in which they arrived and the users who made them,
 * so it comes first. The status is next: it survives if there is no webhook.
 * The RFC's annotations count alone only when they are newer than both: then they were written while the webhook was
 * down.
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
import { namedIn } from '../approval/acceptApproval.ts';
import { parseDuration } from '../kube/duration.ts';
import { isLegalTag } from '../kube/tag.ts';
import { dayNumber, formatTime, LAST_INSTANT, parseTime, wholeSeconds } from '../kube/time.ts';

export type GateAction = 'open' | 'close';
const GATE_ACTIONS = ['open', 'close'] as const;

export interface GateRequest {
  action: GateAction;
  /** When it takes effect, as written; a time up to a minute ahead takes effect at once. Whole seconds. */
  at: EpochMs;
  by?: string;
  reason?: string;
  /** The one version that the opening is for. */
  for?: string;
}

export interface GateRequests {
  /** In force now. */
  current?: GateRequest;
  /** Takes the place of `current` at its time. */
  planned?: GateRequest;
  /** The timestamp of each action's last request that took effect: what a Git sync puts back is not a new request. */
  handled: RequestTimes;
  /**
   * What the annotations had at the last write that passed the webhook; a planned request called off may still be
   * there.
   */
  seen?: RequestTimes;
  /** The user who wrote the reason in each annotation: it does not count for any other user. */
  reasonBy?: Partial<Record<GateAction, string>>;
}

type RequestTimes = Partial<Record<GateAction, EpochMs>>;

export const REQUESTED_AT_KEYS: Record<GateAction, string> = { open: OPEN_REQUESTED_AT, close: CLOSE_REQUESTED_AT };
export const REASON_KEYS: Record<GateAction, string> = { open: OPEN_REASON, close: CLOSE_REASON };

/** Longer reasons are cut: record and status store them permanently. */
const MAX_REASON = 1024;

/** Longer than any record of the webhook, with the longest reasons and user names. */
const MAX_RECORD = 65_536;

/** Clocks of laptops, API server and hooks differ: a timestamp at most this far ahead means now. */
export const CLOCK_TOLERANCE_MS = 60_000;

/** The requests at `now`. A planned request whose time has come is the current one. */
export function gateRequestsOf(gate: Gate, now: EpochMs): GateRequests {
  const known = due(storedRequests(gate), now);
  const { seen, handled } = known;
  const isPlanned = ({ action, at }: GateRequest) => known.planned?.action === action && known.planned.at === at;
  const fresh = annotatedRequests(gate).filter(
    (request) =>
      !isPlanned(request) &&
      request.at !== seen?.[request.action] &&
      request.at > (handled[request.action] ?? Number.NEGATIVE_INFINITY),
  );
  // The webhook did not see these arrive: the timestamps alone decide, so that the answer is the same each time.
  // Of two future requests the later is planned; the earlier takes effect at its own time.
  const tolerance = known.planned ? 0 : CLOCK_TOLERANCE_MS;
  const ahead = ({ at }: GateRequest) => at > now + tolerance;
  const current = inOrder([known.current, ...fresh.filter((request) => !ahead(request))]).at(-1);
  const planned = inOrder([known.planned, ...fresh.filter(ahead)]).at(-1);
  return { current, planned, handled, seen };
}

/** The instants at which the result of `gateRequestsOf` may change by itself. */
export function requestTimes(gate: Gate): EpochMs[] {
  const { planned } = storedRequests(gate);
  const annotatedAt = annotatedRequests(gate).flatMap(({ at }) => [at, at - CLOCK_TOLERANCE_MS]);
  return planned ? [...annotatedAt, planned.at] : annotatedAt;
}

/** Both annotations' requests if they parse, in the order in which they count: the later last, and close after open. */
function annotatedRequests(gate: Gate): GateRequest[] {
  return inOrder(GATE_ACTIONS.map((action) => annotated(gate, action)));
}

/** The request that the annotation of this action makes; undefined when there is none or its time does not parse. */
export function annotated(gate: Gate, action: GateAction): GateRequest | undefined {
  const annotations = gate.metadata.annotations ?? {};
  const at = parseRequestTime(annotations[REQUESTED_AT_KEYS[action]]);
  if (at === undefined) return undefined;
  const request: GateRequest = { action, at };
  const reason = annotations[REASON_KEYS[action]]?.slice(0, MAX_REASON);
  if (reason) request.reason = reason;
  if (action === 'open' && annotations[OPEN_FOR]) request.for = annotations[OPEN_FOR];
  return request;
}

/** The requests at `now`: a planned request whose time has come is the current one. */
function due(requests: GateRequests, now: EpochMs): GateRequests {
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

function inOrder(requests: (GateRequest | undefined)[]): GateRequest[] {
  return requests
    .filter((request) => request !== undefined)
    .sort((a, b) => a.at - b.at || Number(a.action === 'close') - Number(b.action === 'close'));
}

const ROLLOUT = /^[a-z0-9-]{1,63}\/[a-z0-9.-]{1,253}$/;

/** A value of OPEN_FOR: a tag, of whichever Rollout, or `namespace/name:tag`, of one Rollout only. */
export function isOpenFor(value: string): boolean {
  const { version, rollout } = namedIn(value);
  return isLegalTag(version) && (rollout === undefined || ROLLOUT.test(rollout));
}

/** Whether an opening for `value` is for this version of this Rollout. */
export function opensFor(value: string, next: { version: string; rollout: string }): boolean {
  const { version, rollout } = namedIn(value);
  return version === next.version && (rollout === undefined || rollout === next.rollout);
}

/** Whole seconds. undefined for anything that is not an RFC 3339 time of a day that exists. */
export function parseRequestTime(text: string | undefined): EpochMs | undefined {
  const at = parseTime(text);
  if (!text || at === undefined || at < 0 || at > LAST_INSTANT) return undefined;
  // Date.parse takes 30 February for 2 March, and 24:00 for the next day.
  return dayNumber(text.slice(0, 10)) === undefined || text.slice(11, 13) === '24' ? undefined : wholeSeconds(at);
}

/**
 * Milliseconds in whole seconds, rounded up because stored times have no fraction. undefined when it does not parse.
 */
export function parseWindow(text: string): number | undefined {
  const window = parseDuration(text);
  return window === undefined ? undefined : Math.ceil(window / 1000) * 1000;
}

/** `at + duration`, no later than can be written. */
export function after(at: EpochMs, duration: number): EpochMs {
  return Math.min(at + duration, LAST_INSTANT);
}

/** The JSON text of the annotation ACCEPTED_REQUEST; equal requests give equal text. */
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

/** The requests in a text of ACCEPTED_REQUEST; undefined for one that the webhook didn't write. */
export function parseAcceptedRequests(text: string | undefined): GateRequests | undefined {
  if (!text || text.length > MAX_RECORD) return undefined;
  const times = (value: Stored) => ({
    open: parseRequestTime(textIn(value?.open)),
    close: parseRequestTime(textIn(value?.close)),
  });
  try {
    const { current, planned, handled, seen, reasonBy } = JSON.parse(text);
    return {
      current: parseRequest(current),
      planned: parseRequest(planned),
      handled: times(handled),
      seen: times(seen),
      ...(reasonBy && { reasonBy: { open: textIn(reasonBy.open), close: textIn(reasonBy.close) } }),
    };
  } catch {
    return undefined;
  }
}

type Stored = { [key: string]: unknown } | undefined;

function parseRequest(value: Stored): GateRequest | undefined {
  const at = parseRequestTime(textIn(value?.at));
  if (!value || at === undefined || (value.action !== 'open' && value.action !== 'close')) return undefined;
  const request: GateRequest = { action: value.action, at };
  for (const key of ['by', 'reason', 'for'] as const) {
    const text = textIn(value[key]);
    if (text) request[key] = text;
  }
  return request;
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** The request that closed the Gate last, if it is the newest one; it may be over. */
export function closeRequestOf(gate: Gate, now: EpochMs): GateRequest | undefined {
  const { current } = gateRequestsOf(gate, now);
  return current?.action === 'close' ? current : undefined;
}

/** Whether a request to open has an effect: with approvals it only ends a closing, or calls off a planned one. */
export function takesOpening(gate: Gate, now: EpochMs): boolean {
  return (
    !gate.spec.approvals || closeRequestOf(gate, now) !== undefined || gateRequestsOf(gate, now).planned !== undefined
  );
}

// What a write of a Gate requests, and the record of it.

export interface AcceptedRequests {
  /** The text of ACCEPTED_REQUEST; undefined before the first request. */
  record: string | undefined;
  accepted: GateRequest[];
  /** Changed annotations that request nothing new. */
  ignored: GateRequest[];
  /** Actions whose annotated reason another user gave for an earlier request: it is not this one's. */
  foreignReasons: GateAction[];
}

export function acceptRequests(gate: Gate, old: Gate | undefined, by: string, now: EpochMs): AcceptedRequests {
  let requests: GateRequests = old ? requestsBefore(old, now) : { handled: {} };
  const accepted: GateRequest[] = [];
  const ignored: GateRequest[] = [];
  const reasonBy = reasonsOf(gate, old, by, requests);
  const isForeign = ({ action, reason }: GateRequest) => reason !== undefined && reasonBy[action] !== by;
  const annotations = annotatedRequests(gate);
  for (const request of annotations.filter(({ action }) => changed(REQUESTED_AT_KEYS[action], gate, old))) {
    if (isHandled(request, requests)) {
      ignored.push(request);
    } else {
      const { reason, ...bare } = request;
      requests = addRequest(requests, { ...(isForeign(request) ? bare : request), by }, now);
      accepted.push(request);
    }
  }
  if (accepted.length === 0 && changed(OPEN_FOR, gate, old)) requests = narrow(requests, gate, by);
  const seen = Object.fromEntries(annotations.map(({ action, at }) => [action, at]));
  const isRecorded = requests.current !== undefined || requests.planned !== undefined;
  return {
    record: isRecorded ? formatAcceptedRequests({ ...requests, seen, reasonBy }) : undefined,
    accepted,
    ignored,
    foreignReasons: accepted.filter(isForeign).map(({ action }) => action),
  };
}

/** The users who gave the reasons in the annotations, this write included. */
function reasonsOf(gate: Gate, old: Gate | undefined, by: string, { current, planned }: GateRequests) {
  const known = parseAcceptedRequests(old?.metadata.annotations?.[ACCEPTED_REQUEST])?.reasonBy;
  const reasonBy: Partial<Record<GateAction, string>> = {};
  for (const action of GATE_ACTIONS) {
    const reason = gate.metadata.annotations?.[REASON_KEYS[action]];
    if (reason === undefined) continue;
    // Records from before such names were kept: the request with that reason has its user.
    const request = [current, planned].find((each) => each?.action === action && each.reason === reason);
    const author = changed(REASON_KEYS[action], gate, old) ? by : (known?.[action] ?? request?.by);
    if (author !== undefined) reasonBy[action] = author;
  }
  return reasonBy;
}

function changed(key: string, gate: Gate, old: Gate | undefined): boolean {
  return gate.metadata.annotations?.[key] !== old?.metadata.annotations?.[key];
}

/** The stored requests, with the timestamps that the annotations had, also from before there was a webhook. */
function requestsBefore(old: Gate, now: EpochMs): GateRequests {
  const requests = gateRequestsOf(old, now);
  const handled = { ...requests.handled };
  for (const { action, at } of annotatedRequests(old)) {
    if (at <= now + CLOCK_TOLERANCE_MS) handled[action] ??= at;
  }
  return { ...requests, handled };
}

function isHandled({ action, at }: GateRequest, { planned, handled }: GateRequests): boolean {
  if (planned?.action === action && planned.at === at) return true;
  const last = handled[action];
  // Two users' clocks may differ; a sync puts back the exact time, or one from long ago.
  return last !== undefined && (at === last || at <= last - CLOCK_TOLERANCE_MS);
}

/** Adds a request, which then takes effect. */
function addRequest(requests: GateRequests, request: GateRequest, now: EpochMs): GateRequests {
  const { current, handled, seen } = due(requests, now);
  if (request.at > now + CLOCK_TOLERANCE_MS) return { current, planned: request, handled, seen };
  return { current: request, handled: { ...handled, [request.action]: request.at }, seen };
}

/**
 * OPEN_FOR, set after the request to open, limits that opening to its version.
 * Removing OPEN_FOR doesn't widen the opening again: Flux strips annotations (docs/facts.md, F5).
 */
function narrow(requests: GateRequests, gate: Gate, by: string): GateRequests {
  const version = gate.metadata.annotations?.[OPEN_FOR];
  const open = annotated(gate, 'open');
  const limit = (request: GateRequest | undefined, annotatedAt: EpochMs | undefined): GateRequest | undefined =>
    request?.action === 'open' && open?.at === annotatedAt ? { ...request, by, for: version! } : request;
  if (!version) return requests;
  return {
    ...requests,
    current: limit(requests.current, requests.handled.open),
    planned: limit(requests.planned, requests.planned?.at),
  };
}
