/** Metacontroller's caches may be behind: health, and the outcome of a bake, are decided from what is stored. */
import { expect, it } from 'vitest';
import { RETRY } from '../../../api/annotations.ts';
import type { HealthCheck } from '../../../api/types.ts';
import { LIMITS } from '../../../core/limits.ts';
import { objectOf } from '../../support/objects.ts';
import { imagePolicy, rollout } from './call.ts';
import { deployed, sync } from './sync.ts';

const at = (time: string) => `2026-03-01T${time}Z`;
const reported = (status: string, changed: string, more: object = {}): HealthCheck =>
  objectOf('HealthCheck', 'team-a/app', {
    metadata: { creationTimestamp: at('10:00:00') },
    status: { status, message: '', lastChangeTime: at(changed), ...more },
  });
const failed = reported('Unhealthy', '11:59:58', { lastErrorTime: at('11:59:58') });
const healthy = reported('Healthy', '11:45:00');

const known = [{ name: 'app', namespace: 'team-a', status: 'Pending', lastChangeTime: at('11:40:00') }];
const applied = { appliedTime: at('11:41:00'), knownHealth: known };
const waits = { bakeStatus: 'Deploying', ...applied };
const bakes = { bakeStatus: 'InProgress', bakeStartTime: at('11:50:00'), ...applied };

/** @param cached the report in Metacontroller's cache; undefined: the cache lacks the HealthCheck */
async function decided(
  cached: HealthCheck | undefined,
  stored: HealthCheck | readonly HealthCheck[] | undefined,
  entry: object,
  { tag = '1.0.0', spec = {}, annotations = {} } = {},
) {
  const history = [{ id: 1, version: { tag: '1.0.0' }, timestamp: at('11:40:00'), ...entry }];
  const parent = rollout({ bakeTime: '5m', healthCheckSelector: { selector: {} }, ...spec }, { ...deployed, history });
  parent.metadata.annotations = annotations;
  const policy = imagePolicy(tag);
  const among = (checks: HealthCheck | readonly HealthCheck[] = []) => [policy, checks].flat() as never;
  const { status, resyncAfterSeconds } = await sync(parent, among(cached), { stored: among(stored) });
  return { ...status.history![0]!, resyncAfterSeconds };
}

it.each<[title: string, stored: HealthCheck | undefined, entry: object, bakeStatus: string]>([
  ['does not begin once it has failed', failed, waits, 'Failed'],
  ['does not begin on a report that was reset', reported('Pending', '11:59:58'), waits, 'Deploying'],
  ['does not succeed once it has failed', failed, bakes, 'Failed'],
  ['does not succeed once it has been deleted', undefined, bakes, 'InProgress'],
])('a bake on a check that Metacontroller still has as Healthy %s', async (_, stored, entry, bakeStatus) => {
  const { resyncAfterSeconds, ...head } = await decided(healthy, stored, entry);
  expect(head).toMatchObject({ bakeStatus });
  if (bakeStatus !== 'Failed') expect(resyncAfterSeconds).toBeLessThanOrEqual(15);
});

it.each([
  ['begin', waits],
  ['end', bakes],
])('a bake does not %s by an older spec than the stored one', async (_, entry) => {
  const history = [{ id: 1, version: { tag: '1.0.0' }, timestamp: at('11:40:00'), ...entry, knownHealth: [] }];
  const parent = rollout({ bakeTime: '5m' }, { ...deployed, history });
  const stored = {
    ...parent,
    metadata: { ...parent.metadata, generation: 2 },
    spec: { ...parent.spec!, bakeTime: '1h' },
  };
  await expect(sync(parent, [imagePolicy('1.0.0')], {}, stored)).rejects.toMatchObject({ status: 429 });
});

it('a bake does not succeed without a check that the cache lacks', async () => {
  expect(await decided(undefined, reported('Pending', '11:59:58'), bakes)).toMatchObject({ bakeStatus: 'InProgress' });
});

it('a deployment does not fail by a report from before it, nor by its timeout once the check is Healthy', async () => {
  const [old, before] = [
    ['11:30:00', '11:30:00'],
    ['11:39:58', '11:39:58'],
  ].map(([changed, lastErrorTime]) => reported('Unhealthy', changed!, { lastErrorTime: at(lastErrorTime!) }));
  const entry = { ...waits, knownHealth: [{ ...known[0], ...before!.status, message: undefined }] };
  expect(await decided(old, before, entry)).toMatchObject({ bakeStatus: 'Deploying' });
  const spec = { deployTimeout: '19m30s' };
  expect(await decided(before, healthy, entry, { spec })).toMatchObject({ bakeStatus: 'InProgress' });
});

it('a check that has failed holds the next version, before the cache shows it', async () => {
  expect(await decided(healthy, failed, { bakeStatus: 'Succeeded' }, { tag: '1.1.0' })).toMatchObject({ id: 1 });
});

it('nothing is deployed while the stored checks are more than are watched, before the cache shows it', async () => {
  const { metadata, ...rest } = healthy;
  const named = (_: unknown, i: number) => ({ ...rest, metadata: { ...metadata, name: `app-${i}` } });
  const stored = Array.from({ length: LIMITS.watchedHealthChecks + 1 }, named);
  expect(await decided(healthy, stored, { bakeStatus: 'Succeeded' }, { tag: '1.1.0' })).toMatchObject({ id: 1 });
});

it('an error of before a retry does not fail it, though the cache shows it later', async () => {
  const entry = { ...waits, bakeStatus: 'Failed' };
  const { knownHealth, lastRetryTimestamp } = await decided(healthy, failed, entry, { annotations: { [RETRY]: '' } });
  expect(lastRetryTimestamp).toBe(at('12:00:00'));
  expect(knownHealth).toMatchObject([{ status: 'Unhealthy', lastErrorTime: at('11:59:58') }]);
});

it('a report of before the deployment is none of the new version, though the cache shows it later', async () => {
  const { id, knownHealth } = await decided(
    healthy,
    reported('Healthy', '11:59:50'),
    { bakeStatus: 'Succeeded' },
    { tag: '1.1.0' },
  );
  expect({ id, knownHealth }).toEqual({
    id: 2,
    knownHealth: [{ name: 'app', namespace: 'team-a', status: 'Healthy', lastChangeTime: at('11:59:50') }],
  });
});

it('what is known of a check before a deployment is its stored report, also without a present measurement', async () => {
  const report = { status: 'Healthy', lastChangeTime: at('11:45:00') };
  const measurements = [{ time: at('11:45:00'), result: 'InRange' as const, value: '0' }];
  const check = objectOf('HealthCheck', 'team-a/app', {
    spec: { class: 'prometheus', prometheus: { provider: 'p', query: 'up', thresholdRange: { max: 1 } } },
    status: { ...report, message: '', prometheus: { failures: 0, measurements } },
  });
  const { id, knownHealth } = await decided(check, check, bakes, { spec: { wantedVersion: '1.1.0' } });
  expect({ id, knownHealth }).toEqual({ id: 2, knownHealth: [{ name: 'app', namespace: 'team-a', ...report }] });
});

it.each([
  ['11:59:50', '11:59:50', 'Deploying'],
  ['11:59:51', '11:59:50', 'InProgress'],
  ['11:59:59', '12:00:59', 'Deploying'],
])('a bake begins on a measurement since the apply: of %s, applied at %s: %s', async (time, applied, bakeStatus) => {
  const measured = objectOf('HealthCheck', 'team-a/app', {
    spec: { class: 'prometheus', prometheus: { provider: 'p', query: 'up', thresholdRange: { max: 1 } } },
    status: {
      status: 'Healthy',
      message: '',
      lastChangeTime: at('11:59:52'),
      prometheus: { failures: 0, measurements: [{ time: at(time), result: 'InRange', value: '0' }] },
    },
  });
  const entry = { ...waits, appliedTime: at(applied) };
  expect(await decided(measured, measured, entry)).toMatchObject({ bakeStatus });
});
