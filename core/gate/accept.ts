/**
 * What the webhook makes of a write to a Gate: which annotation brings a request, and the record that is kept.
 *
 * Only an annotation that this write changes is a request; the one that arrived last counts, whatever the timestamps
 * say. Two things look like requests and are not: Flux putting back what Git says over what a person wrote (its
 * timestamp is older than one already handled), and somebody's own text in the record.
 */
import { ACCEPTED_REQUEST, OPEN_FOR } from '../../api/annotations.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import {
  type Action,
  formatAcceptedRequests,
  type GateRequest,
  type GateRequests,
  parseAcceptedRequests,
} from './acceptedRequests.ts';
import { annotatedRequests, arrive, gateRequestsOf, REASON, REQUESTED_AT } from './requests.ts';
import { CLOCK_TOLERANCE_MS } from './timestamp.ts';

export interface Acceptance {
  /** The text of ACCEPTED_REQUEST; undefined when nothing was ever asked. */
  record?: string;
  accepted: GateRequest[];
  /** Changed annotations that ask for nothing new. */
  ignored: GateRequest[];
  /** Actions whose annotated reason somebody else gave for an earlier request: it is not this one's. */
  foreignReasons: Action[];
}

export function acceptRequests(gate: Gate, old: Gate | undefined, by: string, now: EpochMs): Acceptance {
  let requests = old ? before(old, now) : { handled: {} };
  const accepted: GateRequest[] = [];
  const ignored: GateRequest[] = [];
  const reasonBy = reasonsOf(gate, old, by, requests);
  const isForeign = ({ action, reason }: GateRequest) => reason !== undefined && reasonBy[action] !== by;
  for (const request of annotatedRequests(gate).filter(({ action }) => changed(REQUESTED_AT[action], gate, old))) {
    if (isHandled(request, requests)) {
      ignored.push(request);
    } else {
      const { reason, ...bare } = request;
      requests = arrive(requests, { ...(isForeign(request) ? bare : request), by }, now);
      accepted.push(request);
    }
  }
  if (accepted.length === 0 && changed(OPEN_FOR, gate, old)) requests = narrow(requests, gate, by);
  const seen = Object.fromEntries(annotatedRequests(gate).map(({ action, at }) => [action, at]));
  const record =
    requests.current || requests.planned ? formatAcceptedRequests({ ...requests, seen, reasonBy }) : undefined;
  return {
    ...(record && { record }),
    accepted,
    ignored,
    foreignReasons: accepted.filter(isForeign).map(({ action }) => action),
  };
}

/** Who gave the reasons that stand in the annotations, this write included. */
function reasonsOf(gate: Gate, old: Gate | undefined, by: string, { current, planned }: GateRequests) {
  const known = parseAcceptedRequests(old?.metadata.annotations?.[ACCEPTED_REQUEST])?.reasonBy;
  const reasonBy: Partial<Record<Action, string>> = {};
  for (const action of ['open', 'close'] as const) {
    const reason = gate.metadata.annotations?.[REASON[action]];
    if (reason === undefined) continue;
    // Records from before such names were kept: the request with that reason says who.
    const request = [current, planned].find((each) => each?.action === action && each.reason === reason);
    const author = changed(REASON[action], gate, old) ? by : (known?.[action] ?? request?.by);
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
  // Two people's clocks may differ; a sync puts back the exact time, or one from long ago.
  return last !== undefined && (at === last || at <= last - CLOCK_TOLERANCE_MS);
}

/** A version named after the opening narrows it. One that is taken away does not widen it: Flux strips annotations. */
function narrow(requests: GateRequests, gate: Gate, by: string): GateRequests {
  const version = gate.metadata.annotations?.[OPEN_FOR];
  const open = annotatedRequests(gate).find(({ action }) => action === 'open');
  const limit = (request: GateRequest | undefined, annotated: EpochMs | undefined): GateRequest | undefined =>
    request?.action === 'open' && open?.at === annotated ? { ...request, by, for: version! } : request;
  if (!version) return requests;
  return {
    ...requests,
    current: limit(requests.current, requests.handled.open),
    planned: limit(requests.planned, requests.planned?.at),
  };
}
