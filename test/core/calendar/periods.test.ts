/** The periods of a calendar: their cost, and the equality of cached ones with what is computed anew. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isActive, nextTransition, periodsOf } from '../../../core/calendar/activeRules.ts';
import { type CalendarRule, compileCalendar } from '../../../core/calendar/calendarRules.ts';
import { formatTime } from '../../../core/kube/time.ts';
import { costInReadings } from '../../support/cost.ts';

const calendarOf = (rules: CalendarRule[], timezone = 'Europe/Berlin') =>
  compileCalendar({ timezone, rules }, 'spec').calendar!;

it('a cached period equals a fresh one at any instant, even if the clock is set back', () => {
  const T0 = Date.parse('2026-03-28T00:00:00Z');
  const rules = fc.constantFrom<CalendarRule[]>(
    [{ timeRange: { start: '22:00', end: '06:00' } }],
    [{ daysOfWeek: ['Saturday'] }, { timeRange: { start: '01:30', end: '02:30' } }],
    [{ daysOfWeek: ['Saturday'], timeRange: { start: '22:00', end: '06:00' } }],
    [{ dateRange: { start: '2026-03-29', end: '2026-03-30' } }],
    [{ dateRange: { start: '2026-03-29', end: '2026-03-31' } }],
    [{}],
  );
  const seconds = fc.array(fc.integer({ min: -86_400, max: 6 * 86_400 }), { minLength: 2, maxLength: 12 });
  fc.assert(
    fc.property(rules, fc.constantFrom('UTC', 'Europe/Berlin'), seconds, (of, timezone, offsets) => {
      const calendar = calendarOf(of, timezone);
      const instants = offsets.map((s) => T0 + s * 1000);
      const edges = instants.flatMap((at) => {
        const next = nextTransition(calendar, at);
        return next === undefined ? [] : [next - 1, next];
      });
      for (const at of [...instants, ...edges]) {
        const { active, until } = periodsOf(calendarOf(of, timezone))(at);
        expect({ active, until }).toEqual({ active: isActive(calendar, at), until: nextTransition(calendar, at) });
      }
    }),
    { numRuns: 150 },
  );
});

describe('64 windows', () => {
  const hour = (n: number, minute = '00') => `${String(n % 24).padStart(2, '0')}:${minute}`;
  const sixtyFour = (rule: (i: number) => CalendarRule) => Array.from({ length: 64 }, (_, i) => rule(i));
  const calendars: Record<string, CalendarRule[]> = {
    'every day, with gaps': sixtyFour((i) => ({
      timeRange: { start: hour(i, `${(i % 5) * 10}`.padStart(2, '0')), end: hour(i, '55') },
    })),
    'year by year': sixtyFour((i) => ({
      timeRange: { start: hour(i), end: hour(i + 1) },
      dateRange: { start: `${2026 + i}-01-01`, end: `${2027 + i}-02-01` },
    })),
    'without a gap until their ranges end': sixtyFour((i) => ({
      dateRange: { start: `${2026 + i}-01-01`, end: `${2026 + i}-12-31` },
    })),
    'one in the other, beside day and night': sixtyFour((i) => {
      if (i < 2) return { timeRange: i === 0 ? { start: '06:00', end: '18:00' } : { start: '18:00', end: '06:00' } };
      const dateRange = { start: `${2026 + i}-01-01`, end: `${2180 - i}-12-31` };
      return { timeRange: { start: '10:00', end: '11:00' }, dateRange };
    }),
    'on holidays that are no Monday': sixtyFour((i) => {
      const day = formatTime(Date.parse('2027-01-05T00:00:00Z') + i * 28 * 86_400_000).slice(0, 10);
      return { daysOfWeek: ['Monday'], dateRange: { start: day, end: day } };
    }),
  };
  const now = Date.parse('2026-06-01T12:12:00Z');

  it.each(Object.entries(calendars))('%s: a period costs little beside reading the rules', (_, rules) => {
    const find = () => {
      const calendar = calendarOf(rules);
      return [isActive(calendar, now), nextTransition(calendar, now)];
    };
    expect(costInReadings(rules, find)).toBeLessThan(200);
  });

  it('are searched once until something can change', () => {
    const rules = calendars['every day, with gaps']!;
    const found = periodsOf(calendarOf(rules))(now);
    expect(periodsOf(calendarOf(rules))(now + 1000)).toBe(found);
  });
});
