/**
 * Whether a Gate is open at an instant, for hooks and webhooks. The first of these rows that applies decides:
 *
 * | decides | state |
 * |---|---|
 * | the newest request whose time has come, until its effect ends | as requested |
 * | an active rule of `spec.schedule` | `spec.schedule.action` |
 * | the default | `spec.default` |
 *
 * The effect of a request ends:
 *
 * | request | with `spec.window` | without |
 * |---|---|---|
 * | for the default state, without a schedule | at once: it only ends the request before it | at once |
 * | for the other state, without a schedule | after the window | with the opposite request |
 * | to close, beside a schedule | after the window | with the opposite request |
 * | to open, beside a schedule | after the window | at the calendar's next change: a hotfix ends no later freeze |
 *
 * An exception is no part of the state. It lasts as long as an opening would, or until the next request to close.
 */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { type Period, periodsOf } from '../calendar/activeRules.ts';
import { compileCalendar } from '../calendar/calendarRules.ts';
import { memoizeByObject } from '../collection/memo.ts';
import { type FieldProblem, problemText } from '../kube/fieldProblem.ts';
import { earliestTime, formatTime } from '../kube/time.ts';
import { requestProblems, windowProblems } from './gateProblems.ts';
import {
  addWindow,
  asEnded,
  type Exception,
  type GateRequest,
  type GateRequests,
  gateRequestsOf,
  parseWindow,
} from './gateRequests.ts';

/** The state of a Gate at one instant: open or closed. */
export interface GateEvaluation {
  opened: boolean;
  /** The version that passes although the Gate is closed, see `targetsVersion`; undefined while it is open. */
  openFor?: string | undefined;
  /** The RFC's words: `Gate closed by default`, `Gate scheduled for closing at 2021-03-26T11:00:00Z`, … */
  message: string;
  /** The next instant at which `opened` changes by itself. */
  until?: EpochMs | undefined;
  /** Identifies the closure: see closureOf. */
  closure?: string | undefined;
  resetToDefaultAt?: EpochMs | undefined;
  /** The newest request whose time has come; it may be over. */
  request?: GateRequest | undefined;
  /** `request`, if it is the reason for the present state. */
  cause?: GateRequest | undefined;
  /** A request whose time has not come. */
  planned?: GateRequest | undefined;
  /** The exception that counts, now or from its time on. */
  exception?: CountingException | undefined;
  /** The problems of fields and requests that are ignored because they do not parse. */
  stalled?: string | undefined;
  /** Whether no request opens the Gate: it has approvals, and would be closed without the requests to close too. */
  opensByApprovalsOnly: boolean;
}

/** An exception with its end; undefined: until a request to close. */
export type CountingException = Exception & { until?: EpochMs | undefined };

/** The Gate's state at `now`, by its spec, its requests and the time alone. */
export function evaluateGate(gate: Gate, now: EpochMs): GateEvaluation {
  const { timeline, problems } = timelineOf(gate, now);
  const state = stateAt(timeline, now);
  const until = nextChange(timeline, now);
  const exception = exceptionAt(timeline, now);
  const { current, planned } = timeline.requests;
  // Infinity: only the opposite request ends the effect of the current one.
  const reset = current && effectEnd(timeline, current);
  const cause = isCause(state, reset, current) ? current : undefined;
  return {
    opened: state.opened,
    openFor: exception && !state.opened && exception.at <= now ? exception.for : undefined,
    message: messageOf(state, cause, until),
    until,
    closure: state.opened ? undefined : closureOf(timeline, now),
    request: current,
    resetToDefaultAt: Number.isFinite(reset) ? reset : undefined,
    cause,
    planned,
    exception,
    opensByApprovalsOnly: gate.spec.approvals !== undefined && !stateWithoutRequests(timeline, now).opened,
    stalled: problems.length > 0 ? problems.map(problemText).join('; ') : undefined,
  };
}

// The rules of the tables above.

interface GateState {
  opened: boolean;
  cause: 'default' | 'schedule' | 'request';
}

/** The inputs of the state at any instant. */
interface Timeline {
  gate: Gate;
  /** The periods of the calendar; undefined without one. */
  periodAt: ((at: EpochMs) => Period) | undefined;
  /** In milliseconds; undefined means until the opposite request. */
  window: number | undefined;
  /** The requests that count. */
  requests: GateRequests;
  /** The newest request whose time has come, even one that only ends a closure. */
  newest: GateRequest | undefined;
}

function stateAt(timeline: Timeline, at: EpochMs): GateState {
  const request = requestAt(timeline, at);
  if (request && at < effectEnd(timeline, request)) return { opened: request.action === 'open', cause: 'request' };
  return stateWithoutRequests(timeline, at);
}

/** The newest request whose time has come at that instant; its effect may have ended. */
function requestAt({ requests: { current, planned } }: Timeline, at: EpochMs): GateRequest | undefined {
  return planned && at >= planned.at ? planned : current;
}

/** The end of a request's effect; Infinity means until the opposite request. */
function effectEnd(timeline: Timeline, request: GateRequest): EpochMs {
  const { gate, periodAt } = timeline;
  const isForDefault = (request.action === 'open') === (gate.spec.default === 'opened');
  return request.hasEnded || (isForDefault && !periodAt) ? request.at : longestEnd(timeline, request);
}

/** The end of a request's effect, as far as window and calendar decide. */
function longestEnd({ periodAt, window }: Timeline, { at, action }: GateRequest): EpochMs {
  if (window !== undefined) return addWindow(at, window);
  const isUntilNextChange = periodAt && action === 'open';
  return (isUntilNextChange ? periodAt(at).until : undefined) ?? Number.POSITIVE_INFINITY;
}

function stateWithoutRequests({ gate, periodAt }: Timeline, at: EpochMs): GateState {
  if (periodAt?.(at).active) return { opened: gate.spec.schedule?.action === 'Open', cause: 'schedule' };
  return { opened: gate.spec.default === 'opened', cause: 'default' };
}

// The inputs: spec, schedule and requests.

function timelineOf(gate: Gate, now: EpochMs): { timeline: Timeline; problems: FieldProblem[] } {
  const badWindow = windowProblems(gate);
  const compiled = gate.spec.schedule && compileSchedule(gate.spec.schedule);
  // With an invalid window the end of a request is unknown, so none counts.
  const requests: GateRequests = badWindow.length > 0 ? {} : gateRequestsOf(gate, now);
  const timeline: Timeline = {
    gate,
    periodAt: compiled?.periodAt,
    window: gate.spec.window === undefined ? undefined : parseWindow(gate.spec.window),
    requests: gate.spec.approvals ? closuresOf(requests) : requests,
    newest: requests.current,
  };
  return { timeline, problems: [...requestProblems(gate), ...badWindow, ...(compiled?.problems ?? [])] };
}

/** The periods of each schedule: a Gate is evaluated for each version that a Rollout may deploy. */
const compileSchedule = memoizeByObject((schedule: NonNullable<Gate['spec']['schedule']>) => {
  const { calendar, problems } = compileCalendar(schedule, 'spec.schedule');
  return { periodAt: calendar && periodsOf(calendar), problems };
});

/** The requests that count on a Gate with approvals, where a request to open only ends the closure before it. */
function closuresOf({ current, planned }: GateRequests): GateRequests {
  const closure = current?.action === 'close' ? current : undefined;
  const plan = planned?.action === 'open' ? closure && asEnded(planned) : planned;
  return { current: closure, planned: plan };
}

// What follows from the state at each instant.

/**
 * The most consecutive steps without a change of state: a planned request, ends of requests, changes of the calendar.
 */
const MAX_STEPS = 8;

/** The next instant after `now` at which the state differs; undefined if it never does by itself. */
function nextChange(timeline: Timeline, now: EpochMs): EpochMs | undefined {
  const { opened } = stateAt(timeline, now);
  let at: EpochMs | undefined = now;
  for (let step = 0; step < MAX_STEPS; step++) {
    at = nextStep(timeline, at);
    if (at === undefined) return undefined;
    if (stateAt(timeline, at).opened !== opened) return at;
  }
  return undefined;
}

/** The next instant at which an input of the state changes. Windows with the default state change nothing. */
function nextStep(timeline: Timeline, at: EpochMs): EpochMs | undefined {
  const { gate, periodAt, requests } = timeline;
  const request = requestAt(timeline, at);
  const end = request && effectEnd(timeline, request);
  const plannedAt = requests.planned?.at;
  const changesState = (gate.spec.schedule?.action === 'Open') !== (gate.spec.default === 'opened');
  const calendarChange = changesState ? periodAt?.(at).until : undefined;
  const next = earliestTime([
    plannedAt !== undefined && plannedAt > at ? plannedAt : undefined,
    end !== undefined && at < end ? end : calendarChange,
  ]);
  return Number.isFinite(next) ? next : undefined;
}

/**
 * Identifies a closure of a Gate by the request that made it and the time at which it ends by itself. undefined for a
 * Gate that is closed by default. A planned request doesn't count before its time, and changes no end.
 */
function closureOf(timeline: Timeline, now: EpochMs): string | undefined {
  const { newest, requests } = timeline;
  // With approvals, a request to open that has ended a closure begins another one.
  const by = newest ? `${newest.action}=${formatTime(newest.at)}` : '';
  const end = nextChange({ ...timeline, requests: { current: requests.current } }, now);
  return (end === undefined ? by : `${by}~${formatTime(end)}`) || undefined;
}

function exceptionAt(timeline: Timeline, now: EpochMs): CountingException | undefined {
  const { exception, planned } = timeline.requests;
  if (!exception || exception.hasEnded) return undefined;
  const isClosedAfter = planned?.action === 'close' && planned.at >= exception.at;
  const end = Math.min(longestEnd(timeline, exception), isClosedAfter ? planned.at : Number.POSITIVE_INFINITY);
  return end <= Math.max(now, exception.at) ? undefined : { ...exception, ...(Number.isFinite(end) && { until: end }) };
}

/** The next instant at which the exception begins or ends by itself. */
export function exceptionChange({ at, until }: CountingException, now: EpochMs): EpochMs | undefined {
  return at > now ? at : until;
}

/**
 * Whether the request is the reason for the state. A request for the default state is, although its effect ends at
 * once; but not an opening that had ended before the default changed.
 */
function isCause(state: GateState, reset: EpochMs | undefined, request: GateRequest | undefined): boolean {
  if (state.cause !== 'default') return state.cause === 'request';
  if (!request || reset !== request.at || (request.action === 'open') !== state.opened) return false;
  return !(state.opened && request.hasEnded);
}

function messageOf(state: GateState, cause: GateRequest | undefined, until: EpochMs | undefined): string {
  if (until !== undefined) return `Gate scheduled for ${state.opened ? 'closing' : 'opening'} at ${formatTime(until)}`;
  if (state.cause === 'schedule') return `Gate ${state.opened ? 'opened' : 'closed'} by schedule`;
  if (cause) return `Gate ${state.opened ? 'open' : 'close'} requested`;
  return `Gate ${state.opened ? 'opened' : 'closed'} by default`;
}

/**
 * Whether the effect of the newest request has ended. A closure that the default has made superfluous still counts,
 * because it lasts until a user opens the Gate. So does any request with an invalid window, whose end is unknown.
 */
export function isNewestOver(gate: Gate, now: EpochMs): boolean {
  const { timeline } = timelineOf(gate, now);
  const { window, requests } = timeline;
  if (windowProblems(gate).length > 0) return false;
  if (requests.current?.action !== 'close') return !requests.current || effectEnd(timeline, requests.current) <= now;
  return window !== undefined && addWindow(requests.current.at, window) <= now;
}
