/** The calendars of Gates and schedules: checks and compiles the rules in their specs. */
import type { FieldProblem } from '../kube/fieldProblem.ts';
import { dayNumber } from '../kube/time.ts';
import { isTimeZone } from './localTime.ts';

/** One rule of a calendar, as in the spec of a Gate or schedule. */
export interface CalendarRule {
  name?: string;
  /** Wall-clock times `HH:MM`; an end at or before the start is on the next day. */
  timeRange?: { start: string; end: string };
  daysOfWeek?: string[];
  /** Local days `YYYY-MM-DD`, both included. */
  dateRange?: { start: string; end: string };
}

/** A calendar, as in the spec of a Gate or schedule. */
export interface CalendarSpec {
  /** An IANA name; absent or empty means UTC. */
  timezone?: string;
  rules: CalendarRule[];
}

/** A compiled rule. */
export interface Rule {
  name: string;
  /** Minutes after midnight. */
  start: number;
  end: number;
  /** 1 is Monday (ISO 8601); absent means every day. */
  weekdays?: ReadonlySet<number>;
  /** Days from 1970-01-01. */
  firstDay?: number;
  lastDay?: number;
}

/** A compiled calendar. */
export interface Calendar {
  timeZone: string;
  rules: Rule[];
}

/** The days of a week, from Monday (ISO 8601). */
export const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const MIDNIGHT = 0;
const TIME = /^([01]\d|2[0-3]):[0-5]\d$/;
/** The form of a day. Like the CRD's pattern, it allows 2025-02-30. */
const DATE = /^\d{4}-\d{2}-\d{2}$/;

/**
 * Far more rules than the CRDs take. Any client may send the webhook a review, and the work grows with the square of
 * the number of rules: 40,000 would stop the server for minutes.
 */
const MAX_RULES = 1000;

/**
 * The calendar, or all problems of its rules.
 * @param path the field that has the rules, such as `spec` or `spec.schedule`
 */
export function compileCalendar(
  spec: CalendarSpec,
  path: string,
): { calendar: Calendar; problems: [] } | { calendar?: undefined; problems: FieldProblem[] } {
  const problems: FieldProblem[] = [];
  const { length } = spec.rules ?? [];
  if (length > MAX_RULES) {
    const reason = `expected ${MAX_RULES} rules at most`;
    return { problems: [{ field: `${path}.rules`, value: length, reason }] };
  }
  const timeZone = spec.timezone || 'UTC';
  if (!isTimeZone(timeZone)) {
    const reason = 'unknown time zone; expected an IANA name such as Europe/Berlin';
    problems.push({ field: `${path}.timezone`, value: spec.timezone, reason });
  }
  const rules = (spec.rules ?? []).map((rule, i) => compileRule(rule, `${path}.rules[${i}]`, problems));
  return problems.length > 0 ? { problems } : { calendar: { timeZone, rules }, problems: [] };
}

function compileRule(rule: CalendarRule, path: string, problems: FieldProblem[]): Rule {
  const time = (text: string | undefined, field: string): number => {
    if (text === undefined) return MIDNIGHT;
    if (TIME.test(text)) return Number(text.slice(0, 2)) * 60 + Number(text.slice(3));
    problems.push({ field, value: text, reason: 'expected a time of day from 00:00 to 23:59' });
    return MIDNIGHT;
  };
  const date = (text: string | undefined, field: string): number | undefined => {
    if (text === undefined) return undefined;
    const day = DATE.test(text) ? dayNumber(text) : undefined;
    if (day === undefined) problems.push({ field, value: text, reason: 'no such day; expected YYYY-MM-DD' });
    return day;
  };
  const start = time(rule.timeRange?.start, `${path}.timeRange.start`);
  const end = time(rule.timeRange?.end, `${path}.timeRange.end`);
  const firstDay = date(rule.dateRange?.start, `${path}.dateRange.start`);
  const lastDay = date(rule.dateRange?.end, `${path}.dateRange.end`);
  const compiled: Rule = { name: rule.name ?? '', start, end, firstDay, lastDay };
  if (rule.daysOfWeek?.length) {
    rule.daysOfWeek.forEach((day, i) => {
      if (DAYS.includes(day)) return;
      problems.push({ field: `${path}.daysOfWeek[${i}]`, value: day, reason: `expected one of ${DAYS.join(', ')}` });
    });
    compiled.weekdays = new Set(rule.daysOfWeek.map((day) => DAYS.indexOf(day) + 1));
  }
  return compiled;
}

/** Warnings about valid rules that do nothing, or more than they seem to: sentences of at most 120 characters. */
export function scheduleWarnings(rules: readonly CalendarRule[]): string[] {
  return rules.flatMap(({ timeRange, dateRange }, i) => {
    const warnings: string[] = [];
    if (dateRange && dateRange.end < dateRange.start) {
      warnings.push(`rules[${i}].dateRange ends before it starts: the rule is never active`);
    }
    if (timeRange && timeRange.start === timeRange.end) {
      warnings.push(`rules[${i}].timeRange starts and ends at ${timeRange.start}: the window lasts the whole day`);
    }
    return warnings;
  });
}
