/**
 * How a write of a Gate becomes requests, and the record of them.
 * Only an annotation that this write changes is a request; the one that arrived last counts, whatever the timestamps
 * are.
 * Two things look like requests and are not: Flux putting back Git's value over a user's (its timestamp is older than
 * one already handled), and a user's own text in the record.
 */
import { ACCEPTED_REQUEST, OPEN_FOR } from '../../api/annotations.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import {
  annotated,
  annotatedRequests,
  CLOCK_TOLERANCE_MS,
  due,
  formatAcceptedRequests,
  GATE_ACTIONS,
  type GateAction,
  type GateRequest,
  type GateRequests,
  gateRequestsOf,
  parseAcceptedRequests,
  REASON_KEYS,
  REQUESTED_AT_KEYS,
} from './gateRequests.ts';

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
  let requests = old ? before(old, now) : { handled: {} };
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

/** As stored, with the timestamps that the annotations had, those from before there was a webhook included. */
function before(old: Gate, now: EpochMs): GateRequests {
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

/** A version named after the opening narrows it. One that is taken away does not widen it: Flux strips annotations. */
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
