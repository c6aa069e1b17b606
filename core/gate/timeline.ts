/**
 * What a Gate is at each instant: its default, over that its calendar, over that what was requested.
 *
 * A gate without a schedule goes by the RFC: a request away from the default holds for the window, or without one until
 * the opposite request; a request towards the default ends that at once. An opening for one version is always away from
 * the default: everything else sees the gate closed.
 *
 * On a gate with a schedule every request holds for the window and beats the calendar. Without a window a closing holds
 * until somebody opens, and an opening until the calendar's next change: one hotfix must not end the freeze of every Friday to come.
 */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import type { Calendar } from '../calendar/calendar.ts';
import { isActive, nextTransition } from '../calendar/evaluate.ts';
import type { GateRequest, GateRequests } from './acceptedRequests.ts';
import { requestTimes } from './requests.ts';
import { after } from './timestamp.ts';

/** `for` and closed: open for that version only. */
export interface GateState {
  opened: boolean;
  for?: string;
  cause: 'default' | 'schedule' | 'request';
}

interface Override {
  from: EpochMs;
  /** Infinity: until the opposite request. */
  to: EpochMs;
  state: GateState;
}

export interface Timeline {
  gate: Gate;
  calendar: Calendar | undefined;
  /** Milliseconds; undefined: until the opposite request. */
  window: number | undefined;
  requests: GateRequests;
}

/** The planned request, the end of an override, and the calendar's next change after each: no gate has more steps in a row. */
const MAX_STEPS = 8;

export function stateAt(timeline: Timeline, at: EpochMs): GateState {
  const override = overrideAt(timeline, at);
  if (override && at < override.to) return override.state;
  return standing(timeline, at);
}

/** The next instant after `now` at which the state differs; undefined when it never does by itself. */
export function nextChange(timeline: Timeline, now: EpochMs): EpochMs | undefined {
  const { opened, for: version } = stateAt(timeline, now);
  let at: EpochMs | undefined = now;
  for (let step = 0; step < MAX_STEPS; step++) {
    at = nextStep(timeline, at);
    if (at === undefined) return undefined;
    const then = stateAt(timeline, at);
    if (then.opened !== opened || then.for !== version) return at;
  }
  return undefined;
}

/** When the current request's effect ends: Infinity when only the opposite request ends it. undefined without a request. */
export function resetAt(timeline: Timeline): EpochMs | undefined {
  const { current } = timeline.requests;
  return current && overrideOf(timeline, current).to;
}

/** The request in force at that instant; before a gate's first planned request there is none. */
function overrideAt(timeline: Timeline, at: EpochMs): Override | undefined {
  const { current, planned } = timeline.requests;
  if (planned && at >= planned.at) return overrideOf(timeline, planned);
  return current && overrideOf(timeline, current);
}

function overrideOf({ gate, calendar, window }: Timeline, request: GateRequest): Override {
  const { at: from, action } = request;
  const state: GateState = { opened: action === 'open' && !request.for, cause: 'request' };
  if (request.for) state.for = request.for;
  const towardsDefault = !request.for && state.opened === (gate.spec.default === 'opened');
  if (!calendar && towardsDefault) return { from, to: from, state };
  if (window !== undefined) return { from, to: after(from, window), state };
  if (!calendar || action === 'close') return { from, to: Number.POSITIVE_INFINITY, state };
  return { from, to: nextTransition(calendar, from) ?? Number.POSITIVE_INFINITY, state };
}

function standing({ gate, calendar }: Timeline, at: EpochMs): GateState {
  if (calendar && isActive(calendar, at)) return { opened: gate.spec.schedule?.action === 'Open', cause: 'schedule' };
  return { opened: gate.spec.default === 'opened', cause: 'default' };
}

/** A calendar whose windows say what the default says has no steps: its windows change nothing. */
function nextStep(timeline: Timeline, at: EpochMs): EpochMs | undefined {
  const { gate, calendar, requests } = timeline;
  const override = overrideAt(timeline, at);
  const plannedAt = requests.planned?.at;
  const turns = calendar && (gate.spec.schedule?.action === 'Open') !== (gate.spec.default === 'opened');
  const steps = [
    plannedAt !== undefined && plannedAt > at ? plannedAt : undefined,
    override && at < override.to ? override.to : turns && nextTransition(calendar, at),
  ];
  const next = Math.min(...steps.filter((step) => typeof step === 'number'));
  return Number.isFinite(next) ? next : undefined;
}

/** The first instant after `now` at which the state, its cause or a request may be another one; undefined: never. */
export function steadyUntil(timeline: Timeline, now: EpochMs): EpochMs | undefined {
  const { gate, calendar, requests } = timeline;
  const ends = [requests.current, requests.planned].flatMap((request) =>
    request ? [request.at, overrideOf(timeline, request).to] : [],
  );
  const ahead = [...requestTimes(gate), ...ends, calendar && nextTransition(calendar, now)].filter(
    (at) => at !== undefined && at > now && Number.isFinite(at),
  ) as EpochMs[];
  return ahead.length > 0 ? Math.min(...ahead) : undefined;
}
