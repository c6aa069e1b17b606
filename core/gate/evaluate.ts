/** Whether a Gate is open: the one answer that hooks and webhooks share. Its rules: docs/gates.md. */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Gate } from '../../api/types.ts';
import { compileCalendar } from '../calendar/calendar.ts';
import { type FieldProblem, problemText } from '../kube/fieldProblem.ts';
import { formatTime } from '../kube/time.ts';
import type { GateRequest, GateRequests } from './acceptedRequests.ts';
import { requestProblems, windowProblems } from './problems.ts';
import { remembered } from './remembered.ts';
import { gateRequestsOf } from './requests.ts';
import { type GateState, nextChange, resetAt, stateAt, steadyUntil, type Timeline } from './timeline.ts';
import { parseWindow } from './timestamp.ts';

export interface GateEvaluation {
  opened: boolean;
  /** The RFC's words: `Gate closed by default`, `Gate scheduled for closing at 2021-03-26T11:00:00Z`, … */
  message: string;
  /** The next instant at which this answer changes by itself. */
  until?: EpochMs;
  requestedAt?: EpochMs;
  resetToDefaultAt?: EpochMs;
  /** The newest request whose time has come; it may be over. */
  request?: GateRequest;
  /** The same, while it is why the gate is as it is. */
  cause?: GateRequest;
  /** A request whose time has not come. */
  planned?: GateRequest;
  /** What was ignored because it does not parse. */
  stalled?: string;
  /** Open for a Rollout about to deploy this tag; everything else sees the gate closed (`opened` is false). */
  openFor?: string;
}

/** Remembered as long as it cannot change. */
export function evaluateGate(gate: Gate, now: EpochMs): GateEvaluation {
  return remembered(gate, now, () => evaluateAfresh(gate, now));
}

/** `until`: the first instant at which anything of it may be another one, not only `opened`. */
export function evaluateAfresh(gate: Gate, now: EpochMs): { value: GateEvaluation; until: EpochMs | undefined } {
  const { timeline, problems } = timelineOf(gate, now);
  return { value: evaluationOf(timeline, problems, now), until: steadyUntil(timeline, now) };
}

function evaluationOf(timeline: Timeline, problems: FieldProblem[], now: EpochMs): GateEvaluation {
  const state = stateAt(timeline, now);
  const until = nextChange(timeline, now);
  const reset = resetAt(timeline);
  const { current, planned } = timeline.requests;
  const cause = isCause(state, reset, current) ? current : undefined;
  const evaluation: GateEvaluation = { opened: state.opened, message: messageOf(state, cause, until) };
  if (state.for) evaluation.openFor = state.for;
  if (until !== undefined) evaluation.until = until;
  if (current) {
    evaluation.request = current;
    evaluation.requestedAt = current.at;
    if (reset !== undefined && Number.isFinite(reset)) evaluation.resetToDefaultAt = reset;
  }
  if (cause) evaluation.cause = cause;
  if (planned) evaluation.planned = planned;
  if (problems.length > 0) evaluation.stalled = problems.map(problemText).join('; ');
  return evaluation;
}

function timelineOf(gate: Gate, now: EpochMs): { timeline: Timeline; problems: FieldProblem[] } {
  const badWindow = windowProblems(gate);
  const compiled = gate.spec.schedule && compileCalendar(gate.spec.schedule, 'spec.schedule');
  const timeline: Timeline = {
    gate,
    calendar: compiled?.calendar,
    window: gate.spec.window === undefined ? undefined : parseWindow(gate.spec.window),
    // How long a request would hold is unknown: none counts.
    requests: badWindow.length > 0 ? { handled: {} } : countingRequests(gate, now),
  };
  return { timeline, problems: [...requestProblems(gate), ...badWindow, ...(compiled?.problems ?? [])] };
}

/** On a Gate with approvals one person's request opens nothing: it ends the closing before it. */
function countingRequests(gate: Gate, now: EpochMs): GateRequests {
  const { current, planned, ...rest } = gateRequestsOf(gate, now);
  const counts = (request: GateRequest | undefined) =>
    gate.spec.approvals && request?.action === 'open' ? undefined : request;
  return { ...rest, current: counts(current), planned: counts(planned) };
}

/** A request towards the default ends at once, and is still why the gate is at its default. */
function isCause(state: GateState, reset: EpochMs | undefined, request: GateRequest | undefined): boolean {
  if (state.cause !== 'default') return state.cause === 'request';
  return request !== undefined && reset === request.at && (request.action === 'open') === state.opened;
}

function messageOf(state: GateState, cause: GateRequest | undefined, until?: EpochMs): string {
  if (state.for) {
    const end = until === undefined ? '' : `, until ${formatTime(until)}`;
    return `Gate opened for version '${state.for}' only${end}`;
  }
  if (until !== undefined) return `Gate scheduled for ${state.opened ? 'closing' : 'opening'} at ${formatTime(until)}`;
  if (state.cause === 'schedule') return `Gate ${state.opened ? 'opened' : 'closed'} by schedule`;
  if (cause) return `Gate ${state.opened ? 'open' : 'close'} requested`;
  return `Gate ${state.opened ? 'opened' : 'closed'} by default`;
}

/**
 * Tells one closing of a Gate from any other: which request made it, and when it ends by itself. Empty for a Gate that is closed
 * by default. A planned request does not count before its time.
 */
export function closingOf({ request, planned, until }: GateEvaluation): string {
  const by = request ? `${request.action}=${formatTime(request.at)}` : '';
  return until === undefined || until === planned?.at ? by : `${by}~${formatTime(until)}`;
}
