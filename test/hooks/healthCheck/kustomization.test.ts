import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { HookCall } from '../../../api/ports.ts';
import type { HealthCheck } from '../../../api/types.ts';
import { LIMITS } from '../../../core/limits.ts';
import { namespaceOf } from '../../support/objects.ts';
import {
  at,
  cluster,
  deployment,
  failedSince,
  GOOD,
  healthCheck,
  INVENTORY,
  kustomization,
  NOW,
  one,
  READY,
  rollout,
  settle,
  syncOnce,
} from './fixture.ts';

const applied = kustomization({ ...READY, ...INVENTORY });
const ms = (time: string) => Date.parse(at(time));

describe('class kustomization: K1 to K17 are cases of the Go controller', () => {
  it('K3: a missing Kustomization: Unhealthy, and no error before there was one, since Git creates the check first', async () => {
    const { status, resyncAfterSeconds } = await settle(healthCheck(), cluster([]));
    expect(status).toEqual({
      status: 'Unhealthy',
      message: 'Kustomization not found: kustomizations.kustomize.toolkit.fluxcd.io "test-kustomization" not found',
      lastChangeTime: at('12:00:00'),
    });
    expect(resyncAfterSeconds).toBe(30);
  });

  it('K9: a healthy Deployment', async () => {
    const { status, resyncAfterSeconds } = await settle(healthCheck(), cluster([applied, GOOD]));
    const message = 'Kustomization and all managed resources are healthy';
    expect(status).toEqual({ status: 'Healthy', message, lastChangeTime: at('12:00:00') });
    expect(resyncAfterSeconds).toBeGreaterThanOrEqual(480);
  });

  it('K6: a Deployment that fails', async () => {
    const { status } = await settle(healthCheck(), cluster([kustomization(INVENTORY), failedSince('11:59:00')]));
    const message = expect.stringMatching(/^Unhealthy resources: /);
    expect(status).toMatchObject({ status: 'Unhealthy', message, lastErrorTime: at('11:59:00') });
  });

  it('K7: a Deployment that is missing is no failure for the Go controller', async () => {
    const reader = cluster([applied]);
    expect((await syncOnce(healthCheck(), reader, [], NOW, { kuberikCompat: true })).status).toMatchObject({
      status: 'Healthy',
      message: 'Kustomization and all managed resources are healthy (not found: demo/test-deployment)',
    });
    expect((await syncOnce(healthCheck(), reader)).status).toMatchObject({
      status: 'Pending',
      message: 'Pending resources: demo/test-deployment (not found)',
    });
  });

  it('a Deployment that is deleted after it was healthy fails the check once the grace period is over', async () => {
    const ready = [{ type: 'Ready', status: 'True', lastTransitionTime: at('11:00:00') }];
    const applied = kustomization({ observedGeneration: 1, conditions: ready, ...INVENTORY });
    const healthy = healthCheck({ status: { status: 'Healthy', lastChangeTime: at('11:00:05') } });
    const first = (await syncOnce(healthy, cluster([applied]))).status as HealthCheck['status'];
    expect(first).toMatchObject({ status: 'Pending', lastHealthyTime: at('12:00:00') });
    const later = (seconds: number) =>
      syncOnce(healthCheck({ status: first! }), cluster([applied]), [], NOW + seconds * 1000);
    expect((await later(59)).status).toBeUndefined();
    expect((await later(60)).status).toMatchObject({
      status: 'Unhealthy',
      message: 'Unhealthy resources: demo/test-deployment (Flux has applied it, but it does not exist)',
      lastErrorTime: at('12:00:00'),
    });
  });

  it('a failed attempt of Flux fails the check if the next one fails too', async () => {
    const failedAt = (time: string) => {
      const ready = { type: 'Ready', status: 'False', reason: 'ReconciliationFailed', lastTransitionTime: at(time) };
      return cluster([kustomization({ observedGeneration: 1, conditions: [ready], ...INVENTORY }), GOOD]);
    };
    const healthAt = async (status: HealthCheck['status'], failed: string, seen: string) =>
      (await syncOnce(healthCheck({ status: status! }), failedAt(failed), [], ms(seen)))
        .status as HealthCheck['status'];
    const first = await healthAt({ status: 'Healthy', lastChangeTime: at('11:00:00') }, '11:59:58', '12:00:00');
    expect(first).toMatchObject({
      status: 'Pending',
      failedAttempts: [{ object: 'Kustomization demo/test-kustomization', first: at('11:59:58') }],
    });
    expect(await healthAt(first, '11:59:58', '12:09:00')).toBeUndefined();
    const second = await healthAt(first, '12:10:00', '12:10:01');
    expect(second).toMatchObject({ status: 'Unhealthy', lastErrorTime: at('12:10:00') });
  });

  describe('a Deployment whose new Pods take longer than the grace period', () => {
    const startsAfter = (change: object, changedAt: string) => {
      const found = deployment([{ type: 'Available', status: 'True' }], { ...one, replicas: 2, updatedReplicas: 2 });
      const managedFields = [{ manager: 'other', operation: 'Update', time: at(changedAt), ...change }];
      return { ...found, metadata: { ...found.metadata, managedFields }, spec: { replicas: 2 } } as KubeObject;
    };
    const healthSince = async (since: string, baking: object[], object: KubeObject) => {
      const rollouts = baking.map((head) => rollout(head, { healthCheckSelector: { selector: {} } }));
      const reader = cluster([applied, object]);
      const healthy = healthCheck({ status: { status: 'Healthy', lastChangeTime: at(since) } });
      const seen = (await syncOnce(healthy, reader, rollouts)).status as HealthCheck['status'];
      const later = (await syncOnce(healthCheck({ status: seen! }), reader, rollouts, NOW + 61_000)).status;
      return [seen, later ?? seen].map((status) => (status as HealthCheck['status'])?.status);
    };
    const deploying = { bakeStatus: 'Deploying', timestamp: at('11:00:00') };
    const baking = { ...deploying, bakeStatus: 'InProgress', bakeStartTime: at('11:10:00') };

    it.each([
      ['an autoscaler scaled it during the bake', [baking], { subresource: 'scale' }, '11:59:40', 'Pending'],
      ['a user restarted it during the bake', [baking], {}, '11:59:40', 'Pending'],
      ['it was scaled before the last evaluation', [baking], { subresource: 'scale' }, '11:58:30', 'Unhealthy'],
      ['it was scaled while the deployment waits', [deploying], { subresource: 'scale' }, '11:52:00', 'Pending'],
      ['it was scaled while the check was at rest', [], { subresource: 'scale' }, '11:52:00', 'Pending'],
      ['it was healthy with this spec, for a moment', [baking], {}, '11:59:40', 'Unhealthy', '11:59:45'],
      ['it was restarted in the second in which it was healthy', [baking], {}, '11:59:45', 'Pending', '11:59:45'],
      ['it was restarted after the clock was set back', [baking], {}, '11:59:45', 'Pending', '13:00:00'],
    ])('%s', async (_, heads, change, changedAt, health, since = '11:30:00') => {
      expect(await healthSince(since, heads, startsAfter(change, changedAt))).toEqual(['Pending', health]);
    });
  });

  it.each([
    [{}, 'annotation healthcheck.kuberik.com/kustomization not found'],
    [{ 'healthcheck.kuberik.com/kustomization': 'a/b/c' }, 'invalid kustomization reference format: a/b/c'],
    [{ 'healthcheck.kuberik.com/kustomization': '' }, 'invalid kustomization reference format: '],
  ])('a bad reference %j is Unhealthy', async (annotations, message) => {
    const { status } = await settle(healthCheck({ annotations }), cluster([]));
    expect(status).toMatchObject({ status: 'Unhealthy', message, lastErrorTime: at('12:00:00') });
  });

  it('no annotations at all', async () => {
    const object = healthCheck();
    delete object.metadata.annotations;
    expect((await settle(object, cluster([]))).status).toMatchObject({
      message: 'no annotations found on HealthCheck',
    });
  });

  it('K8: a Kustomization of another namespace', async () => {
    const metadata = { name: 'x', namespace: 'flux-system', generation: 1 };
    const elsewhere = kustomization({ ...READY, ...INVENTORY }, { metadata });
    const object = healthCheck({ annotations: { 'healthcheck.kuberik.com/kustomization': 'flux-system/x' } });
    const annotations = { 'healthcheck.kuberik.com/watched-from': 'other, demo' };
    const willing = namespaceOf('flux-system', { annotations });
    const unseen = await settle(object, cluster([kustomization({}, { metadata }), willing]));
    expect(unseen.status).toMatchObject({ message: expect.stringMatching(/^Kustomization pending: /) });
    expect((await settle(object, cluster([elsewhere, GOOD, willing]))).status).toMatchObject({ status: 'Healthy' });
    const annotated = { ...elsewhere, metadata: { ...metadata, annotations } };
    expect((await settle(object, cluster([annotated, GOOD]))).status).toMatchObject({ status: 'Healthy' });
  });

  it.each([
    { title: 'that is there', objects: ['x'] },
    { title: 'that is not there', objects: [] },
  ])('a Kustomization of another namespace $title and lets nobody watch it looks the same', async ({ objects }) => {
    const there = objects.map((name) =>
      kustomization({ ...READY, ...INVENTORY }, { metadata: { name, namespace: 'flux-system', generation: 1 } }),
    );
    const object = healthCheck({ annotations: { 'healthcheck.kuberik.com/kustomization': 'flux-system/x' } });
    const reader = cluster([...there, GOOD]);
    expect((await settle(object, reader)).status).toEqual({
      status: 'Unhealthy',
      message:
        "Kustomization 'flux-system/x' does not exist, or this namespace isn't allowed to watch it: to allow it, set the annotation healthcheck.kuberik.com/watched-from: demo on the object or on its namespace",
      lastChangeTime: at('12:00:00'),
    });
    expect(reader.reads.filter((request) => request.includes('deployments'))).toEqual([]);
  });

  it('a Kustomization of another namespace whose consent cannot be read', async () => {
    const object = healthCheck({ annotations: { 'healthcheck.kuberik.com/kustomization': 'flux-system/x' } });
    const { status } = await settle(object, cluster([], { namespaces: 'timeout' }));
    expect(status).toMatchObject({ status: 'Pending', message: 'Namespace flux-system could not be read: timeout' });
  });

  describe('an inventory is read as far as the account may reach that applies the Kustomization', () => {
    const foreign = {
      inventory: { entries: [...INVENTORY.inventory.entries, { id: 'victim_secretive_apps_Deployment', v: 'v1' }] },
    };
    const applied = (serviceAccountName?: string) =>
      kustomization(
        { ...READY, ...foreign },
        {
          spec: {
            sourceRef: { kind: 'GitRepository', name: 'absent' },
            ...(serviceAccountName && { serviceAccountName }),
          },
        },
      );
    const account = 'system:serviceaccount:demo:team';
    const look = async (object: KubeObject, settings: object = {}) => {
      const asked: string[] = [];
      const reader = cluster([object, GOOD]);
      const access: HookCall['access'] = {
        may: async ({ username, groups }, { verb, group, resource, namespace, name }) => {
          expect([username, groups]).toEqual([
            account,
            ['system:serviceaccounts', 'system:serviceaccounts:demo', 'system:authenticated'],
          ]);
          asked.push([verb, group, resource, namespace, name].join(' '));
          return namespace === 'demo';
        },
      };
      const { status } = await syncOnce(healthCheck(), reader, [], NOW, settings, access);
      return { status, asked, read: reader.reads.filter((request) => request.includes('deployments')) };
    };

    it.each([
      { title: 'of its spec', object: applied('team'), settings: {} },
      { title: 'of the installation', object: applied(), settings: { defaultServiceAccount: 'team' } },
    ])('$title; what it may not reach is not read, and the check says so', async ({ object, settings }) => {
      const { status, asked, read } = await look(object, settings);
      expect(asked.sort()).toEqual(['get apps deployments demo ', 'get apps deployments victim ']);
      expect(read).toEqual(['get deployments demo test-deployment']);
      expect(status).toMatchObject({
        status: 'Pending',
        message: `Errors: Deployment victim/secretive: not read: ${account} isn't allowed to get deployments in victim`,
      });
    });

    it('if there is none, Flux applies as cluster admin, and all objects are read', async () => {
      const { asked, read } = await look(applied());
      expect(asked).toEqual([]);
      expect(read).toHaveLength(2);
    });
  });

  it('an inventory of more kinds and namespaces than the limit is not read beyond it, and is never Healthy', async () => {
    const entries = Array.from({ length: LIMITS.inventoryKinds + 1 }, (_, i) => ({
      id: `ns-${i}_x_apps_Deployment`,
      v: 'v1',
    }));
    const reader = cluster([kustomization({ ...READY, inventory: { entries } })]);
    const { status } = await syncOnce(healthCheck(), reader);
    expect(status).toMatchObject({ status: 'Pending', message: expect.stringContaining('limit inventoryKinds') });
    expect(reader.reads.filter((request) => request.includes('deployments'))).toHaveLength(LIMITS.inventoryKinds);
  });

  it('a Kustomization of another namespace is not followed if cross-namespace references are forbidden', async () => {
    const object = healthCheck({ annotations: { 'healthcheck.kuberik.com/kustomization': 'flux-system/x' } });
    const reader = cluster([]);
    const answer = await syncOnce(object, reader, [], NOW, { noCrossNamespaceRefs: true });
    expect(answer.status).toMatchObject({
      status: 'Unhealthy',
      message: "Kustomization 'flux-system/x' is in another namespace, which this installation forbids",
    });
    expect(reader.reads).toEqual([]);
  });

  it('waits for a deployment of a Rollout that does not watch it: the Kustomization’s annotation names it', async () => {
    const deployed = 'test-rollout=1/1.0.0/u1';
    const carrying = kustomization(
      { ...READY, ...INVENTORY },
      {
        metadata: {
          name: 'test-kustomization',
          namespace: 'demo',
          generation: 1,
          annotations: { 'rollout.kuberik.com/deployed': deployed },
        },
      },
    );
    const at2 = rollout({ id: 2, version: { tag: '1.1.0' }, timestamp: at('11:00:00') });
    const reader = cluster([carrying, GOOD, at2]);
    expect((await syncOnce(healthCheck(), reader)).status).toMatchObject({
      status: 'Pending',
      message: expect.stringContaining('still has test-rollout 1.0.0 (1); test-rollout 1.1.0 (2) is rolling out'),
    });
    expect(reader.reads).toContain('get rollouts demo test-rollout');
    const known = cluster([carrying, GOOD]);
    const reset = healthCheck({ status: { status: 'Pending', lastChangeTime: at('11:30:00') } });
    expect((await syncOnce(reset, known, [at2])).status).toMatchObject({
      message: expect.stringContaining('is rolling out'),
    });
    expect(known.reads).not.toContain('get rollouts demo test-rollout');
    const broken = cluster([carrying, GOOD], { rollouts: 'timeout' });
    const healthy = healthCheck({ status: { status: 'Healthy', lastChangeTime: at('11:00:00') } });
    expect((await syncOnce(healthy, broken)).status).toHaveProperty(
      'message',
      'Still Healthy: not everything could be read. Rollouts could not be read: timeout',
    );
  });
});
