/**
 * The instants between which a rule is active.
 *
 * A window belongs to the local day on which it starts: 22:00–06:00 on Fridays ends on Saturday morning. A date range
 * cuts: outside its days the rule is never active. Times are wall-clock times: one that the clock skips means the
 * moment of the jump, one that it shows twice means the first. That mapping never goes backwards, so a window never ends before it starts.
 */
import { Temporal } from 'temporal-polyfill';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Rule } from './calendar.ts';

/** Half open: [from, to). */
export interface Interval {
  from: EpochMs;
  to: EpochMs;
}

const MIDNIGHT = new Temporal.PlainTime();

/** The window that starts on this local day; undefined when there is none. */
export function windowOn(rule: Rule, day: Temporal.PlainDate, timeZone: string): Interval | undefined {
  if (rule.weekdays && !rule.weekdays.has(day.dayOfWeek)) return undefined;
  const overnight = Temporal.PlainTime.compare(rule.end, rule.start) <= 0;
  const lastDay = overnight ? day.add({ days: 1 }) : day;
  // Far from the range: spare the time zone arithmetic.
  if (rule.firstDay && Temporal.PlainDate.compare(lastDay, rule.firstDay) < 0) return undefined;
  if (rule.lastDay && Temporal.PlainDate.compare(day, rule.lastDay) > 0) return undefined;
  let from = instantOf(day, rule.start, timeZone);
  let to = instantOf(lastDay, rule.end, timeZone);
  if (rule.firstDay) from = Math.max(from, startOfDay(rule.firstDay, timeZone));
  if (rule.lastDay) to = Math.min(to, startOfDay(rule.lastDay.add({ days: 1 }), timeZone));
  return from < to ? { from, to } : undefined;
}

export function startOfDay(day: Temporal.PlainDate, timeZone: string): EpochMs {
  return instantOf(day, MIDNIGHT, timeZone);
}

export function localDay(at: EpochMs, timeZone: string): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timeZone).toPlainDate();
}

function instantOf(day: Temporal.PlainDate, time: Temporal.PlainTime, timeZone: string): EpochMs {
  const wall = day.toPlainDateTime(time);
  const zoned = wall.toZonedDateTime(timeZone, { disambiguation: 'earlier' });
  if (zoned.toPlainDateTime().equals(wall)) return zoned.epochMilliseconds;
  return zoned.getTimeZoneTransition('next')!.epochMilliseconds;
}
