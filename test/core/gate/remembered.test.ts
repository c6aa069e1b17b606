/** The cost of a Gate's evaluation, and its equality with a cached one. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Gate } from '../../../api/types.ts';
import { evaluateGate, evaluateUncached } from '../../../core/gate/gateState.ts';
import { formatTime } from '../../../core/kube/time.ts';
import { costInReadings } from '../../support/cost.ts';
import { gate } from './gate.ts';

type Schedule = NonNullable<Gate['spec']['schedule']>;

const T0 = Date.parse('2026-03-28T00:00:00Z');
const time = fc.integer({ min: 0, max: 4 * 86_400 }).map((s) => formatTime(T0 + s * 1000));
const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });

const schedule: fc.Arbitrary<Schedule> = fc.record(
  {
    timezone: fc.constantFrom('UTC', 'Europe/Berlin'),
    action: fc.constantFrom('Open' as const, 'Close' as const),
    rules: fc.constantFrom<Schedule['rules']>(
      [{ timeRange: { start: '22:00', end: '06:00' } }],
      [{ daysOfWeek: ['Saturday'] }, { timeRange: { start: '01:30', end: '02:30' } }],
      [{ dateRange: { start: '2026-03-29', end: '2026-03-30' } }],
      [{ dateRange: { start: 'never', end: '2026-03-30' } }],
    ),
  },
  { requiredKeys: ['rules'] },
);

/** With requests in all three places that can have them. */
const gates: fc.Arbitrary<Gate> = fc
  .record({
    spec: fc.record({
      default: fc.constantFrom('opened' as const, 'closed' as const),
      window: maybe(fc.constantFrom('0s', '1s', '90m', '24h', 'long')),
      schedule: maybe(schedule),
    }),
    open: maybe(time),
    close: maybe(time),
    copied: maybe(fc.record({ current: maybe(time), planned: maybe(time), handled: maybe(time) })),
    stored: maybe(fc.record({ current: maybe(time), planned: maybe(time) })),
    for: maybe(fc.constant('1.0.0')),
  })
  .map(({ spec, open, close, copied, stored, for: version }) => {
    const annotations: Record<string, string> = {};
    if (open) annotations['open.gate.fluxcd.io/requestedAt'] = open;
    if (close) annotations['close.gate.fluxcd.io/requestedAt'] = close;
    if (version) annotations['open.gate.fluxcd.io/for'] = version;
    const request = (at: string | undefined, action: 'open' | 'close') => at && { at, action };
    if (copied) {
      annotations['gate.fluxcd.io/accepted-request'] = JSON.stringify({
        current: request(copied.current, 'open'),
        planned: request(copied.planned, 'close'),
        handled: { open: copied.handled },
      });
    }
    const status = stored && { request: request(stored.current, 'close'), planned: request(stored.planned, 'open') };
    return { ...gate(spec as Gate['spec'], annotations), ...(status && { status }) } as Gate;
  });

it('a cached evaluation equals a fresh one at any instant, even if the clock is set back', () => {
  const instants = fc.array(fc.integer({ min: -86_400, max: 6 * 86_400 }), { minLength: 2, maxLength: 12 });
  fc.assert(
    fc.property(gates, instants, (of, seconds) => {
      // Also exactly at a boundary and just before it.
      const edges = seconds.flatMap((s) => {
        const { until, planned } = evaluateUncached(of, T0 + s * 1000);
        return [until, planned?.at].flatMap((at) => (at === undefined ? [] : [at - 60_001, at - 60_000, at - 1, at]));
      });
      for (const now of [...seconds.map((s) => T0 + s * 1000), ...edges]) {
        // Requests to open count on only one of the two Gates.
        for (const each of [of, { ...of, spec: { ...of.spec, approvals: { required: 2 } } }]) {
          expect(evaluateGate(structuredClone(each), now)).toEqual(evaluateUncached(each, now));
        }
      }
    }),
    { numRuns: 150 },
  );
}, 60_000);

describe('64 windows', () => {
  const hour = (n: number, minute = '00') => `${String(n % 24).padStart(2, '0')}:${minute}`;
  const sixtyFour = (rule: (i: number) => Schedule['rules'][number]) => Array.from({ length: 64 }, (_, i) => rule(i));
  const calendars: Record<string, Schedule['rules']> = {
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
  const of = (name: string, action: 'Open' | 'Close'): Gate =>
    gate({ default: 'closed', schedule: { timezone: 'Europe/Berlin', action, rules: calendars[name]! } });
  const now = Date.parse('2026-06-01T12:12:00Z');

  it.each(Object.keys(calendars).flatMap((name) => [[name, 'Open'] as const, [name, 'Close'] as const]))(
    '%s (%s): an evaluation costs little beside reading them',
    (name, action) => {
      const many = of(name, action);
      const costs = Array.from({ length: 5 }, () => costInReadings(many, () => evaluateUncached(many, now)));
      expect(Math.min(...costs)).toBeLessThan(400);
    },
  );

  it('are evaluated once until something can change', () => {
    const many = of('every day, with gaps', 'Close');
    const first = evaluateGate(many, now);
    expect(evaluateGate(structuredClone(many), now + 1000)).toBe(first);
  });

  it('so are those of a Gate with a text of 20 kB', () => {
    const many = { ...of('every day, with gaps', 'Close') };
    many.metadata.annotations = { 'close.gate.fluxcd.io/reason': 'x'.repeat(20_000) };
    expect(evaluateGate(structuredClone(many), now)).toBe(evaluateGate(many, now));
  });
});
