/** The active rules of a calendar, and when they change next. */
import type { EpochMs } from '../../api/kubernetes.ts';
import { Memo } from '../collection/memo.ts';
import { LAST_INSTANT } from '../kube/time.ts';
import type { Calendar, Rule } from './calendarRules.ts';
import { instantOf, localDay, startOfDay } from './localTime.ts';

/** The names of the active rules, in the order of the calendar; an unnamed rule is ''. */
export function activeRules(calendar: Calendar, now: EpochMs): string[] {
  const today = localDay(now, calendar.timeZone);
  return calendar.rules
    .filter((rule) => touches(rule, today, today) && ruleActive(rule, today, calendar.timeZone, now))
    .map((rule) => rule.name);
}

export function isActive(calendar: Calendar, now: EpochMs): boolean {
  return activeRules(calendar, now).length > 0;
}

/** A time in which the calendar as a whole stays active or inactive. */
export interface Period {
  active: boolean;
  /** undefined: forever. */
  until: EpochMs | undefined;
}

/** A cache of each calendar's last periods, with the instant from which each is known. */
const periods = new Memo<(Period & { from: EpochMs })[]>(1000);
/** The periods cached for each calendar: one evaluation of a Gate needs two or three. */
const KEPT_PERIODS = 8;

/**
 * A function that returns the calendar's period at an instant. Periods are cached by the calendar's content: a Gate is
 * evaluated in every write and every sync of each object that it holds, and a tenant may write 64 rules.
 */
export function periodsOf({ timeZone, rules }: Calendar): (at: EpochMs) => Period {
  const content = rules.map(({ start, end, weekdays, firstDay, lastDay }) => [
    start,
    end,
    weekdays && [...weekdays],
    firstDay,
    lastDay,
  ]);
  const known = periods.get(JSON.stringify([timeZone, content]), () => []);
  const calendar = { timeZone, rules };
  return (at) => {
    const found = known.find(({ from, until }) => from <= at && (until === undefined || at < until));
    if (found) return found;
    const period = { from: at, active: isActive(calendar, at), until: nextTransition(calendar, at) };
    known.unshift(period);
    known.length = Math.min(known.length, KEPT_PERIODS);
    return period;
  };
}

/**
 * The days to search ahead: first the likely ones, then more than two weeks, because a clock change can skip a week's
 * only window.
 */
const SEARCH_DAYS = [2, 17];

/**
 * The next time at which the calendar as a whole becomes active or inactive; rules that overlap or adjoin count as one.
 * undefined if that never happens, or only after the last time that can be stored: a range until `9999-12-31` has no
 * end.
 */
export function nextTransition(calendar: Calendar, now: EpochMs): EpochMs | undefined {
  const next = nextOfAll(calendar, now);
  return next !== undefined && next <= LAST_INSTANT ? next : undefined;
}

function nextOfAll(calendar: Calendar, now: EpochMs): EpochMs | undefined {
  const today = localDay(now, calendar.timeZone);
  for (const span of SEARCH_DAYS) {
    const found = changeWithin(calendar, now, today, span);
    if (found !== undefined) return found;
  }
  // After the searched days, all weeks are alike until a date range ends, or begins if the calendar is inactive.
  const active = isActive(calendar, now);
  const weekly = weeklyWindows(calendar.rules);
  for (const day of rangeEdges(calendar, today, active)) {
    if (active && coverWeek(weekly, day)) continue;
    const found = changeWithin(calendar, now, day, SEARCH_DAYS.at(-1)!);
    if (found !== undefined) return found;
  }
  return undefined;
}

function ruleActive(rule: Rule, today: number, timeZone: string, now: EpochMs): boolean {
  return [today - 1, today].some((day) => {
    const window = windowOn(rule, day, timeZone);
    return window !== undefined && window.from <= now && now < window.to;
  });
}

/** The next change in the windows around `day`. The calendar must not change between `now` and the previous day. */
function changeWithin(calendar: Calendar, now: EpochMs, day: number, span: number): EpochMs | undefined {
  const merged = mergedWindows(calendar, day - 2, span + 2);
  // Most holidays in a long list are far away, and time zone arithmetic costs more than everything else.
  if (merged.length === 0) return undefined;
  const horizon = startOfDay(day + span + 1, calendar.timeZone);
  // The windows of earlier days aren't computed, so an end before this time may lie within one of them.
  const since = Math.max(now, startOfDay(day - 1, calendar.timeZone));
  const active = isActive(calendar, now);
  if (!active) return merged.find(({ from }) => from > since)?.from;
  const end = merged.find(({ from, to }) => to > since && from < horizon)?.to;
  // An end at the horizon merely ends the search.
  return end !== undefined && end < horizon ? end : undefined;
}

/** Whether the rule's date range includes one of these days. Most days of a holiday list are in other years. */
function touches({ firstDay, lastDay }: Rule, from: number, to: number): boolean {
  return (firstDay === undefined || firstDay <= to) && (lastDay === undefined || lastDay >= from);
}

function mergedWindows(calendar: Calendar, first: number, days: number): Interval[] {
  const windows: Interval[] = [];
  const rules = calendar.rules.filter((rule) => touches(rule, first, first + days + 1));
  for (let i = 0; i <= days; i++) {
    for (const rule of rules) {
      const window = windowOn(rule, first + i, calendar.timeZone);
      if (window) windows.push(window);
    }
  }
  windows.sort((a, b) => a.from - b.from);
  const merged: Interval[] = [];
  for (const window of windows) {
    const last = merged.at(-1);
    if (last && window.from <= last.to) last.to = Math.max(last.to, window.to);
    else merged.push({ ...window });
  }
  return merged;
}

const MINUTES_PER_DAY = 1440;
/** The days of a week, and the day before it, whose windows may end in the week. */
const WEEK = [-1, 0, 1, 2, 3, 4, 5, 6];

/** The windows of the rules in any week, ignoring date ranges, in minutes and sorted by start. */
function weeklyWindows(rules: readonly Rule[]): (Interval & { rule: Rule })[] {
  const windows = rules.flatMap((rule) => {
    const days = WEEK.filter((day) => rule.weekdays?.has(weekday(day)) ?? true);
    const minutes = rule.end <= rule.start ? rule.end + MINUTES_PER_DAY : rule.end;
    return days.map((day) => ({ rule, from: day * MINUTES_PER_DAY + rule.start, to: day * MINUTES_PER_DAY + minutes }));
  });
  return windows.sort((a, b) => a.from - b.from);
}

/** Whether the rules of this day are active at every time of every week. */
function coverWeek(windows: ReturnType<typeof weeklyWindows>, day: number): boolean {
  let covered = 0;
  for (const { rule, from, to } of windows) {
    if (!touches(rule, day, day)) continue;
    if (from > covered) return false;
    covered = Math.max(covered, to);
  }
  return covered >= 7 * MINUTES_PER_DAY;
}

function rangeEdges({ rules }: Calendar, today: number, active: boolean): number[] {
  const afterLast = ({ lastDay }: Rule) => (lastDay === undefined ? undefined : lastDay + 1);
  const edges = rules.map((rule) => (active ? afterLast(rule) : rule.firstDay));
  return [...new Set(edges)].filter((day) => day !== undefined && day > today).sort((a, b) => a! - b!) as number[];
}

// Windows, in which a rule is active. A window belongs to the local day on which it starts: 22:00–06:00 on Fridays ends
// on Saturday morning. A date range cuts the window, because a rule is never active outside the range. Wall-clock times
// never go backwards (localTime.ts), so a window never ends before it starts.

/** The instants from `from` (included) to `to` (excluded). */
interface Interval {
  from: EpochMs;
  to: EpochMs;
}

/** The window that starts on this local day; undefined if there is none. */
function windowOn(rule: Rule, day: number, timeZone: string): Interval | undefined {
  if (rule.weekdays && !rule.weekdays.has(weekday(day))) return undefined;
  const lastDay = rule.end <= rule.start ? day + 1 : day;
  // Outside the range, this saves the time zone arithmetic.
  if (rule.firstDay !== undefined && lastDay < rule.firstDay) return undefined;
  if (rule.lastDay !== undefined && day > rule.lastDay) return undefined;
  let from = instantOf(day, rule.start, timeZone);
  let to = instantOf(lastDay, rule.end, timeZone);
  if (rule.firstDay !== undefined && day < rule.firstDay) from = Math.max(from, startOfDay(rule.firstDay, timeZone));
  if (rule.lastDay !== undefined && lastDay > rule.lastDay) to = Math.min(to, startOfDay(rule.lastDay + 1, timeZone));
  return from < to ? { from, to } : undefined;
}

/** The day of the week; 1 is Monday. Day 0, 1970-01-01, was a Thursday. */
function weekday(day: number): number {
  return ((((day + 3) % 7) + 7) % 7) + 1;
}
