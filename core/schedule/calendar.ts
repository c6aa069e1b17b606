/** Calendar rules as people write them, checked and made ready for reckoning. Used by Gates and by RolloutSchedules. */
import { Temporal } from 'temporal-polyfill';
import type { FieldProblem } from './problem.ts';

export interface CalendarRule {
  name?: string;
  /** Wall-clock times `HH:MM`; an end at or before the start is on the next day. */
  timeRange?: { start: string; end: string };
  daysOfWeek?: string[];
  /** Local days `YYYY-MM-DD`, both included. */
  dateRange?: { start: string; end: string };
}

export interface CalendarSpec {
  /** IANA name; absent or empty means UTC. */
  timezone?: string;
  rules: CalendarRule[];
}

export interface Rule {
  name: string;
  start: Temporal.PlainTime;
  end: Temporal.PlainTime;
  /** 1 is Monday, as in ISO 8601; absent means every day. */
  weekdays?: ReadonlySet<number>;
  firstDay?: Temporal.PlainDate;
  lastDay?: Temporal.PlainDate;
}

export interface Calendar {
  timeZone: string;
  rules: Rule[];
}

const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const MIDNIGHT = new Temporal.PlainTime();
const TIME = /^([01]\d|2[0-3]):[0-5]\d$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** The calendar, or every problem found. `path` is where the rules are, e.g. `spec` or `spec.schedule`. */
export function compileCalendar(
  spec: CalendarSpec,
  path: string,
): { calendar: Calendar; problems: [] } | { calendar?: undefined; problems: FieldProblem[] } {
  const problems: FieldProblem[] = [];
  const timeZone = spec.timezone || 'UTC';
  if (!isTimeZone(timeZone)) {
    const reason = 'unknown time zone; expected an IANA name such as Europe/Berlin';
    problems.push({ field: `${path}.timezone`, value: spec.timezone, reason });
  }
  const rules = (spec.rules ?? []).map((rule, i) => compileRule(rule, `${path}.rules[${i}]`, problems));
  return problems.length > 0 ? { problems } : { calendar: { timeZone, rules }, problems: [] };
}

/** A name, not an offset: an offset knows nothing of daylight saving time, and Go's LoadLocation refuses it too. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z]/.test(name) || name === 'Local') return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function compileRule(rule: CalendarRule, path: string, problems: FieldProblem[]): Rule {
  const time = (text: string | undefined, field: string): Temporal.PlainTime => {
    if (text === undefined) return MIDNIGHT;
    if (TIME.test(text)) return Temporal.PlainTime.from(text);
    problems.push({ field, value: text, reason: 'expected a time of day from 00:00 to 23:59' });
    return MIDNIGHT;
  };
  const date = (text: string | undefined, field: string): Temporal.PlainDate | undefined => {
    if (text === undefined) return undefined;
    const day = parseDate(text);
    if (!day) problems.push({ field, value: text, reason: 'no such day; expected YYYY-MM-DD' });
    return day;
  };
  const compiled: Rule = {
    name: rule.name ?? '',
    start: time(rule.timeRange?.start, `${path}.timeRange.start`),
    end: time(rule.timeRange?.end, `${path}.timeRange.end`),
    firstDay: date(rule.dateRange?.start, `${path}.dateRange.start`),
    lastDay: date(rule.dateRange?.end, `${path}.dateRange.end`),
  };
  if (rule.daysOfWeek?.length) {
    rule.daysOfWeek.forEach((day, i) => {
      if (DAYS.includes(day)) return;
      problems.push({ field: `${path}.daysOfWeek[${i}]`, value: day, reason: `expected one of ${DAYS.join(', ')}` });
    });
    compiled.weekdays = new Set(rule.daysOfWeek.map((day) => DAYS.indexOf(day) + 1));
  }
  return compiled;
}

/** The pattern in the CRD lets 2025-02-30 through. */
function parseDate(text: string): Temporal.PlainDate | undefined {
  if (!DATE.test(text)) return undefined;
  try {
    return Temporal.PlainDate.from(text, { overflow: 'reject' });
  } catch {
    return undefined;
  }
}
