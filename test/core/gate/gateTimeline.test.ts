import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Gate } from '../../../api/types.ts';
import { evaluateGates } from '../../../core/gate/evaluateGates.ts';
import { evaluateGate } from '../../../core/gate/gateTimeline.ts';
import { byRefKey, identityOf } from '../../../core/kube/names.ts';
import { formatTime } from '../../../core/kube/time.ts';
import { costInReadings } from '../../support/cost.ts';
import { evaluated, expectedOf, gate } from './gate.ts';

type CalendarRules = NonNullable<Gate['spec']['schedule']>['rules'];

const load = (file: string) => parse(readFileSync(join(import.meta.dirname, '../../scenario/gate', file), 'utf8'));
describe('the samples of the RFC', () => {
  interface Step {
    at: string;
    annotate?: Record<string, string>;
    expect: Record<string, unknown>;
  }
  it.each(load('rfc-samples.yaml') as { name: string; gate: Gate; steps: Step[] }[])(
    '$name',
    ({ gate: sample, steps }) => {
      const annotations: Record<string, string> = {};
      for (const step of steps) {
        Object.assign(annotations, step.annotate);
        const {
          request: _,
          opensByApprovalsOnly: __,
          ...shown
        } = evaluated({ ...sample, metadata: { ...sample.metadata, annotations } }, step.at);
        expect(shown, step.at).toEqual(step.expect);
      }
    },
  );
});

const requests = (annotations: Record<string, string> = {}) =>
  Object.fromEntries(
    Object.entries(annotations).map(([key, value]) => [
      key.includes('/') ? key : `${key}.gate.fluxcd.io/requestedAt`,
      value,
    ]),
  );

describe('the rules of docs/gates.md', () => {
  it.each(
    load('table.yaml') as (Pick<Gate, 'spec' | 'status'> & {
      name: string;
      annotations?: Record<string, string>;
      at: string;
      expect: object;
    })[],
  )('$name', ({ spec, status, annotations, at, expect: expected }) => {
    const shown = evaluated({ ...gate(spec, requests(annotations)), status }, at);
    expect(shown).toMatchObject(expectedOf(expected));
    if (!('stalled' in expected)) expect(shown.stalled).toBeUndefined();
  });
});

describe('for every gate', () => {
  const T0 = Date.parse('2026-03-28T00:00:00Z');
  const seconds = fc.integer({ min: 0, max: 4 * 86_400 });
  const time = seconds.map((s) => formatTime(T0 + s * 1000));
  const schedule = fc.record(
    {
      timezone: fc.constantFrom('UTC', 'Europe/Berlin'),
      action: fc.constantFrom('Open' as const, 'Close' as const),
      rules: fc.constantFrom<CalendarRules>(
        [{ timeRange: { start: '22:00', end: '06:00' } }],
        [{ daysOfWeek: ['Saturday'] }, { timeRange: { start: '01:30', end: '02:30' } }],
      ),
    },
    { requiredKeys: ['rules'] },
  );
  const gates = fc
    .record({
      default: fc.constantFrom('opened' as const, 'closed' as const),
      window: fc.option(fc.constantFrom('0s', '1s', '90m', '24h'), { nil: undefined }),
      schedule: fc.option(schedule, { nil: undefined }),
      open: fc.option(time, { nil: undefined }),
      close: fc.option(time, { nil: undefined }),
      for: fc.option(fc.constant('1.0.0'), { nil: undefined }),
    })
    .map(({ open, close, for: version, ...spec }) => {
      const request = open && { action: 'open', at: open, for: version };
      const planned = close && close > (open ?? '') ? { action: 'close', at: close } : undefined;
      const slot = version === undefined ? 'current' : 'exception';
      const copy = JSON.stringify({ [slot]: request, planned, handled: { open, close } });
      return gate(spec, { 'gate.fluxcd.io/accepted-request': copy });
    });
  const next = { version: '1.0.0', rollout: 'shop/app', uid: undefined, users: { requesters: [], authors: undefined } };
  const resultAt = (of: Gate, at: number) => evaluateGates([identityOf(of)], byRefKey([of]), at, next)[0]!;

  it('the answer flips exactly at `until`, and not before', () => {
    const same = (of: Gate, a: number, b: number) => evaluateGate(of, a).opened === evaluateGate(of, b).opened;
    fc.assert(
      fc.property(gates, seconds, fc.double({ min: 0, max: 1, noNaN: true }), (of, s, part) => {
        const now = T0 + s * 1000;
        const { until } = evaluateGate(of, now);
        if (until === undefined) return same(of, now, now + Math.floor(part * 1e10));
        const between = now + Math.floor((until - 1 - now) * part);
        return until > now && same(of, now, between) && same(of, now, until - 1) && !same(of, now, until);
      }),
      { numRuns: 60 },
    );
  });

  it('an opening for one version closes nothing, and passes nothing beyond its version', () => {
    fc.assert(
      fc.property(gates, seconds, (of, s) => {
        const now = T0 + s * 1000;
        const record = JSON.parse(of.metadata.annotations!['gate.fluxcd.io/accepted-request']!);
        const without = gate(of.spec, {
          'gate.fluxcd.io/accepted-request': JSON.stringify({ ...record, exception: undefined }),
        });
        const { exception: _, openFor, ...state } = evaluateGate(of, now);
        const { exception: __, openFor: ___, ...stateWithout } = evaluateGate(without, now);
        expect(state).toEqual(stateWithout);
        if (state.opened) expect(openFor).toBeUndefined();
      }),
      { numRuns: 60 },
    );
  });

  it('a version waits no longer than until `until`', () => {
    fc.assert(
      fc.property(gates, seconds, fc.double({ min: 0, max: 1, noNaN: true }), (of, s, part) => {
        const now = T0 + s * 1000;
        const { isOpen, until } = resultAt(of, now);
        const last = until === undefined ? now + Math.floor(part * 1e10) : until - 1;
        expect(resultAt(of, last).isOpen).toBe(isOpen);
        if (!isOpen && until !== undefined) expect(resultAt(of, until).isOpen).toBe(true);
      }),
      { numRuns: 60 },
    );
  });

  it('the same Gate at the same instant gives the same result', () => {
    fc.assert(
      fc.property(gates, seconds, (of, s) => {
        const now = T0 + s * 1000;
        expect(evaluateGate(structuredClone(of), now)).toEqual(evaluateGate(of, now));
      }),
      { numRuns: 20 },
    );
  });
});

describe('closed until the last day that can be written', () => {
  const closed = (timezone: string) =>
    gate({
      default: 'opened',
      schedule: { action: 'Close', timezone, rules: [{ dateRange: { start: '2026-01-01', end: '9999-12-31' } }] },
    });

  it.each([
    ['UTC', undefined],
    ['America/New_York', undefined],
    ['Asia/Tokyo', '9999-12-31T15:00:00Z'],
  ])('in %s: no time beyond it', (timezone, until) => {
    const evaluation = evaluated(closed(timezone), '2026-03-01T00:00:00Z');
    expect(evaluation.opened).toBe(false);
    expect(evaluation.until).toBe(until);
  });

  it.each([253_402_300_800_000, 8e15, Number.MAX_SAFE_INTEGER, -1e14, -1e300])(
    '%d is written as a time that can be read',
    (at) => {
      expect(formatTime(at)).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    },
  );
});

it('a calendar of 64 rules is compiled once for many versions of a Rollout', () => {
  const dateRange = (i: number) => ({ start: `${2026 + i}-01-01`, end: `${2027 + i}-02-01` });
  const rules: CalendarRules = Array.from({ length: 64 }, (_, i) => ({
    daysOfWeek: ['Friday'],
    dateRange: dateRange(i),
  }));
  const many = gate({ default: 'opened', schedule: { action: 'Close', timezone: 'Europe/Berlin', rules } });
  const now = Date.parse('2026-06-01T12:00:00Z');
  const versions = Array.from({ length: 100 }, (_, i) => i);
  expect(costInReadings(many, () => versions.map(() => evaluateGate(many, now)))).toBeLessThan(10);
});
