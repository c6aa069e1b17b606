import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { HookCall } from '../../../api/ports.ts';
import type { HealthCheck, Rollout } from '../../../api/types.ts';
import { LIMITS } from '../../../core/limits.ts';
import { healthCheckHook } from '../../../hooks/healthCheck/healthCheck.ts';
import { fakeCluster, fakeHookCall } from '../../support/ports.ts';
import { at, cluster, healthCheck, NOW, rollout, settle, syncOnce } from './fixture.ts';

/** Never reconciled, as the API server makes it, unless a status is given. */
function kustomization(status: object = {}, fields: object = {}): KubeObject {
  return {
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    kind: 'Kustomization',
    metadata: { name: 'test-kustomization', namespace: 'demo', generation: 1 },
    spec: { sourceRef: { kind: 'GitRepository', name: 'absent' } },
    status: { observedGeneration: -1, ...status },
    ...fields,
  };
}

const READY = { observedGeneration: 1, conditions: [{ type: 'Ready', status: 'True' }] };
const INVENTORY = { inventory: { entries: [{ id: 'demo_test-deployment_apps_Deployment', v: 'v1' }] } };

function deployment(conditions: object[], counters: object = {}): KubeObject {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'test-deployment', namespace: 'demo', generation: 1 },
    spec: { replicas: 1 },
    status: { observedGeneration: 1, ...counters, conditions },
  };
}
const one = { replicas: 1, updatedReplicas: 1, availableReplicas: 1, readyReplicas: 1 };
const GOOD = deployment([{ type: 'Available', status: 'True' }], one);
const failedSince = (time: string) =>
  deployment([
    { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', lastTransitionTime: at(time) },
  ]);

describe('reset: H1 to H16 are cases of the Go controller', () => {
  it.each([
    ['H1', 'kustomization'],
    ['H2', 'unknown'],
    ['H3', undefined],
  ])('%s: without Rollouts, class %s is not reset', async (_, kind) => {
    const object = healthCheck({ spec: kind === undefined ? {} : { class: kind }, status: { status: 'Healthy' } });
    const { statuses } = await settle(object, cluster([kustomization({ ...READY, ...INVENTORY }), GOOD]));
    expect(statuses.filter((s) => s.message?.includes('reset'))).toEqual([]);
  });

  it.each(['unknown', undefined])('H2, H3: class %s has nothing to say and asks for no resync', async (kind) => {
    const object = healthCheck({ spec: kind === undefined ? {} : { class: kind } });
    expect(await syncOnce(object, cluster([]))).toEqual({ attachments: [] });
  });

  const deployedAnHourAgo = rollout({ timestamp: at('11:00:00') });
  const RESET = {
    status: 'Pending',
    message: 'Health check reset due to new deployment',
    lastChangeTime: at('12:00:00'),
  };
  type Row = [string, HealthCheck['status'], Rollout, HealthCheck['status'] | undefined];
  const rows: Row[] = [
    [
      'H5: changed before the deployment',
      { status: 'Healthy', lastChangeTime: at('10:00:00') },
      deployedAnHourAgo,
      RESET,
    ],
    [
      'H7: changed after it',
      { status: 'Healthy', lastChangeTime: at('11:30:00'), lastErrorTime: at('09:00:00') },
      deployedAnHourAgo,
      undefined,
    ],
    [
      'H6: an error and no change',
      { status: 'Unhealthy', message: 'bad', lastErrorTime: at('10:00:00') },
      deployedAnHourAgo,
      RESET,
    ],
    [
      'H8: changed after an old deployment',
      { status: 'Healthy', lastChangeTime: at('11:30:00') },
      rollout({ timestamp: at('10:00:00') }),
      undefined,
    ],
    ['H9: Healthy without times', { status: 'Healthy' }, deployedAnHourAgo, RESET],
    ['H11: with an error', { status: 'Healthy', lastErrorTime: at('10:00:00') }, deployedAnHourAgo, RESET],
    [
      'H15: failed after a retry',
      { status: 'Unhealthy', message: 'bad', lastChangeTime: at('11:55:00'), lastErrorTime: at('11:55:00') },
      rollout({ timestamp: at('10:00:00'), lastRetryTimestamp: at('11:30:00') }),
      undefined,
    ],
    [
      'reported before the version was applied',
      { status: 'Healthy', lastChangeTime: at('11:30:00') },
      rollout({ timestamp: at('11:00:00'), appliedTime: at('11:31:00') }),
      RESET,
    ],
    [
      'H14, H16: failed after the deployment and before a retry',
      { status: 'Unhealthy', message: 'bad', lastChangeTime: at('11:00:00'), lastErrorTime: at('11:00:00') },
      rollout({ timestamp: at('09:00:00'), lastRetryTimestamp: at('11:30:00') }),
      RESET,
    ],
    ['H4: a Rollout that has deployed nothing', { status: 'Healthy' }, rollout(), undefined],
    ['half a status', {}, deployedAnHourAgo, RESET],
  ];
  it.each(rows)('%s', async (_, status, by, expected) => {
    const object = healthCheck({ spec: {}, ...(status && { status }) });
    expect((await syncOnce(object, cluster([]), [by])).status).toEqual(expected);
  });

  it('looks again after a second, in case the write was lost in a conflict', async () => {
    const object = healthCheck({ spec: {}, status: { status: 'Healthy' } });
    expect((await syncOnce(object, cluster([]), [deployedAnHourAgo])).resyncAfterSeconds).toBe(1);
  });

  it('happens once', async () => {
    const object = healthCheck({ spec: {}, status: { status: 'Healthy' } });
    const { statuses } = await settle(object, cluster([]), [deployedAnHourAgo]);
    expect(statuses).toEqual([RESET]);
  });

  it('a deployment of the future resets when its time has come', async () => {
    const object = healthCheck({ spec: {}, status: { status: 'Healthy' } });
    const future = rollout({ timestamp: at('12:00:20') });
    expect(await syncOnce(object, cluster([]), [future])).toEqual({ attachments: [], resyncAfterSeconds: 20 });
    expect((await syncOnce(object, cluster([]), [future], NOW + 20_000)).status).toMatchObject({ status: 'Pending' });
  });

  it('Q20: a Rollout of another namespace never resets this one, whatever it selects and whoever allows it', async () => {
    const elsewhere = rollout(
      { timestamp: at('11:00:00') },
      { healthCheckSelector: { selector: {}, namespaceSelector: { matchLabels: { team: 'a' } } } },
      { namespace: 'other' },
    );
    const annotations = { 'healthcheck.kuberik.com/watched-from': '*' };
    const namespace = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'demo', labels: { team: 'a' }, annotations },
    };
    const object = healthCheck({
      spec: {},
      annotations,
      status: { status: 'Unhealthy', lastErrorTime: at('10:00:00') },
    });
    expect((await syncOnce(object, cluster([namespace]), [elsewhere])).status).toBeUndefined();
  });

  it('an unreadable namespace is no answer at all', async () => {
    const elsewhere = rollout(
      { timestamp: at('11:00:00') },
      { healthCheckSelector: { selector: {}, namespaceSelector: {} } },
    );
    await expect(syncOnce(healthCheck(), cluster([], { namespaces: 'timeout' }), [elsewhere])).rejects.toThrow(
      'timeout',
    );
  });
});

describe('class kustomization: K1 to K17 are cases of the Go controller', () => {
  it('K1: another class is left alone', async () => {
    expect(await syncOnce(healthCheck({ spec: { class: 'other' } }), cluster([kustomization()]))).toEqual({
      attachments: [],
    });
  });

  it('K3: no such Kustomization: Unhealthy, and no error before there was one, since Git creates the check first', async () => {
    const { status, resyncAfterSeconds } = await settle(healthCheck(), cluster([]));
    expect(status).toEqual({
      status: 'Unhealthy',
      message: 'Kustomization not found: kustomizations.kustomize.toolkit.fluxcd.io "test-kustomization" not found',
      lastChangeTime: at('12:00:00'),
    });
    expect(resyncAfterSeconds).toBe(30);
  });

  it('K3: a Kustomization that goes is an error', async () => {
    const before = { status: 'Healthy', lastChangeTime: at('11:00:00') };
    const { status } = await settle(healthCheck({ status: before }), cluster([]));
    expect(status).toMatchObject({ status: 'Unhealthy', lastErrorTime: at('12:00:00') });
  });

  const progressing = deployment([{ type: 'Progressing', status: 'True', reason: 'NewReplicaSetCreated' }]);
  type Row = [string, KubeObject[], Rollout[], Record<string, unknown>];
  const rows: Row[] = [
    [
      'K5: a Deployment that is starting',
      [kustomization(INVENTORY), progressing],
      [],
      {
        status: 'Pending',
        message: 'Pending resources: demo/test-deployment (Replicas: 0/1)',
        lastChangeTime: at('12:00:00'),
      },
    ],
    ['K7: a Deployment that is missing', [kustomization({ ...READY, ...INVENTORY })], [], { status: 'Healthy' }],
    [
      'K9: a healthy Deployment',
      [kustomization({ ...READY, ...INVENTORY }), GOOD],
      [],
      {
        status: 'Healthy',
        message: 'Kustomization and all managed resources are healthy',
        lastChangeTime: at('12:00:00'),
      },
    ],
    [
      'K4: a Kustomization that Flux has not looked at',
      [kustomization()],
      [],
      { status: 'Pending', message: expect.stringMatching(/^Kustomization pending: /) },
    ],
    [
      'K6: a Deployment that fails',
      [kustomization(INVENTORY), failedSince('11:59:00')],
      [],
      {
        status: 'Unhealthy',
        message: expect.stringMatching(/^Unhealthy resources: /),
        lastErrorTime: at('11:59:00'),
      },
    ],
    [
      'K15: failed before the retry',
      [kustomization(INVENTORY), failedSince('11:40:00')],
      [rollout({ timestamp: at('11:00:00'), lastRetryTimestamp: at('11:55:00') })],
      { status: 'Unhealthy', lastErrorTime: at('11:40:00') },
    ],
    [
      'K16: failed after the retry',
      [kustomization(INVENTORY), failedSince('11:59:00')],
      [rollout({ timestamp: at('11:30:00'), lastRetryTimestamp: at('11:40:00') })],
      { status: 'Unhealthy', lastErrorTime: at('11:59:00') },
    ],
    [
      'K17: failed, nothing deployed',
      [kustomization(INVENTORY), failedSince('11:00:00')],
      [],
      { status: 'Unhealthy', lastErrorTime: at('11:00:00') },
    ],
    [
      'no inventory',
      [kustomization(READY)],
      [],
      { status: 'Pending', message: 'Kustomization has no managed resources' },
    ],
  ];
  it.each(rows)('%s', async (_, objects, rollouts, expected) => {
    const { status, resyncAfterSeconds } = await settle(healthCheck(), cluster(objects), rollouts);
    expect(status).toMatchObject(expected);
    expect(resyncAfterSeconds).toBe(30);
  });

  it('K13: a second HealthCheck of the same Kustomization', async () => {
    const second = healthCheck({ metadata: { name: 'second', namespace: 'demo' }, status: { status: 'Pending' } });
    const { status } = await settle(second, cluster([kustomization()]));
    expect(status).toMatchObject({ status: 'Pending', message: expect.stringMatching(/^Kustomization pending: /) });
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
    const willing = {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'flux-system', annotations: { 'healthcheck.kuberik.com/watched-from': 'other, demo' } },
    };
    const unseen = await settle(object, cluster([kustomization({}, { metadata }), willing]));
    expect(unseen.status).toMatchObject({ message: expect.stringMatching(/^Kustomization pending: /) });
    expect((await settle(object, cluster([elsewhere, GOOD, willing]))).status).toMatchObject({ status: 'Healthy' });
    const annotated = { ...elsewhere, metadata: { ...metadata, annotations: willing.metadata.annotations } };
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
        "Kustomization 'flux-system/x' is not there or may not be watched: the annotation healthcheck.kuberik.com/watched-from: demo on it or on its namespace allows it",
      lastChangeTime: at('12:00:00'),
    });
    expect(reader.requests.filter((request) => request.includes('deployments'))).toEqual([]);
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
      return { status, asked, read: reader.requests.filter((request) => request.includes('deployments')) };
    };

    it.each([
      { title: 'of its spec', object: applied('team'), settings: {} },
      { title: 'of the installation', object: applied(), settings: { defaultServiceAccount: 'team' } },
    ])('$title; what it may not reach is not read, and the check says so', async ({ object, settings }) => {
      const { status, asked, read } = await look(object, settings);
      expect(asked.sort()).toEqual(['get apps deployments demo ', 'get apps deployments victim ']);
      expect(read).toEqual(['get deployments demo/test-deployment']);
      expect(status).toMatchObject({
        status: 'Pending',
        message: `Errors: Deployment victim/secretive: not read: ${account} may not get deployments in victim`,
      });
    });

    it('where there is none, Flux applies it as cluster admin, and all is read', async () => {
      const { asked, read } = await look(applied());
      expect(asked).toEqual([]);
      expect(read).toHaveLength(2);
    });

    it('and not at all where its objects are in another cluster', async () => {
      const elsewhere = applied('team');
      elsewhere.spec = { ...elsewhere.spec, kubeConfig: { secretRef: { name: 'other' } } };
      expect(await look(elsewhere)).toMatchObject({ status: { status: 'Healthy' }, asked: [], read: [] });
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
    expect(reader.requests.filter((request) => request.includes('deployments'))).toHaveLength(LIMITS.inventoryKinds);
  });

  it('a Kustomization of another namespace is not followed where such references are forbidden', async () => {
    const object = healthCheck({ annotations: { 'healthcheck.kuberik.com/kustomization': 'flux-system/x' } });
    const reader = cluster([]);
    const answer = await syncOnce(object, reader, [], NOW, { noCrossNamespaceRefs: true });
    expect(answer.status).toMatchObject({
      status: 'Unhealthy',
      message: "Kustomization 'flux-system/x' is in another namespace, which this installation forbids",
    });
    expect(reader.requests).toEqual([]);
  });

  it('after a deployment is reset before it is judged again', async () => {
    const object = healthCheck({ status: { status: 'Healthy', lastChangeTime: at('10:00:00') } });
    const reader = cluster([kustomization({ ...READY, ...INVENTORY }), GOOD]);
    const { statuses } = await settle(object, reader, [rollout({ timestamp: at('11:00:00') })]);
    expect(statuses.map((s) => s.status)).toEqual(['Pending', 'Healthy']);
  });

  it('the interval comes from the annotation', async () => {
    const annotations = {
      'healthcheck.kuberik.com/kustomization': 'test-kustomization',
      'healthcheck.kuberik.com/requeue-interval': '2m',
    };
    const { resyncAfterSeconds } = await settle(healthCheck({ annotations }), cluster([kustomization(READY)]));
    expect(resyncAfterSeconds).toBe(120);
  });
});

describe('reads', () => {
  const many = (kind: string, count: number) =>
    Array.from({ length: count }, (_, i) => ({ id: `demo_x${i}__${kind}`, v: 'v1' }));
  const inventory = (entries: object[]) => kustomization({ ...READY, inventory: { entries } });
  const service = (i: number): KubeObject => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: `x${i}`, namespace: 'demo' },
  });

  it('2,000 objects take one list', async () => {
    const reader = cluster([inventory(many('Service', 2000)), ...Array.from({ length: 2000 }, (_, i) => service(i))]);
    const { status } = await settle(healthCheck(), reader);
    expect(status).toMatchObject({ status: 'Healthy', message: 'Kustomization and all managed resources are healthy' });
    expect(reader.requests.filter((r) => r.includes('services'))).toEqual(['list services demo', 'list services demo']);
  });

  it('judges items of a list by their kind, which the API server leaves out', async () => {
    const pods = Array.from({ length: 8 }, (_, i) => ({
      ...service(i),
      kind: 'Pod',
      status: { phase: i ? 'Succeeded' : 'Pending' },
    }));
    const { status } = await settle(healthCheck(), cluster([inventory(many('Pod', 8)), ...pods]));
    expect(status?.message).toBe('Pending resources: demo/x0 (Pod is in the Pending phase)');
  });

  it('Secrets are not read', async () => {
    const reader = cluster([inventory(many('Secret', 3))], { secrets: 'forbidden' });
    expect((await settle(healthCheck(), reader)).status).toMatchObject({ status: 'Healthy' });
    expect(reader.requests.join()).not.toContain('secrets');
  });

  it('Q27: a failed read of an object keeps the health', async () => {
    const reader = cluster([inventory(many('Service', 1))], { services: 'etcd is on holiday\nstack' });
    const object = healthCheck({ status: { status: 'Healthy', lastChangeTime: at('11:00:00') } });
    expect((await settle(object, reader)).status).toEqual({
      status: 'Healthy',
      message: 'Healthy as before, not all could be read. Errors: Service demo/x0: etcd is on holiday',
      lastChangeTime: at('11:00:00'),
    });
    expect((await settle(healthCheck(), reader)).status).toMatchObject({ status: 'Pending' });
  });

  it.each(['kustomizations', 'gitrepositories'])('Q27: a failed read of %s keeps the health', async (resource) => {
    const object = healthCheck({ status: { status: 'Healthy', lastChangeTime: at('11:00:00') } });
    const { status } = await settle(object, cluster([kustomization(READY)], { [resource]: 'timeout' }));
    expect(status?.message).toBe('Healthy as before, not all could be read. Kustomization could not be read: timeout');
    expect(status?.lastErrorTime).toBeUndefined();
  });

  it('gives up after many failed reads, so that the sync ends', async () => {
    const entries = Array.from({ length: 500 }, (_, i) => ({ id: `ns${i}_x__Service`, v: 'v1' }));
    const reader = cluster([inventory(entries)], { services: 'timeout' });
    await syncOnce(healthCheck(), reader);
    expect(reader.requests.length).toBeLessThan(30);
  });

  it('asks discovery for the resource where the reader can', async () => {
    const reader = cluster([inventory([{ id: 'demo_x_example.com_Moose', v: 'v1' }])]);
    reader.resourceOf = async ({ kind }) => (kind === 'Moose' ? { resource: 'moose', namespaced: true } : undefined);
    await syncOnce(healthCheck(), reader);
    expect(reader.requests).toContain('get moose demo/x');
  });

  it('a kind that is served no more has no objects', async () => {
    const reader = cluster([inventory(many('Service', 1))]);
    reader.resourceOf = async () => undefined;
    expect((await settle(healthCheck(), reader)).status?.message).toMatch(/\(not found: demo\/x0\)$/);
  });
});

describe('customize', () => {
  const customize = (object: HealthCheck, serves = true) => {
    const parent = object as unknown as KubeObject;
    return healthCheckHook.customize!(
      { controller: parent, parent },
      fakeHookCall({ now: NOW, cluster: fakeCluster([], { serves: () => serves }) }).call,
    );
  };
  const own = { apiVersion: 'kuberik.com/v1alpha1', resource: 'rollouts', namespace: 'demo' };
  const named = (namespace: string, name: string) => ({
    apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
    resource: 'kustomizations',
    namespace,
    names: [name],
  });

  it('relates the Rollouts of its namespace, and its Kustomization', async () => {
    expect((await customize(healthCheck())).relatedResources).toEqual([own, named('demo', 'test-kustomization')]);
  });

  it('relates the Rollouts beside a Kustomization of another namespace', async () => {
    const object = healthCheck({ annotations: { 'healthcheck.kuberik.com/kustomization': 'flux-system/x' } });
    const { relatedResources } = await customize(object);
    expect(relatedResources).toEqual([own, named('flux-system', 'x'), { ...own, namespace: 'flux-system' }]);
  });

  it('leaves the Kustomization out where Flux is not installed, or the reference is bad, or the class is another', async () => {
    expect((await customize(healthCheck(), false)).relatedResources).toEqual([own]);
    expect((await customize(healthCheck({ annotations: {} }))).relatedResources).toEqual([own]);
    expect((await customize(healthCheck({ spec: {} }))).relatedResources).toEqual([own]);
  });
});

it('an object that is going has nothing to say', async () => {
  const object = healthCheck({ metadata: { name: 'hc', namespace: 'demo', deletionTimestamp: at('11:00:00') } });
  expect(await syncOnce(object, cluster([]))).toEqual({ attachments: [] });
});
