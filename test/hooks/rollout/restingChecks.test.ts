/** The last sync of a HealthCheck may be ten minutes ago: an object that failed since still blocks the next version. */
import { describe, expect, it } from 'vitest';
import type { HealthCheck } from '../../../api/types.ts';
import { namespaceOf, objectOf } from '../../support/objects.ts';
import { imagePolicy, rollout } from './call.ts';
import { deployed, sync } from './sync.ts';

const WATCHES = { healthCheckSelector: { selector: {} } };
const INTERVAL = 'healthcheck.kuberik.com/requeue-interval';
const healthy = { status: 'Healthy', message: 'fine', lastChangeTime: '2026-03-01T11:30:00Z' };

function check(fields: Partial<HealthCheck> = {}, annotations: Record<string, string> = {}): HealthCheck {
  return objectOf('HealthCheck', 'team-a/app', {
    metadata: { uid: 'u-check', annotations: { 'healthcheck.kuberik.com/kustomization': 'app', ...annotations } },
    spec: { class: 'kustomization' },
    status: healthy,
    ...fields,
  });
}

const kustomization = (ready: object, generation = 1) =>
  objectOf('Kustomization', 'team-a/app', {
    metadata: { generation },
    spec: { sourceRef: { kind: 'GitRepository', name: 'none' } },
    status: {
      observedGeneration: 1,
      conditions: [{ type: 'Ready', lastTransitionTime: '2026-03-01T11:58:00Z', observedGeneration: 1, ...ready }],
      inventory: { entries: [{ id: 'team-a_app__Secret', v: 'v1' }] },
    } as never,
  });
const broken = kustomization({ status: 'False', reason: 'BuildFailed', message: 'no such file' });
const fine = kustomization({ status: 'True', reason: 'ReconciliationSucceeded', message: '' });

const released = (checks: HealthCheck[], objects: Parameters<typeof sync>[2], spec: object = {}) =>
  sync(rollout({ ...WATCHES, ...spec }, deployed), [imagePolicy('1.1.0'), ...checks] as never, objects);

it('a check that has failed since its last read holds the next version, and the Rollout reports it', async () => {
  const { tags, status, resyncAfterSeconds } = await released([check()], { objects: [broken] });
  expect(tags).toEqual(['1.0.0']);
  expect(status.conditions?.find(({ type }) => type === 'DeploymentBlocked')).toMatchObject({
    status: 'True',
    reason: 'UnhealthyHealthChecks',
    message: expect.stringContaining('BuildFailed: no such file'),
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
  ['its interval is named: it is not at rest', check({}, { [INTERVAL]: '30s' })],
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

describe('the outcome of a bake', () => {
  const at = (time: string) => `2026-03-01T${time}Z`;
  const reported = (lastChangeTime: string) => check({ status: { ...healthy, lastChangeTime } });
  const old = reported(at('11:45:00'));
  const recent = reported(at('11:59:45'));
  const measured = (time: string) =>
    check({
      spec: {
        class: 'prometheus',
        prometheus: { provider: 'p', query: 'up', interval: '10s', thresholdRange: { max: 1 } },
      },
      status: {
        ...healthy,
        lastChangeTime: at('11:45:00'),
        prometheus: { failures: 0, measurements: [{ time: at(time), result: 'InRange', value: '0' }] },
      },
    });
  const changed = kustomization({ status: 'True', reason: 'ReconciliationSucceeded', message: '' }, 2);
  const began = { bakeStatus: 'InProgress', bakeStartTime: at('11:50:00') };
  const head = { id: 1, version: { tag: '1.0.0' }, timestamp: at('11:40:00'), appliedTime: at('11:41:00') };
  const cases: {
    name: string;
    report?: HealthCheck;
    now?: ReturnType<typeof kustomization>;
    entry?: object;
    bakeStatus: string;
    soon?: boolean;
  }[] = [
    { name: 'begins if the old report still holds', bakeStatus: 'InProgress' },
    {
      name: 'does not succeed on an old report of a check with an interval of its own',
      report: check({ status: { ...healthy, lastChangeTime: at('11:45:00') } }, { [INTERVAL]: '1h' }),
      entry: began,
      now: broken,
      bakeStatus: 'Failed',
    },
    { name: 'succeeds with a new measurement', report: measured('11:59:50'), entry: began, bakeStatus: 'Succeeded' },
    {
      name: 'does not succeed on a measurement from before an outage',
      report: measured('11:45:00'),
      entry: began,
      bakeStatus: 'InProgress',
      soon: true,
    },
    { name: 'does not begin on an old report of what has failed', now: broken, bakeStatus: 'Failed' },
    { name: 'waits if Flux has yet to apply a change', now: changed, bakeStatus: 'Deploying', soon: true },
    { name: 'begins on a report of a moment ago, unread', report: recent, now: broken, bakeStatus: 'InProgress' },
    { name: 'succeeds if the old report still holds', entry: began, bakeStatus: 'Succeeded' },
    { name: 'does not succeed on an old report', entry: began, now: broken, bakeStatus: 'Failed' },
    {
      name: 'does not succeed before Flux has applied a change',
      entry: began,
      now: changed,
      bakeStatus: 'InProgress',
      soon: true,
    },
  ];

  const bakesOn = (spec: object, checks: HealthCheck[], around: Parameters<typeof sync>[2]) => {
    const status = { ...deployed, history: [{ ...head, ...began }] };
    return sync(rollout({ bakeTime: '5m', ...spec }, status), [imagePolicy('1.0.0'), ...checks] as never, around);
  };

  it('does not succeed while an object of the inventory cannot be read', async () => {
    const entries = [{ id: 'team-a_app_apps_Deployment', v: 'v1' }];
    const applied = { ...fine, status: { ...fine.status, inventory: { entries } } };
    const { status, resyncAfterSeconds } = await bakesOn(WATCHES, [old], { objects: [applied], fails: 'deployments' });
    expect(status.history?.[0]).toMatchObject({ bakeStatus: 'InProgress' });
    expect(resyncAfterSeconds).toBeLessThanOrEqual(15);
  });

  it.each([
    ['does not succeed on the old report of a check of another namespace', broken, 'InProgress'],
    ['succeeds if the report of a check of another namespace still holds', fine, 'Succeeded'],
  ])('%s', async (_, found, bakeStatus) => {
    const metadata = { ...old.metadata, namespace: 'platform' };
    const watched = { ...metadata.annotations, 'healthcheck.kuberik.com/watched-from': 'team-a' };
    const foreign = { ...old, metadata: { ...metadata, annotations: watched } };
    const objects = [
      namespaceOf('platform'),
      foreign,
      { ...found, metadata: { ...found.metadata, namespace: 'platform' } },
    ];
    const spec = { healthCheckSelector: { selector: {}, namespaceSelector: {} } };
    const { status } = await bakesOn(spec, [], { objects: objects as never });
    expect(status.history?.[0]).toMatchObject({ bakeStatus });
  });

  const timesOut = [
    ['begins', {}, '19m30s', fine, 'InProgress'],
    ['does not begin', {}, '19m30s', changed, 'Failed'],
    ['waits for the grace period', began, '4m30s', fine, 'InProgress'],
    ['does not wait', began, '4m30s', changed, 'Failed'],
  ] as const;
  it.each(timesOut)('%s at its timeout, by the health now', async (_, entry, deployTimeout, found, bakeStatus) => {
    const pending = check({ status: { ...healthy, status: 'Pending', lastChangeTime: at('11:45:00') } });
    const status = { ...deployed, history: [{ ...head, bakeStatus: 'Deploying', ...entry }] };
    const spec = { ...WATCHES, bakeTime: '5m', deployTimeout };
    const answer = await sync(rollout(spec, status), [imagePolicy('1.0.0'), pending] as never, { objects: [found] });
    expect(answer.status.history?.[0]).toMatchObject({ bakeStatus });
  });

  it.each(cases)('$name', async ({ report = old, now = fine, entry = {}, bakeStatus, soon = false }) => {
    const status = { ...deployed, history: [{ ...head, bakeStatus: 'Deploying', ...entry }] };
    const spec = { ...WATCHES, bakeTime: '5m' };
    const answer = await sync(rollout(spec, status), [imagePolicy('1.0.0'), report] as never, { objects: [now] });
    expect(answer.status.history?.[0]).toMatchObject({ bakeStatus });
    if (soon) expect(answer.resyncAfterSeconds).toBeLessThanOrEqual(15);
  });
});
