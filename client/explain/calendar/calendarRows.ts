/** The states of a Gate or a schedule over the coming weeks, by what is known now. */
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { ClusterRolloutSchedule, Gate, RolloutSchedule } from '../../../api/types.ts';
import { activeRules, isActive, nextTransition } from '../../../core/calendar/activeRules.ts';
import { compileCalendar } from '../../../core/calendar/calendarRules.ts';
import { scheduleProblems } from '../../../core/calendar/schedulePlan.ts';
import { evaluateGate } from '../../../core/gate/gateTimeline.ts';
import { identityOf } from '../../../core/kube/names.ts';
import { formatTime } from '../../../core/kube/time.ts';
import { countOf } from '../../../core/text/count.ts';
import { gateText } from '../gateText.ts';

/** An interval, half open: [from, to). */
export interface Span {
  from: string;
  to: string;
  state: 'open' | 'closed';
  /** The cause: `closed by sre: INC-42`, `closed by its schedule`, the names of the rules. */
  why: string;
  /** Set if it begins with a planned request. */
  planned?: true;
}

export interface CalendarRow {
  kind: 'Gate' | 'RolloutSchedule' | 'ClusterRolloutSchedule';
  /** The namespace; empty for a ClusterRolloutSchedule. */
  namespace: string;
  name: string;
  /** The number of held objects or Rollouts, as text. */
  holds: string;
  spans: Span[];
  /** The problem of an invalid setting. */
  problem?: string;
}

/** The most intervals that are computed: more than a calendar of sixty-four rules has in a few weeks. */
const MAX_INTERVALS = 500;

/** The intervals between two instants in which the result of `evaluate` stays the same, by its `until`. */
function intervals<T extends { until?: EpochMs | undefined }>(
  from: EpochMs,
  to: EpochMs,
  evaluate: (at: EpochMs) => T,
  most = MAX_INTERVALS,
): { at: EpochMs; value: T }[] {
  const found: { at: EpochMs; value: T }[] = [];
  for (let at: EpochMs | undefined = from; at !== undefined && at < to && found.length < most; ) {
    const value: T = evaluate(at);
    found.push({ at, value });
    at = value.until !== undefined && value.until > at ? value.until : undefined;
  }
  return found;
}

/**
 * The row of a Gate in the calendar.
 * @param most the most intervals that are computed
 */
export function gateRow(gate: Gate, from: EpochMs, to: EpochMs, most?: number): CalendarRow {
  const evaluated = intervals(from, to, (at) => evaluateGate(gate, at), most);
  const stalled = evaluated[0]?.value.stalled;
  return {
    kind: 'Gate',
    ...identityOf(gate),
    holds: heldText(gate.status?.requiredByCount, 'object'),
    spans: evaluated.map(({ at, value }) => {
      const { opened, cause, until = to } = value;
      return {
        ...spanTimes(at, Math.min(until, to)),
        state: opened ? 'open' : 'closed',
        why: gateText(gate, at, value),
        ...(cause && cause.at > from && { planned: true as const }),
      };
    }),
    ...(stalled && { problem: stalled }),
  };
}

/** The row of a schedule. Its action decides whether its RolloutGates are closed inside or outside of its windows. */
export function scheduleRow(
  schedule: RolloutSchedule | ClusterRolloutSchedule,
  from: EpochMs,
  to: EpochMs,
  most?: number,
): CalendarRow {
  const { spec, status } = schedule;
  const row = {
    kind: schedule.kind as CalendarRow['kind'],
    ...identityOf(schedule),
    holds: heldText(status?.matchingRollouts, 'Rollout'),
  };
  // A stored schedule may have no spec.
  const calendar = spec && compileCalendar(spec, 'spec').calendar;
  if (!calendar) {
    const problems = scheduleProblems(schedule).map(({ field, reason }) => `${field}: ${reason}`);
    return { ...row, spans: [], problem: problems.join('; ') };
  }
  const evaluate = (at: EpochMs) => ({
    active: isActive(calendar, at),
    rules: activeRules(calendar, at).filter((name) => name !== ''),
    until: nextTransition(calendar, at),
  });
  const evaluated = intervals(from, to, evaluate, most);
  const spans = evaluated.map(({ at, value: { active, rules, until = to } }) => ({
    ...spanTimes(at, Math.min(until, to)),
    state: active === (spec?.action === 'Allow') ? ('open' as const) : ('closed' as const),
    why: active ? rules.join(', ') || 'in a window' : 'outside of its windows',
  }));
  return { ...row, spans };
}

function heldText(count: number | undefined, noun: string): string {
  return count === undefined ? '' : countOf(count, noun);
}

function spanTimes(from: EpochMs, to: EpochMs): Pick<Span, 'from' | 'to'> {
  return { from: formatTime(from), to: formatTime(to) };
}
