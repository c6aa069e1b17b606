/** A HealthCheck of class prometheus across deployments: its queries, their times, and their results. */
import { describe, expect, it } from 'vitest';
import type { Measurement, MeasurementQuery } from '../../../api/ports.ts';
import type { HealthCheck, Rollout } from '../../../api/types.ts';
import type { HealthStatus } from '../../../core/health/healthStatus.ts';
import { fakeHookCall } from '../../../dev/fakes/ports.ts';
import { decorating } from '../../../dev/fakes/requests.ts';
import { healthCheckHook } from '../../../hooks/healthCheck/healthCheckHook.ts';
import { at, cluster, healthCheck, NOW, rollout } from './fixture.ts';

const WATCHES = { healthCheckSelector: { selector: { matchLabels: { app: 'web' } } } };
const deployed = (tag: string, timestamp: string, metadata: object = {}): Rollout =>
  rollout({ version: { tag }, timestamp: at(timestamp), bakeStatus: 'Deploying' } as object, WATCHES, metadata);

const check = (status?: HealthStatus, prometheus: object = {}): HealthCheck =>
  healthCheck({
    metadata: { name: 'errors', namespace: 'demo', uid: 'h1', labels: { app: 'web' } },
    spec: {
      class: 'prometheus',
      prometheus: { provider: 'prom', query: 'up', thresholdRange: { max: 1 }, interval: '30s', ...prometheus },
    },
    ...(status && { status }),
  });
const RESET: HealthStatus = {
  status: 'Pending',
  message: 'Health check reset due to new deployment',
  lastChangeTime: at('12:00:00'),
};

async function sync(object: HealthCheck, rollouts: Rollout[] = [], now = NOW, answer?: number[]) {
  const queries: MeasurementQuery[] = [];
  const take = async (query: MeasurementQuery): Promise<Measurement | undefined> => {
    queries.push(query);
    return answer && { at: now, reading: { values: answer } };
  };
  const { call } = fakeHookCall({ now, cluster: cluster([]), measurements: { measure: take } });
  const { status, resyncAfterSeconds } = await healthCheckHook.sync(decorating(object, { related: rollouts }), call);
  return { queries, status: status as HealthStatus | undefined, resyncAfterSeconds };
}

describe('a deployment', () => {
  it('resets earlier measurements, and makes no query yet', async () => {
    const old: HealthStatus = {
      status: 'Healthy',
      lastChangeTime: at('11:00:00'),
      prometheus: { failures: 2, measurements: [{ time: at('11:59:59'), result: 'OutOfRange', value: '2' }] },
    };
    const { status, queries } = await sync(check(old), [deployed('1.1.0', '12:00:00')], NOW + 1500, [0]);
    expect(queries).toEqual([]);
    expect(status).toMatchObject({ status: 'Pending', message: RESET.message });
    expect(status).not.toHaveProperty('prometheus');
  });

  it.each([
    ['11:59:59', true],
    ['12:00:00', true],
    ['12:00:01', false],
  ])('does not count a measurement of %s that was stored while it was applied', async (time, isReset) => {
    const known = { name: 'errors', namespace: 'demo', status: 'Pending', lastChangeTime: at('11:59:00') };
    const applied = { timestamp: at('11:59:00'), appliedTime: at('12:00:00'), knownHealth: [known] };
    const stored: HealthStatus = {
      status: 'Pending',
      lastChangeTime: at('12:00:00'),
      prometheus: { failures: 2, measurements: [{ time: at(time), result: 'OutOfRange', value: '2' }] },
    };
    const { status } = await sync(check(stored), [rollout(applied, WATCHES)], NOW + 2000);
    expect(status).toEqual(isReset ? { ...RESET, lastChangeTime: at('12:00:02') } : undefined);
  });

  it('is measured from the second after it on', async () => {
    const rollouts = [deployed('1.1.0', '12:00:00')];
    const early = await sync(check(RESET), rollouts, NOW + 400, [0]);
    expect(early).toEqual({ queries: [], resyncAfterSeconds: 0.6 });
    const { queries, status } = await sync(check(RESET), rollouts, NOW + 1000, [0]);
    expect(queries).toEqual([
      {
        check: { namespace: 'demo', name: 'errors', uid: 'h1' },
        provider: 'prom',
        query: 'up',
        since: NOW + 1000,
        cutoff: NOW,
      },
    ]);
    expect(status).toEqual({
      status: 'Healthy',
      message: '0 is inside the range (at most 1)',
      lastChangeTime: at('12:00:01'),
      prometheus: { failures: 0, measurements: [{ time: at('12:00:01'), result: 'InRange', value: '0' }] },
    });
  });

  it('is measured once if its time, which a user may write, has milliseconds', async () => {
    const rollouts = [rollout({ timestamp: new Date(NOW + 900).toISOString() }, WATCHES)];
    const { status } = await sync(check({ ...RESET, lastChangeTime: at('12:00:01') }), rollouts, NOW + 1950, [0]);
    expect(status).toMatchObject({ status: 'Healthy' });
    expect(await sync(check(status), rollouts, NOW + 3000, [0])).toMatchObject({ status: undefined });
  });

  it('is measured from then on also by a replica whose clock is behind', async () => {
    const { queries, status } = await sync(check(RESET), [deployed('1.1.0', '12:00:59')], NOW, [0]);
    expect([queries, status]).toEqual([[], undefined]);
  });

  it('is queried for its version', async () => {
    const { queries } = await sync(
      check(RESET, { query: 'up{version="{{ version }}"}' }),
      [deployed('1.1.0', '12:00:00'), rollout({}, {}, { name: 'watches-nothing' })],
      NOW + 5000,
    );
    expect(queries.map(({ query }) => query)).toEqual(['up{version="1.1.0"}']);
  });

  it('of one of two Rollouts has no version: that is reported, without a query', async () => {
    const two = [deployed('1.1.0', '12:00:00'), deployed('2.0.0', '12:00:00', { name: 'api', uid: 'u2' })];
    const { queries, status } = await sync(check(RESET, { query: 'up{v="{{ version }}"}' }), two, NOW + 5000);
    expect(queries).toEqual([]);
    expect(status).toMatchObject({
      status: 'Pending',
      message: expect.stringContaining('2 Rollouts watch this check'),
    });
  });
});

describe('between two measurements', () => {
  const measured: HealthStatus = {
    status: 'Healthy',
    message: '0 is inside the range (at most 1)',
    lastChangeTime: at('11:00:00'),
    prometheus: { failures: 0, measurements: [{ time: at('11:59:45'), result: 'InRange', value: '0' }] },
  };

  it.each([
    ['has no measurement', undefined],
    ['was measured an hour ago', at('11:00:00')],
    ['was measured more than a minute in the future', at('12:01:01')],
  ])('where it %s, one of the last interval will do, and no older one', async (_, time) => {
    const measurements = time ? [{ time, result: 'InRange' as const }] : [];
    const { queries } = await sync(check({ ...measured, prometheus: { failures: 0, measurements } }));
    expect(queries.map(({ since }) => since)).toEqual([NOW - 30_000]);
  });

  it.each([
    ['soon', '30s', 15, 3],
    ['later if it has waited for long', '30s', 31, 4],
    ['after half a minute at most', '30m', 3500, 30],
  ])('a measurement that is due and has no answer yet is requeued %s', async (_, interval, secondsLater, requeue) => {
    const answer = await sync(check(measured, { interval }), [], NOW + secondsLater * 1000);
    expect(answer.queries).toHaveLength(1);
    expect([answer.status, answer.resyncAfterSeconds]).toEqual([undefined, requeue]);
  });
});
