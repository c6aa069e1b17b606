/**
 * The instants between which a rule is active.
 *
 * A window belongs to the local day on which it starts: 22:00–06:00 on Fridays ends on Saturday morning. A date range
 * cuts: outside its days the rule is never active. Times are wall-clock times, which never go backwards (localTime.ts), so
 * a window never ends before it starts.
 */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Rule } from './calendar.ts';
import { instantOf, startOfDay } from './localTime.ts';

/** Half open: [from, to). */
export interface Interval {
  from: EpochMs;
  to: EpochMs;
}

/** The window that starts on this local day; undefined when there is none. */
export function windowOn(rule: Rule, day: number, timeZone: string): Interval | undefined {
  if (rule.weekdays && !rule.weekdays.has(weekday(day))) return undefined;
  const lastDay = rule.end <= rule.start ? day + 1 : day;
  // Far from the range: spare the time zone arithmetic.
  if (rule.firstDay !== undefined && lastDay < rule.firstDay) return undefined;
  if (rule.lastDay !== undefined && day > rule.lastDay) return undefined;
  let from = instantOf(day, rule.start, timeZone);
  let to = instantOf(lastDay, rule.end, timeZone);
  if (rule.firstDay !== undefined && day < rule.firstDay) from = Math.max(from, startOfDay(rule.firstDay, timeZone));
  if (rule.lastDay !== undefined && lastDay > rule.lastDay) to = Math.min(to, startOfDay(rule.lastDay + 1, timeZone));
  return from < to ? { from, to } : undefined;
}

/** 1 is Monday. 1970-01-01 was a Thursday. */
function weekday(day: number): number {
  return ((((day + 3) % 7) + 7) % 7) + 1;
}
