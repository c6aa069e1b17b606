/**
 * What was asked of a Gate.
 *
 * Three places know of requests. The webhook's record (annotation ACCEPTED_REQUEST) knows in which order they arrived and
 * who made them, so it comes first. The status is next: it survives where there is no webhook. The RFC's annotations
 * count on their own only when they are newer than both, which means that they were written while no webhook was there.
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
import { isLegalTag } from '../kube/tag.ts';
import { type Action, type GateRequest, type GateRequests, parseAcceptedRequests } from './acceptedRequests.ts';
import { CLOCK_TOLERANCE_MS, parseRequestTime } from './timestamp.ts';

export const REQUESTED_AT: Record<Action, string> = { open: OPEN_REQUESTED_AT, close: CLOSE_REQUESTED_AT };
export const REASON: Record<Action, string> = { open: OPEN_REASON, close: CLOSE_REASON };

/** Longer reasons are cut: record and status keep them for good. */
const MAX_REASON = 1024;

/** The requests as they stand at `now`. A planned one whose time has come is the current one. */
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
  // The webhook did not see these arrive: the timestamps alone decide, so that the answer is the same at every look.
  // Of two that were both far ahead at first, the later is the planned one and the other has to wait for its own second.
  const tolerance = known.planned ? 0 : CLOCK_TOLERANCE_MS;
  const ahead = ({ at }: GateRequest) => at > now + tolerance;
  const current = latest([known.current, ...fresh.filter((request) => !ahead(request))]);
  const planned = latest([known.planned, ...fresh.filter(ahead)]);
  return { current, planned, handled, seen };
}

/** The instants at which `gateRequestsOf` may begin to say something else by itself. */
export function requestTimes(gate: Gate): EpochMs[] {
  const { planned } = storedRequests(gate);
  const annotatedAt = annotatedRequests(gate).flatMap(({ at }) => [at, at - CLOCK_TOLERANCE_MS]);
  return planned ? [...annotatedAt, planned.at] : annotatedAt;
}

/** Both annotations' requests where they parse, in the order in which they count: the later last, and close after open. */
export function annotatedRequests(gate: Gate): GateRequest[] {
  return inOrder((['open', 'close'] as const).map((action) => annotated(gate, action)));
}

/** The request that the annotation of this action makes; undefined when there is none or its time does not parse. */
export function annotated(gate: Gate, action: Action): GateRequest | undefined {
  const annotations = gate.metadata.annotations ?? {};
  const at = parseRequestTime(annotations[REQUESTED_AT[action]]);
  if (at === undefined) return undefined;
  const request: GateRequest = { action, at };
  const reason = annotations[REASON[action]]?.slice(0, MAX_REASON);
  if (reason) request.reason = reason;
  if (action === 'open' && annotations[OPEN_FOR]) request.for = annotations[OPEN_FOR];
  return request;
}

/** GateRequests after one more has arrived, which then is the one that counts. */
export function arrive(before: GateRequests, request: GateRequest, now: EpochMs): GateRequests {
  const { current, handled, seen } = due(before, now);
  if (request.at > now + CLOCK_TOLERANCE_MS) return { current, planned: request, handled, seen };
  return {
    current: request,
    handled: { ...handled, [request.action]: request.at },
    seen,
  };
}

function due(requests: GateRequests, now: EpochMs): GateRequests {
  const { planned, handled, seen } = requests;
  if (!planned || planned.at > now) return requests;
  return { current: planned, handled: { ...handled, [planned.action]: planned.at }, seen };
}

function storedRequests(gate: Gate): GateRequests {
  return parseAcceptedRequests(gate.metadata.annotations?.[ACCEPTED_REQUEST]) ?? requestsInStatus(gate);
}

function requestsInStatus({ status }: Gate): GateRequests {
  const read = (request: NonNullable<Gate['status']>['request']): GateRequest | undefined => {
    const at = parseRequestTime(request?.at);
    return request && at !== undefined ? { ...request, at } : undefined;
  };
  return { current: read(status?.request), planned: read(status?.planned), handled: {} };
}

function latest(requests: (GateRequest | undefined)[]): GateRequest | undefined {
  return inOrder(requests).at(-1);
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
