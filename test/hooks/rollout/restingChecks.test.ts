/** The last sync of a HealthCheck may be ten minutes ago: an object that failed since still blocks the next version. */
import { expect, it } from 'vitest';
import type { HealthCheck } from '../../../api/types.ts';
import { objectOf } from '../../support/objects.ts';
import { imagePolicy, rollout } from './call.ts';
import { deployed, sync } from './sync.ts';

const WATCHES = { healthCheckSelector: { selector: {} } };
const healthy = { status: 'Healthy', message: 'fine', lastChangeTime: '2026-03-01T11:30:00Z' };

function check(fields: Partial<HealthCheck> = {}, annotations: Record<string, string> = {}): HealthCheck {
  return objectOf('HealthCheck', 'team-a/app', {
    metadata: { uid: 'u-check', annotations: { 'healthcheck.kuberik.com/kustomization': 'app', ...annotations } },
    spec: { class: 'kustomization' },
    status: healthy,
    ...fields,
  });
}

const kustomization = (ready: object) =>
  objectOf('Kustomization', 'team-a/app', {
    metadata: { generation: 1 },
    spec: { sourceRef: { kind: 'GitRepository', name: 'none' } },
    status: {
      observedGeneration: 1,
      conditions: [{ type: 'Ready', lastTransitionTime: '2026-03-01T11:58:00Z', observedGeneration: 1, ...ready }],
      inventory: { entries: [{ id: 'team-a_app__Secret', v: 'v1' }] },
    } as never,
  });
const broken = kustomization({ status: 'False', reason: 'ReconciliationFailed', message: 'apply failed' });
const fine = kustomization({ status: 'True', reason: 'ReconciliationSucceeded', message: '' });

const released = (checks: HealthCheck[], objects: Parameters<typeof sync>[2], spec: object = {}) =>
  sync(rollout({ ...WATCHES, ...spec }, deployed), [imagePolicy('1.1.0'), ...checks] as never, objects);

it('a check that has failed since its last read holds the next version, and the Rollout reports it', async () => {
  const { tags, status, resyncAfterSeconds } = await released([check()], { objects: [broken] });
  expect(tags).toEqual(['1.0.0']);
  expect(status.conditions?.find(({ type }) => type === 'DeploymentBlocked')).toMatchObject({
    status: 'True',
    reason: 'UnhealthyHealthChecks',
    message: expect.stringContaining('ReconciliationFailed: apply failed'),
  });
  expect(resyncAfterSeconds).toBeLessThanOrEqual(15);
});

it('a check that is as healthy as before holds nothing', async () => {
  expect((await released([check()], { objects: [fine] })).tags).toEqual(['1.1.0', '1.0.0']);
});

it('a manual deployment, as with any unhealthy check, does not fail by health', async () => {
  const { tags, status } = await released([check()], { objects: [broken] }, { wantedVersion: '1.1.0' });
  expect(tags).toEqual(['1.1.0', '1.0.0']);
  expect(status.conditions?.find(({ type }) => type === 'BakeFailureDisabled')?.status).toBe('True');
});

it.each([
  ['its interval is named: it is not at rest', check({}, { 'healthcheck.kuberik.com/requeue-interval': '30s' })],
  ['it is of another class', check({ spec: { class: 'datadog' } })],
  ['it is not Healthy', check({ status: { ...healthy, status: 'Pending' } })],
])('nobody looks where %s', async (_, each) => {
  const { reads } = await released([each], { objects: [broken] });
  expect(reads.filter((read) => read.startsWith('get kustomizations'))).toEqual([]);
});

it('no check is read while there is nothing to deploy', async () => {
  const { reads } = await sync(rollout(WATCHES, deployed), [imagePolicy('1.0.0'), check()] as never, {
    objects: [broken],
  });
  expect(reads).toEqual([]);
});
