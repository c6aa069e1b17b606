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
  ['a long text', `1${'0'.repeat(40)}`, undefined],
  ['markup', '<img src=x>', undefined],
  ['an object', { toString: '1' }, undefined],
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
  ['whose measurements are no list', check('1')],
  ['without a measurement', check([])],
  [
    'with nothing that can be read',
    check([null, 7, { time: 'today', result: 'InRange' }, { time: at(0), result: '<b>' }]),
  ],
])('there is none of a HealthCheck %s', (_, healthCheck) => {
  expect(metricOf(healthCheck)).toBeUndefined();
});

it('leaves out bounds that are no numbers, values without a result to count, and the eleventh measurement', () => {
  const many = Array.from({ length: 11 }, (_, index) => measured(20 - index, '1', 'Unknown'));
  const metric = metricOf(check(many, { min: '0', max: 1e308 }));
  expect(metric).toEqual({
    measurements: Array.from({ length: 10 }, (_, index) => ({ at: at(11 + index), result: 'Unknown' })),
  });
});
