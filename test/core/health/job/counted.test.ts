/** A HealthCheck of class job concerns a Rollout only by its own Job. */
import { describe, expect, it } from 'vitest';
import type { HealthCheck, Rollout } from '../../../../api/types.ts';
import { countedFor } from '../../../../core/health/job/checkJob.ts';
import { at, check, HEAD, jobSpec, nameOf, rollout } from './fixture.ts';

const TIMES = { lastChangeTime: at('11:05:00'), lastErrorTime: at('11:05:00') };
const of = (name: string) => ({ job: { namespace: 'team-a', name } });
const healthy = (name: string) => ({ status: 'Healthy', ...TIMES, ...of(name) });
const unhealthy = (name: string) => ({ status: 'Unhealthy', ...TIMES, ...of(name) });
const WAITS = {
  status: 'Pending',
  message: 'its Job has not been run for this deployment yet',
  lastChangeTime: at('11:05:00'),
};
const retried = { ...HEAD, lastRetryTimestamp: at('11:20:00') };
const oversized = { spec: jobSpec({ note: 'x'.repeat(40_000) }) };

describe('counts for a Rollout', () => {
  it.each<[string, HealthCheck, Rollout, object | 'as it is']>([
    ['its deployment passed', check(healthy(nameOf())), rollout(), 'as it is'],
    ['its deployment failed', check(unhealthy(nameOf())), rollout(), 'as it is'],
    ['the deployment before passed', check(healthy(nameOf())), rollout({ ...HEAD, id: 8 }), WAITS],
    ['the deployment before failed', check(unhealthy(nameOf())), rollout({ ...HEAD, id: 8 }), WAITS],
    ['it was retried since', check(unhealthy(nameOf())), rollout(retried), WAITS],
    ['the retry passed', check(healthy(nameOf(check(), rollout(retried)))), rollout(retried), 'as it is'],
    [
      'another Rollout passed with the same id',
      check(healthy(nameOf(check(), rollout(HEAD, 'other')))),
      rollout(),
      WAITS,
    ],
    ['another template passed', check(healthy(nameOf()), { spec: jobSpec({ backoffLimit: 2 }) }), rollout(), WAITS],
    ['somebody has written Healthy', check({ status: 'Healthy', ...TIMES }), rollout(), WAITS],
    [
      'of a template that cannot be run',
      check(healthy(nameOf(check(undefined, oversized))), oversized),
      rollout(),
      WAITS,
    ],
    ['the template cannot be run', check({ status: 'Unhealthy', message: 'why', ...TIMES }), rollout(), 'as it is'],
    ['nothing was deployed', check(healthy(nameOf())), rollout(null as never), WAITS],
    [
      'it is of another namespace and broken',
      check({ status: 'Unhealthy', ...TIMES }, { namespace: 'team-b' }),
      rollout(),
      { ...WAITS, message: 'a HealthCheck of class job counts for a Rollout of its own namespace only' },
    ],
    ['another class', { ...check({ status: 'Healthy', ...TIMES }), spec: { class: 'datadog' } }, rollout(), 'as it is'],
  ])('%s', (_, seen, by, expected) => {
    const counted = countedFor(by, seen);
    expect(counted.status).toEqual(expected === 'as it is' ? seen.status : expected);
  });
});
