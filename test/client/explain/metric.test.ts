/**
 * The measurements of a HealthCheck of class prometheus are numbers in its step; the rest of its status is left out.
 */
import { expect, it } from 'vitest';
import type { HealthCheck } from '../../../api/types.ts';
import { NO_RELATED } from '../../../client/explain/related.ts';
import { checkSteps, metricOf } from '../../../client/explain/rollout/deploymentSteps.ts';
import { objectOf } from '../../support/objects.ts';

const check = (measurements: unknown, thresholdRange: unknown = { max: 5 }, spec: object = {}): HealthCheck =>
  objectOf('HealthCheck', {
    metadata: { namespace: 'shop', name: 'errors', labels: { app: 'shop' } },
    spec: { class: 'prometheus', prometheus: { provider: 'p', query: 'up', thresholdRange }, ...spec },
    status: { status: 'Healthy', prometheus: { measurements } },
  } as never);
const at = (minute: number) => `2026-01-01T10:${String(minute).padStart(2, '0')}:00Z`;
const measured = (minute: number, value?: unknown, result = 'InRange') => ({ time: at(minute), result, value });

it('is in the step of a watched HealthCheck, the oldest measurement first', () => {
  const healthCheck = check([measured(2, '9', 'OutOfRange'), measured(1, undefined, 'Unknown'), measured(0, '0.5')]);
  const metric = {
    max: 5,
    measurements: [
      { at: at(0), result: 'InRange', value: 0.5 },
      { at: at(1), result: 'Unknown' },
      { at: at(2), result: 'OutOfRange', value: 9 },
    ],
  };
  const rollout = objectOf('Rollout', {
    metadata: { namespace: 'shop', name: 'app' },
    spec: { healthCheckSelector: { selector: { matchLabels: { app: 'shop' } } } },
  } as never);
  const [step] = checkSteps(rollout, { ...NO_RELATED, healthChecks: [healthCheck] });
  expect(step).toMatchObject({ id: 'check/shop/errors', metric });
});

it.each<[string, unknown, unknown]>([
  ['a text', 'high', undefined],
  ['markup', '<img src=x>', undefined],
  ['hexadecimal', '0x10', undefined],
  ['infinity', 'Infinity', undefined],
  ['larger than can be drawn', '1e308', undefined],
  ['a negative number', '-12', -12],
])('takes a value that is %s as %o', (_, text, value) => {
  expect(metricOf(check([measured(0, text, 'OutOfRange')]))?.measurements).toEqual([
    { at: at(0), result: 'OutOfRange', ...(value !== undefined && { value }) },
  ]);
});

it.each<[string, HealthCheck]>([
  ['of another class', check([measured(0, '1')], undefined, { class: 'custom' })],
  ['without a measurement', check([])],
  ['whose only time can not be read', check([{ time: 'today', result: 'InRange' }])],
])('there is none of a HealthCheck %s', (_, healthCheck) => {
  expect(metricOf(healthCheck)).toBeUndefined();
});

it('leaves out a bound that is too large to be drawn, and a value without a result to count', () => {
  const metric = metricOf(check([measured(0, '1', 'Unknown')], { min: 0, max: 1e308 }));
  expect(metric).toEqual({ min: 0, measurements: [{ at: at(0), result: 'Unknown' }] });
});
