/** Decides whether a Gate is open, for hooks and webhooks. The rules are in docs/gates.md. */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { type Period, periodsOf } from '../calendar/activeRules.ts';
import { compileCalendar } from '../calendar/calendarRules.ts';
import { memoizeByObject } from '../collection/memo.ts';
import { type FieldProblem, problemText } from '../kube/fieldProblem.ts';
import { earliestTime, formatTime } from '../kube/time.ts';
import { requestProblems, windowProblems } from './gateProblems.ts';
import { addWindow, type GateRequest, type GateRequests, gateRequestsOf, parseWindow } from './gateRequests.ts';

/** The state of a Gate at one instant. */
export interface GateEvaluation {
  opened: boolean;
  /** The RFC's words: `Gate closed by default`, `Gate scheduled for closing at 2021-03-26T11:00:00Z`, … */
  message: string;
  /** The next instant at which `opened` or `openFor` changes by itself. */
  until?: EpochMs | undefined;
  /** The state from `until` on. */
  next?: GateState | undefined;
  /** Identifies the closure: see closureOf. */
  closure?: string | undefined;
  resetToDefaultAt?: EpochMs | undefined;
  /** The newest request whose time has come; it may be over. */
  request?: GateRequest | undefined;
  /** `request`, if it is the reason for the present state. */
  cause?: GateRequest | undefined;
  /** A request whose time has not come. */
  planned?: GateRequest | undefined;
  /** The problems of fields and requests that are ignored because they do not parse. */
  stalled?: string | undefined;
  /**
   * The one version that the Gate is open for, see `opensFor`; for everything else it is closed (`opened` is false).
   */
  openFor?: string | undefined;
  /**
   * Whether a request to open opens it. A Gate with approvals opens only if it would be open without the requests to
   * close.
   */
  opensByRequest: boolean;
}

/** The Gate's state at `now`, by its spec, its requests and the time alone. */
export function evaluateGate(gate: Gate, now: EpochMs): GateEvaluation {
  const { timeline, problems } = timelineOf(gate, now);
  const state = stateAt(timeline, now);
  const until = nextChange(timeline, now);
  const next = until === undefined ? undefined : stateAt(timeline, until);
  const { current, planned } = timeline.requests;
  // Infinity: only the opposite request ends the effect of the current one.
  const reset = current && overrideOf(timeline, current).to;
  const cause = isCause(state, reset, current) ? current : undefined;
  return {
    opened: state.opened,
    message: messageOf(state, cause, until, next),
    openFor: state.for,
    until,
    next,
    closure: state.opened ? undefined : closureOf(timeline, now),
    request: current,
    resetToDefaultAt: Number.isFinite(reset) ? reset : undefined,
    cause,
    planned,
    opensByRequest: !timeline.gate.spec.approvals || stateWithoutRequests(timeline, now).opened,
    stalled: problems.length > 0 ? problems.map(problemText).join('; ') : undefined,
  };
}

/** The periods of each schedule: a Gate is evaluated for each version that a Rollout may deploy. */
const compileSchedule = memoizeByObject((schedule: NonNullable<Gate['spec']['schedule']>) => {
  const { calendar, problems } = compileCalendar(schedule, 'spec.schedule');
  return { periodAt: calendar && periodsOf(calendar), problems };
});

function timelineOf(gate: Gate, now: EpochMs): { timeline: Timeline; problems: FieldProblem[] } {
  const badWindow = windowProblems(gate);
  const compiled = gate.spec.schedule && compileSchedule(gate.spec.schedule);
  const timeline: Timeline = {
    gate,
    periodAt: compiled?.periodAt,
    window: gate.spec.window === undefined ? undefined : parseWindow(gate.spec.window),
    // With an invalid window the end of a request is unknown, so none counts.
    requests: badWindow.length > 0 ? { handled: {} } : countingRequests(gate, now),
  };
  return { timeline, problems: [...requestProblems(gate), ...badWindow, ...(compiled?.problems ?? [])] };
}

/** The requests that count. On a Gate with approvals a request to open only ends the closure before it. */
function countingRequests(gate: Gate, now: EpochMs): GateRequests {
  const { current, planned, ...rest } = gateRequestsOf(gate, now);
  const counts = (request: GateRequest | undefined) =>
    gate.spec.approvals && request?.action === 'open' ? undefined : request;
  return { ...rest, current: counts(current), planned: counts(planned) };
}

/**
 * Whether the request is the reason for the state. A request for the default state is, although its effect ends at
 * once.
 */
function isCause(state: GateState, reset: EpochMs | undefined, request: GateRequest | undefined): boolean {
  if (state.cause !== 'default') return state.cause === 'request';
  return request !== undefined && reset === request.at && (request.action === 'open') === state.opened;
}

function messageOf(
  state: GateState,
  cause: GateRequest | undefined,
  until: EpochMs | undefined,
  next: GateState | undefined,
): string {
  if (state.for) {
    const end = until === undefined ? '' : `, until ${formatTime(until)}`;
    return `Gate opened for version '${state.for}' only${end}`;
  }
  if (until !== undefined) {
    const change = next?.for ? `opening for version '${next.for}' only` : state.opened ? 'closing' : 'opening';
    return `Gate scheduled for ${change} at ${formatTime(until)}`;
  }
  if (state.cause === 'schedule') return `Gate ${state.opened ? 'opened' : 'closed'} by schedule`;
  if (cause) return `Gate ${state.opened ? 'open' : 'close'} requested`;
  return `Gate ${state.opened ? 'opened' : 'closed'} by default`;
}

/**
 * Identifies a closure of a Gate by the request that made it and the time at which it ends by itself. undefined for a
 * Gate that is closed by default. A planned request doesn't count before its time, and changes no end.
 */
function closureOf({ requests, ...rest }: Timeline, now: EpochMs): string | undefined {
  const { planned: _, ...unplanned } = requests;
  const { current } = unplanned;
  const by = current ? `${current.action}=${formatTime(current.at)}` : '';
  const end = nextChange({ ...rest, requests: unplanned }, now);
  return (end === undefined ? by : `${by}~${formatTime(end)}`) || undefined;
}

/**
 * Whether the effect of the newest request has ended. A closure that the default has made superfluous still counts,
 * because it lasts until a user opens the Gate. So does any request with an invalid window, whose end is unknown.
 */
export function hasEnded(gate: Gate, now: EpochMs): boolean {
  const { timeline } = timelineOf(gate, now);
  const { window, requests } = timeline;
  if (windowProblems(gate).length > 0) return false;
  if (requests.current?.action !== 'close')
    return !requests.current || overrideOf(timeline, requests.current).to <= now;
  return window !== undefined && addWindow(requests.current.at, window) <= now;
}

// The state of a Gate at each instant: a request comes before the calendar, and the calendar before the default.
// Without a schedule the rules are the RFC's:
// - a request for the other state than the default holds for the window, or without one until the opposite request;
// - a request for the default state ends it at once.
// An opening for one version never counts as the default state: for everything else the Gate is closed.
// With a schedule every request comes before the calendar, and holds:
// - for the window;
// - without a window, a closure until a user opens the Gate;
// - without a window, an opening until the calendar's next change, so that one hotfix doesn't end all later freezes.

interface GateState {
  opened: boolean;
  /** The one version that the Gate is open for; `opened` is false then. */
  for?: string;
  cause: 'default' | 'schedule' | 'request';
}

interface Override {
  from: EpochMs;
  /** The end; Infinity means until the opposite request. */
  to: EpochMs;
  state: GateState;
}

interface Timeline {
  gate: Gate;
  /** The periods of the calendar; undefined without one. */
  periodAt: ((at: EpochMs) => Period) | undefined;
  /** In milliseconds; undefined means until the opposite request. */
  window: number | undefined;
  requests: GateRequests;
}

/**
 * The most consecutive steps without a change of state: a planned request, ends of overrides, changes of the calendar.
 */
const MAX_STEPS = 8;

function stateAt(timeline: Timeline, at: EpochMs): GateState {
  const override = overrideAt(timeline, at);
  if (override && at < override.to) return override.state;
  return stateWithoutRequests(timeline, at);
}

/** The next instant after `now` at which the state differs; undefined if it never does by itself. */
function nextChange(timeline: Timeline, now: EpochMs): EpochMs | undefined {
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

/** The override of the newest request at that instant, which may have ended; undefined without a request. */
function overrideAt(timeline: Timeline, at: EpochMs): Override | undefined {
  const { current, planned } = timeline.requests;
  if (planned && at >= planned.at) return overrideOf(timeline, planned);
  return current && overrideOf(timeline, current);
}

function overrideOf({ gate, periodAt, window }: Timeline, request: GateRequest): Override {
  const { at: from, action } = request;
  const state: GateState = { opened: action === 'open' && !request.for, cause: 'request' };
  if (request.for) state.for = request.for;
  const towardsDefault = !request.for && state.opened === (gate.spec.default === 'opened');
  if (request.hasEnded || (!periodAt && towardsDefault)) return { from, to: from, state };
  if (window !== undefined) return { from, to: addWindow(from, window), state };
  if (!periodAt || action === 'close') return { from, to: Number.POSITIVE_INFINITY, state };
  return { from, to: periodAt(from).until ?? Number.POSITIVE_INFINITY, state };
}

function stateWithoutRequests({ gate, periodAt }: Timeline, at: EpochMs): GateState {
  if (periodAt?.(at).active) return { opened: gate.spec.schedule?.action === 'Open', cause: 'schedule' };
  return { opened: gate.spec.default === 'opened', cause: 'default' };
}

/** The next instant at which an input of the state changes. Windows with the default state change nothing. */
function nextStep(timeline: Timeline, at: EpochMs): EpochMs | undefined {
  const { gate, periodAt, requests } = timeline;
  const override = overrideAt(timeline, at);
  const plannedAt = requests.planned?.at;
  const changesState = (gate.spec.schedule?.action === 'Open') !== (gate.spec.default === 'opened');
  const calendarChange = changesState ? periodAt?.(at).until : undefined;
  const next = earliestTime([
    plannedAt !== undefined && plannedAt > at ? plannedAt : undefined,
    override && at < override.to ? override.to : calendarChange,
  ]);
  return Number.isFinite(next) ? next : undefined;
}
