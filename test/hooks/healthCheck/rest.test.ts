/** A HealthCheck that can't change without an event is rarely synced, and only such a one. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { HealthCheck } from '../../../api/types.ts';
import { namespaceOf } from '../../support/objects.ts';
import { at, cluster, GOOD, healthCheck, INVENTORY, kustomization, NOW, READY, rollout, syncOnce } from './fixture.ts';

const EVERY_MINUTE = { metadata: annotated('healthcheck.kuberik.com/requeue-interval', '1m') };
const WATCHED_FROM = { metadata: annotated('healthcheck.kuberik.com/watched-from', 'team-b') };
const WATCHES = { healthCheckSelector: { selector: {} } };
const healthy = (fields: object = {}) =>
  healthCheck({
    status: {
      status: 'Healthy',
      message: 'Kustomization and all managed resources are healthy',
      lastChangeTime: at('11:30:00'),
    },
    ...fields,
  });
const JUST_HEALTHY = { status: { ...healthy().status, lastChangeTime: at('11:59:50') } };
const running = kustomization({ ...READY, ...INVENTORY });
const atWork = kustomization({
  observedGeneration: 1,
  ...INVENTORY,
  conditions: [
    {
      type: 'Reconciling',
      status: 'True',
      reason: 'Progressing',
      message: 'Building',
      lastTransitionTime: at('11:59:59'),
    },
    { type: 'Ready', status: 'Unknown', reason: 'Progressing', message: '', lastTransitionTime: at('11:59:59') },
  ],
});
const baking = (bakeStatus: string, spec: object = WATCHES) =>
  rollout({ timestamp: at('11:00:00'), bakeStatus } as object, spec);
const namespace = (annotations?: object) => namespaceOf('demo', annotations && { annotations });

describe('when it is requeued', () => {
  it.each([
    ['nobody watches it', [], {}, 480],
    ['what it watched has baked', [baking('Succeeded')], {}, 480],
    ['a Rollout bakes that watches nothing', [baking('InProgress', {})], {}, 480],
    ['a deployment waits for its bake: it has been Healthy for half an hour', [baking('Deploying')], {}, 480],
    ['a deployment waits for its bake: it has just become Healthy', [baking('Deploying')], JUST_HEALTHY, 30],
    ['so does one, and another bakes', [baking('Deploying'), baking('InProgress')], {}, 30],
    ['one bakes', [baking('InProgress')], {}, 30],
    ['another namespace may watch it', [], WATCHED_FROM, 30],
  ])('%s', async (_, rollouts, fields, seconds) => {
    const { resyncAfterSeconds = 0 } = await syncOnce(healthy(fields), cluster([running, GOOD, namespace()]), rollouts);
    if (seconds === 30) expect(resyncAfterSeconds).toBe(30);
    else expect(resyncAfterSeconds).toBeGreaterThanOrEqual(seconds);
  });

  it.each([
    ['whether it does is not known', cluster([running, GOOD], { namespaces: 'timeout' }), {}],
    ['anybody may', cluster([running, GOOD, namespace()]), { watchWithoutConsent: true }],
  ])('in 30 seconds where %s', async (_, reader, settings) => {
    expect((await syncOnce(healthy(), reader, [], NOW, settings)).resyncAfterSeconds).toBe(30);
  });

  it('in 30 seconds where not everything could be read', async () => {
    const { resyncAfterSeconds } = await syncOnce(
      healthy(),
      cluster([running, GOOD, namespace()], { deployments: 'timeout' }),
    );
    // The message has changed: synced again at once, to see it stored.
    expect(resyncAfterSeconds).toBe(1);
    const still = healthy({
      status: {
        ...healthy().status,
        message: 'Still Healthy: not everything could be read. Errors: Deployment demo/test-deployment: timeout',
      },
    });
    const again = await syncOnce(still, cluster([running, GOOD, namespace()], { deployments: 'timeout' }));
    expect(again).toEqual({ attachments: [], resyncAfterSeconds: 30 });
  });
});

describe('while Flux reconciles an applied version again', () => {
  const sync = (object = healthy(), rollouts: Parameters<typeof syncOnce>[2] = [], now = NOW) => {
    const reader = cluster([atWork, GOOD, namespace()]);
    const answer = syncOnce(object, reader, rollouts, now, {}, undefined, [atWork]);
    return answer.then((given) => ({ ...given, requests: reader.reads }));
  };

  it('nothing is read at rest: the write with which Flux ends wakes it', async () => {
    expect(await sync()).toEqual({ attachments: [], resyncAfterSeconds: 30, requests: [] });
  });

  it('it is read if that takes longer', async () => {
    const { requests, status } = await sync(healthy(), [], NOW + 60_000);
    expect(requests).toContain('get deployments demo test-deployment');
    expect(status).toBeUndefined();
  });
});

describe('while Flux has yet to begin, its first write wakes the check', () => {
  const behind = kustomization({ ...READY, ...INVENTORY }, { metadata: { ...running.metadata, generation: 2 } });
  const cases: { name: string; kustomization: KubeObject; related?: boolean; fields?: object; seconds: number }[] = [
    { name: 'it was never reconciled', kustomization: kustomization(), seconds: 480 },
    { name: 'its new spec is not applied', kustomization: behind, seconds: 480 },
    { name: 'the check has an interval', kustomization: behind, fields: EVERY_MINUTE, seconds: 60 },
    { name: 'another namespace may watch the check', kustomization: behind, fields: WATCHED_FROM, seconds: 30 },
    { name: 'its changes trigger no sync', kustomization: behind, related: false, seconds: 30 },
    { name: 'its first apply has failing objects', kustomization: kustomization(INVENTORY), seconds: 30 },
    { name: 'Flux has begun', kustomization: atWork, seconds: 30 },
  ];

  it.each(cases)('$name', async ({ kustomization: object, related = true, fields = {}, seconds }) => {
    const reader = cluster([object, GOOD, namespace()]);
    const sync = (status: HealthCheck['status']) =>
      syncOnce(
        healthCheck({ ...fields, ...(status && { status }) }),
        reader,
        [baking('Deploying')],
        NOW,
        {},
        undefined,
        related ? [object] : [],
      );
    const first = await sync({ status: 'Pending', lastChangeTime: at('11:59:00') });
    expect(first.status).toMatchObject({ status: 'Pending' });
    const { resyncAfterSeconds } = await sync(first.status as HealthCheck['status']);
    if (seconds < 480) expect(resyncAfterSeconds).toBe(seconds);
    else expect(resyncAfterSeconds).toBeGreaterThanOrEqual(seconds);
  });
});

function annotated(key: string, value: string) {
  const annotations = { 'healthcheck.kuberik.com/kustomization': 'test-kustomization', [key]: value };
  return { name: 'hc', namespace: 'demo', annotations };
}
