import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { activeRules, isActive, nextTransition } from '../../../core/calendar/activeRules.ts';
import { type CalendarRule, type CalendarSpec, compileCalendar, DAYS } from '../../../core/calendar/calendarRules.ts';
import { problemText } from '../../../core/kube/fieldProblem.ts';
import { formatTime } from '../../../core/kube/time.ts';

const calendar = (spec: CalendarSpec) => compileCalendar(spec, 'spec').calendar!;

describe('calendar rules', () => {
  interface Case extends CalendarSpec {
    name: string;
    at: string;
    active: string[];
    next?: string;
  }
  const cases = parse(readFileSync(join(import.meta.dirname, '../../scenario/schedule/rules.yaml'), 'utf8')) as Case[];
  it.each(cases)('$name', ({ timezone, rules, at, active, next }) => {
    const compiled = calendar({ ...(timezone !== undefined && { timezone }), rules });
    const now = Date.parse(at);
    const change = nextTransition(compiled, now);
    expect(activeRules(compiled, now)).toEqual(active);
    expect(change && formatTime(change)).toBe(next);
  });
});

it('more than a thousand rules, which only a forged request has, are a problem', () => {
  const { problems } = compileCalendar({ rules: Array.from({ length: 1001 }, () => ({})) }, 'spec');
  expect(problems.map(problemText)).toEqual(['spec.rules: Invalid value: 1001: expected 1000 rules at most']);
});

describe('an invalid schedule is reported with its field', () => {
  const one = (rule: CalendarRule, timezone = 'UTC'): CalendarSpec => ({ timezone, rules: [rule] });
  it.each<[CalendarSpec, string]>([
    [one({}, '+01:00'), 'spec.timezone: Invalid value: "+01:00"'],
    [one({}, 'Local'), 'spec.timezone: Invalid value: "Local"'],
    [one({}, 'PST'), 'spec.timezone: Invalid value: "PST": unknown time zone'],
    [
      one({ dateRange: { start: '2025-13-45', end: '2025-12-31' } }),
      'spec.rules[0].dateRange.start: Invalid value: "2025-13-45": no such day',
    ],
    [
      one({ dateRange: { start: '2025-01-01', end: '2025-02-29' } }),
      'spec.rules[0].dateRange.end: Invalid value: "2025-02-29": no such day',
    ],
    [one({ timeRange: { start: '24:00', end: '06:00' } }), 'spec.rules[0].timeRange.start: Invalid value: "24:00"'],
    [one({ daysOfWeek: ['Funday'] }), 'spec.rules[0].daysOfWeek[0]: Invalid value: "Funday"'],
  ])('%j', (spec, text) => {
    expect(compileCalendar(spec, 'spec').problems.map(problemText)).toEqual([expect.stringContaining(text)]);
  });
});

describe('for every calendar', () => {
  const T0 = Date.parse('2026-01-01T00:00:00Z');
  const clock = fc
    .tuple(fc.integer({ min: 0, max: 23 }), fc.constantFrom('00', '15', '30', '59'))
    .map(([hour, minute]) => `${String(hour).padStart(2, '0')}:${minute}`);
  const day = fc.integer({ min: 0, max: 400 }).map((n) => formatTime(T0 + n * 86_400_000).slice(0, 10));
  const rule: fc.Arbitrary<CalendarRule> = fc.record(
    {
      timeRange: fc.record({ start: clock, end: clock }),
      daysOfWeek: fc.uniqueArray(fc.constantFrom('Monday', 'Friday', 'Saturday', 'Sunday'), { minLength: 1 }),
      dateRange: fc.record({ start: day, end: day }),
    },
    { requiredKeys: [] },
  );
  const timezone = fc.constantFrom('UTC', 'Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe');
  const calendars = fc.record({ timezone, rules: fc.array(rule, { minLength: 1, maxLength: 3 }) }).map(calendar);
  /** Of rules that together are often active all week, for as long as their ranges last. */
  const part: fc.Arbitrary<CalendarRule> = fc.constantFrom<CalendarRule>(
    {},
    { timeRange: { start: '06:00', end: '18:00' } },
    { timeRange: { start: '18:00', end: '06:00' } },
    { daysOfWeek: DAYS.slice(0, 5) },
    { daysOfWeek: DAYS.slice(5) },
  );
  const range = fc.record({ dateRange: fc.record({ start: day, end: day }) }, { requiredKeys: [] });
  const coverings = fc
    .record({
      timezone,
      rules: fc.array(
        fc.tuple(part, range).map(([some, dates]) => ({ ...some, ...dates })),
        { minLength: 4, maxLength: 12 },
      ),
    })
    .map(calendar);
  /** Half of them are near a change of the clocks. */
  const instant = fc.oneof(
    fc.integer({ min: 0, max: 365 * 86_400 }).map((s) => T0 + s * 1000),
    fc
      .tuple(
        fc.constantFrom(
          '2026-03-29T01:00Z',
          '2026-10-25T01:00Z',
          '2026-03-08T07:00Z',
          '2026-11-01T06:00Z',
          '2026-10-03T15:30Z',
          '2026-04-04T15:00Z',
        ),
        fc.integer({ min: -200, max: 200 }),
      )
      .map(([at, minutes]) => Date.parse(at) + minutes * 60_000),
  );

  it.each([
    ['any rules', calendars],
    ['parts of a week', coverings],
  ])(
    'the state flips exactly at its next transition, and never before: %s',
    (_, all) => {
      fc.assert(
        fc.property(
          all,
          instant,
          fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 4 }),
          (of, now, parts) => {
            const active = isActive(of, now);
            const next = nextTransition(of, now) ?? now + 3 * 365 * 86_400_000;
            const before = parts.map((part) => now + Math.floor((next - 1 - now) * part));
            return (
              next > now &&
              [...before, next - 1].every((at) => isActive(of, at) === active) &&
              (nextTransition(of, now) === undefined || isActive(of, next) !== active)
            );
          },
        ),
        { numRuns: 200 },
      );
    },
    20_000,
  );
});
