import { describe, expect, it } from 'vitest';
import type { Reading } from '../../../../api/ports.ts';
import type { HealthStatus } from '../../../../core/health/healthStatus.ts';
import {
  dueAt,
  type MetricCheck,
  metricCheckOf,
  statusAfterMeasurement,
  statusWithoutAnswer,
  statusWithProblem,
} from '../../../../core/health/prometheus/measurement.ts';
import { objectOf } from '../../../support/objects.ts';

const at = (time: string) => `2026-01-02T${time}Z`;
const NOW = Date.parse(at('12:00:00'));

const CHECK: MetricCheck = {
  provider: 'prometheus',
  query: 'q',
  range: { max: 1 },
  intervalMs: 60_000,
  failureLimit: 3,
  onEmpty: 'Pending',
};
const MIN = { range: { min: 0.99 } };
const BOTH = { range: { min: 1, max: 2 } };

const stored = (status: string, failures = 0): HealthStatus => ({
  status,
  lastChangeTime: at('11:00:00'),
  prometheus: { failures, measurements: [] },
});
const measured = (status: HealthStatus | undefined, check: Partial<MetricCheck>, reading: Reading | number[]) =>
  statusAfterMeasurement(
    status,
    { ...CHECK, ...check },
    { at: NOW, reading: Array.isArray(reading) ? { values: reading } : reading },
    NOW,
  );

const PENDING = stored('Pending');
const HEALTHY = stored('Healthy');
const UNHEALTHY = stored('Unhealthy', 3);
const PROBLEM = { problem: "MetricProvider 'prometheus' did not answer in time" };

const EMPTY = 'the result is empty';
const ONCE: Partial<MetricCheck> = { failureLimit: 1 };
const BAD_IF_EMPTY: Partial<MetricCheck> = { onEmpty: 'Unhealthy' };
const inside = (value: number) => `${value} is inside the range (at most 1)`;
const outside = (times = '') => `2 is outside the range (at most 1)${times}`;
const oneOutside = (series: number) => `1 of ${series} series are outside the range (at most 1), one at 3`;

describe('a measurement', () => {
  const rows: [string, HealthStatus | undefined, Partial<MetricCheck>, Reading | number[], string, string, number][] = [
    ['inside', PENDING, {}, [0.5], 'Healthy', inside(0.5), 0],
    ['the first of a new check', undefined, {}, [0.5], 'Healthy', inside(0.5), 0],
    ['at the bound', PENDING, {}, [1], 'Healthy', inside(1), 0],
    ['at the lower bound', PENDING, BOTH, [1], 'Healthy', '1 is inside the range (1 to 2)', 0],
    ['ends a row of failures', stored('Pending', 2), {}, [0], 'Healthy', inside(0), 0],
    ['mends', UNHEALTHY, {}, [0], 'Healthy', inside(0), 0],
    ['outside', HEALTHY, {}, [2], 'Pending', outside(', 1 of 3 times in a row'), 1],
    ['below', HEALTHY, MIN, [0.9], 'Pending', '0.9 is outside the range (at least 0.99), 1 of 3 times in a row', 1],
    ['outside once more', stored('Pending', 1), {}, [2], 'Pending', outside(', 2 of 3 times in a row'), 2],
    ['outside as often as the limit', stored('Pending', 2), {}, [2], 'Unhealthy', outside(', 3 times in a row'), 3],
    ['and beyond', UNHEALTHY, {}, [2], 'Unhealthy', outside(', 4 times in a row'), 4],
    ['outside with a limit of one', HEALTHY, ONCE, [2], 'Unhealthy', outside(), 1],
    ['of several series', PENDING, {}, [0.5, 0.25], 'Healthy', 'all 2 series are inside the range (at most 1)', 0],
    ['of which one is outside', PENDING, ONCE, [0.5, 3, 0], 'Unhealthy', oneOutside(3), 1],
    ['of which one is outside, and one no number', PENDING, ONCE, [NaN, 3], 'Unhealthy', oneOutside(2), 1],
    ['of which one is no number', PENDING, {}, [0.5, NaN], 'Pending', expect.stringContaining('(NaN)'), 0],
    ['no number', stored('Healthy', 0), {}, [NaN], 'Pending', expect.stringContaining('(NaN)'), 0],
    ['without bound above', PENDING, {}, [Infinity], 'Pending', expect.stringContaining('Infinity is outside'), 1],
    ['empty', HEALTHY, {}, [], 'Pending', EMPTY, 0],
    ['empty, which is healthy', stored('Pending', 2), { onEmpty: 'Healthy' }, [], 'Healthy', EMPTY, 0],
    ['empty, a failure', stored('Pending', 2), BAD_IF_EMPTY, [], 'Unhealthy', `${EMPTY}, 3 times in a row`, 3],
    ['without an answer', HEALTHY, {}, PROBLEM, 'Pending', PROBLEM.problem, 0],
    ['without an answer, which ends no row', stored('Pending', 2), {}, PROBLEM, 'Pending', PROBLEM.problem, 2],
    ['without an answer, mends nothing', UNHEALTHY, {}, PROBLEM, 'Unhealthy', `still Unhealthy: ${PROBLEM.problem}`, 3],
    ['empty, which mends nothing', UNHEALTHY, {}, [], 'Unhealthy', `still Unhealthy: ${EMPTY}`, 3],
  ];
  it.each(rows)('%s', (_, status, check, reading, health, message, failures) => {
    const result = measured(status, check, reading);
    expect(result).toMatchObject({ status: health, message, prometheus: { failures } });
    // A bake fails by it.
    const fails = health === 'Unhealthy' && !result.message!.startsWith('still');
    expect(result.lastErrorTime).toBe(fails ? at('12:00:00') : undefined);
  });

  it.each<[string, Reading | number[], object]>([
    ['a value', [0.25], { result: 'InRange', value: '0.25' }],
    ['six digits of it', [0.123456789], { result: 'InRange', value: '0.123457' }],
    ['the first of several that is outside', [0, 2, 3], { result: 'OutOfRange', value: '2', series: 3 }],
    ['the first of several', [0.5, 0.25], { result: 'InRange', value: '0.5', series: 2 }],
    ['what is no number', [0.5, NaN], { result: 'Unknown', value: 'NaN', series: 2 }],
    ['emptiness', [], { result: 'Empty' }],
    ['that there was no answer', PROBLEM, { result: 'Unknown' }],
  ])('is kept: %s', (_, reading, measurement) => {
    expect(measured(PENDING, {}, reading).prometheus?.measurements).toEqual([{ time: at('12:00:00'), ...measurement }]);
  });

  it('is kept with nine before it', () => {
    const old = Array.from({ length: 10 }, (_, i) => ({
      time: at(`11:0${9 - i}:00`),
      result: 'InRange' as const,
      value: '1',
    }));
    const { measurements } = measured({ ...HEALTHY, prometheus: { failures: 0, measurements: old } }, {}, [0])
      .prometheus!;
    expect(measurements).toHaveLength(10);
    expect(measurements?.slice(1)).toEqual(old.slice(0, 9));
  });
});

describe('a query that cannot be made', () => {
  it('is never Healthy, and leaves the measurements', () => {
    const before = measured(PENDING, {}, [0]);
    const status = statusWithProblem(before, 'no such variable', NOW);
    expect(status).toMatchObject({ status: 'Pending', message: 'no such variable', prometheus: before.prometheus });
  });

  it('mends nothing', () => {
    expect(statusWithProblem(UNHEALTHY, 'no such variable', NOW).status).toBe('Unhealthy');
  });
});

describe('the next measurement', () => {
  const measuredAt = (time: string): HealthStatus => ({ prometheus: { measurements: [{ time, result: 'InRange' }] } });
  it.each([
    ['of a new check', undefined, undefined, Number.NEGATIVE_INFINITY],
    ['after an interval', measuredAt(at('11:59:30')), undefined, NOW + 30_000],
    ['in the second after the deployment', undefined, NOW, NOW + 1000],
    [
      'whatever time in the future somebody writes',
      measuredAt('2099-01-01T00:00:00Z'),
      undefined,
      Number.NEGATIVE_INFINITY,
    ],
    ['whatever no time somebody writes', measuredAt('soon'), undefined, Number.NEGATIVE_INFINITY],
  ])('%s', (_, status, cutoff, due) => {
    expect(dueAt(status, CHECK, cutoff, NOW)).toBe(due);
  });
});

describe('without an answer', () => {
  const last = (status: string): HealthStatus => ({
    ...stored(status),
    prometheus: { failures: 0, measurements: [{ time: at('12:00:00'), result: 'InRange' }] },
  });
  const waited = (status: HealthStatus | undefined, seconds: number, intervalMs = 60_000) =>
    statusWithoutAnswer(status, { ...CHECK, intervalMs }, NOW + seconds * 1000);

  it.each([
    ['for two intervals', last('Healthy'), 120, 60_000],
    ['ever', PENDING, 3600, 60_000],
    ['to a check without a status', undefined, 3600, 60_000],
  ])('%s, the health is as it was', (_, status, seconds, intervalMs) => {
    expect(waited(status, seconds, intervalMs)).toBe(status);
  });

  it('a Healthy that was not measured does not count', () => {
    expect(waited(stored('Healthy'), 0)).toMatchObject({ status: 'Pending', message: 'not measured yet' });
  });

  it('for longer, it is unknown', () => {
    expect(waited(last('Healthy'), 121)).toMatchObject({
      status: 'Pending',
      message: expect.stringContaining('not measured since 2026-01-02T12:00:00Z'),
      prometheus: last('Healthy').prometheus,
    });
    expect(waited(last('Unhealthy'), 121)?.status).toBe('Unhealthy');
  });

  it('a measurement of the future, from a clock that was set back, proves nothing', () => {
    expect(waited(last('Healthy'), -59)?.status).toBe('Healthy');
    expect(waited(last('Healthy'), -61)?.status).toBe('Pending');
  });
});

describe('a check', () => {
  const spec = { provider: 'p', query: 'q', thresholdRange: { max: 1 } };
  const of = (fields: object) => metricCheckOf(objectOf('HealthCheck', 'a', { spec: fields }));
  it('has defaults', () => {
    expect(of({ class: 'prometheus', prometheus: spec })).toEqual({
      provider: 'p',
      query: 'q',
      range: { max: 1 },
      intervalMs: 60_000,
      failureLimit: 3,
      onEmpty: 'Pending',
    });
  });

  it('is measured each ten seconds at most', () => {
    expect(of({ class: 'prometheus', prometheus: { ...spec, interval: '1ms' } })?.intervalMs).toBe(10_000);
  });

  it.each([
    ['of another class', { class: 'kustomization', prometheus: spec }],
    ['that somebody else reports', { class: 'prometheus' }],
  ])('%s is not measured', (_, fields) => {
    expect(of(fields)).toBeUndefined();
  });
});
