import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { HealthStatus } from '../../../core/health/healthStatus.ts';
import { fakeHookCall } from '../../../dev/fakes/ports.ts';
import { decorating } from '../../../dev/fakes/requests.ts';
import { healthCheckHook } from '../../../hooks/healthCheck/healthCheckHook.ts';
import { kubeObject, objectOf } from '../../support/objects.ts';
import { at, cluster, healthCheck, kustomization, NOW, READY, settle, syncOnce } from './fixture.ts';

const lookedAt = async (reader: ReturnType<typeof cluster>) => (await syncOnce(healthCheck(), reader)).status;

describe('reads', () => {
  const many = (kind: string, count: number) =>
    Array.from({ length: count }, (_, i) => ({ id: `demo_x${i}__${kind}`, v: 'v1' }));
  const inventory = (entries: object[]) => kustomization({ ...READY, inventory: { entries } });
  const service = (i: number): KubeObject => kubeObject('v1', 'Service', `demo/x${i}`);

  const applied = {
    'kustomize.toolkit.fluxcd.io/name': 'test-kustomization',
    'kustomize.toolkit.fluxcd.io/namespace': 'demo',
  };
  const labelled = (object: KubeObject): KubeObject => ({
    ...object,
    metadata: { ...object.metadata, labels: applied },
  });
  const range = (count: number) => Array.from({ length: count }, (_, i) => i);
  const HEALTHY = { status: 'Healthy', message: 'Kustomization and all managed resources are healthy' };

  it('2,000 objects take one list, of the applied objects only', async () => {
    const others = range(3000).map((i) => ({ ...service(i), metadata: { name: `other-${i}`, namespace: 'demo' } }));
    const reader = cluster([
      inventory(many('Service', 2000)),
      ...range(2000).map((i) => labelled(service(i))),
      ...others,
    ]);
    expect(await lookedAt(reader)).toMatchObject(HEALTHY);
    expect(reader.reads.filter((r) => r.includes('services'))).toEqual(['list services demo']);
    expect([...reader.read].some(({ metadata }) => metadata.name?.startsWith('other-'))).toBe(false);
  });

  it('an object without the labels is read by name', async () => {
    const services = range(9).map((i) => (i === 3 ? service(i) : labelled(service(i))));
    const reader = cluster([inventory(many('Service', 9)), ...services]);
    expect(await lookedAt(reader)).toMatchObject(HEALTHY);
    expect(reader.reads.filter((r) => r.includes('services'))).toEqual(['list services demo', 'get services demo x3']);
  });

  it('of a ConfigMap never more than the metadata', async () => {
    const maps = range(2).map((i) => ({ ...service(i), kind: 'ConfigMap' }));
    const reader = cluster([inventory(many('ConfigMap', 2)), labelled(maps[0]!), maps[1]!]);
    expect(await lookedAt(reader)).toMatchObject(HEALTHY);
    expect(reader.reads.filter((r) => r.includes('configmaps'))).toEqual([
      'listMetadata configmaps demo metadata.name=x0',
      'listMetadata configmaps demo metadata.name=x1',
    ]);
  });

  it('2,000 that lack the labels take one list more', async () => {
    const reader = cluster([inventory(many('Service', 2000)), ...range(2000).map(service)]);
    expect(await lookedAt(reader)).toMatchObject(HEALTHY);
    expect(reader.reads.filter((r) => r.includes('services'))).toEqual(['list services demo', 'list services demo']);
  });

  it('evaluates items of a list by their kind, which the API server leaves out', async () => {
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
    expect(reader.reads.join()).not.toContain('secrets');
  });

  it('Q27: a failed read of an object keeps the health', async () => {
    const reader = cluster([inventory(many('Service', 1))], { services: 'etcd is on holiday\nstack' });
    const object = healthCheck({ status: { status: 'Healthy', lastChangeTime: at('11:00:00') } });
    expect((await settle(object, reader)).status).toEqual({
      status: 'Healthy',
      message: 'Still Healthy: not everything could be read. Errors: Service demo/x0: etcd is on holiday',
      lastChangeTime: at('11:00:00'),
    });
    expect((await settle(healthCheck(), reader)).status).toMatchObject({ status: 'Pending' });
  });

  it.each(['kustomizations', 'gitrepositories'])('Q27: a failed read of %s keeps the health', async (resource) => {
    const object = healthCheck({ status: { status: 'Healthy', lastChangeTime: at('11:00:00') } });
    const { status } = await settle(object, cluster([kustomization(READY)], { [resource]: 'timeout' }));
    expect(status?.message).toBe(
      'Still Healthy: not everything could be read. Kustomization could not be read: timeout',
    );
    expect(status?.lastErrorTime).toBeUndefined();
  });

  it('stops after many failed reads, so that the sync ends', async () => {
    const entries = Array.from({ length: 500 }, (_, i) => ({ id: `ns${i}_x__Service`, v: 'v1' }));
    const reader = cluster([inventory(entries)], { services: 'timeout' });
    await syncOnce(healthCheck(), reader);
    expect(reader.reads.length).toBeLessThan(30);
  });

  it('a kind that is no longer served has no objects', async () => {
    const reader = cluster([inventory(many('Service', 1))]);
    reader.resourceOf = async () => undefined;
    expect((await settle(healthCheck(), reader)).status?.message).toBe('Pending resources: demo/x0 (not found)');
  });
});

describe('a HelmRelease', () => {
  const chartRef = { kind: 'OCIRepository', name: 'chart' };
  const ready = (status: string, reason: string) => [{ type: 'Ready', status, reason, message: '' }];
  const release = (conditions: object[], of: object): KubeObject =>
    objectOf('HelmRelease', 'demo/app', { spec: { chartRef }, status: { conditions, ...of } as never });
  const chart = objectOf('OCIRepository', 'demo/chart', {
    metadata: { generation: 1 },
    status: { observedGeneration: 1, artifact: { revision: '1.0.0@sha256:aaa' } } as never,
  });
  const entries = [{ id: 'demo_app_helm.toolkit.fluxcd.io_HelmRelease', v: 'v2' }];
  const check = async (object: KubeObject, broken?: Record<string, string>) => {
    const reader = cluster([kustomization({ ...READY, inventory: { entries } }), object, chart], broken);
    return (await settle(healthCheck(), reader)).status;
  };

  it('counts with its OCIRepository, if it can be read: another version is Pending, its failure none of this one', async () => {
    const running = (ociDigest: string) =>
      release(ready('True', 'UpgradeSucceeded'), { history: [{ status: 'deployed', ociDigest }] });
    expect(await check(running('sha256:bbb'))).toMatchObject({ status: 'Pending' });
    expect(await check(running('sha256:aaa'))).toMatchObject({ status: 'Healthy' });
    expect(await check(running('sha256:bbb'), { ocirepositories: 'forbidden' })).toMatchObject({ status: 'Healthy' });
    const failing = (lastAttemptedRevisionDigest: string) =>
      release(ready('False', 'UpgradeFailed'), { lastAttemptedRevisionDigest });
    expect(await check(failing('sha256:bbb'))).toMatchObject({ status: 'Pending' });
    expect(await check(failing('sha256:aaa'))).toMatchObject({ status: 'Unhealthy' });
  });
});

describe('what a HelmRelease has released', () => {
  const ready = [{ type: 'Ready', status: 'True', reason: 'UpgradeSucceeded', message: '' }];
  const listed = [
    { id: 'demo_web_apps_Deployment', v: 'v1' },
    { id: 'demo_web__ConfigMap', v: 'v1' },
  ];
  const release = (conditions: object[], spec: Record<string, unknown> = {}, released = listed): KubeObject =>
    objectOf('HelmRelease', 'demo/app', { spec, status: { conditions, inventory: { entries: released } } as never });
  const entries = [{ id: 'demo_app_helm.toolkit.fluxcd.io_HelmRelease', v: 'v2' }];
  const web = (fields: object) =>
    kubeObject('apps/v1', 'Deployment', 'demo/web', { spec: { replicas: 1 }, status: { replicas: 1, ...fields } });
  const check = async (object: KubeObject, ...workloads: KubeObject[]) => {
    const reader = cluster([kustomization({ ...READY, inventory: { entries } }), object, ...workloads]);
    const { status, message } = (await settle(healthCheck(), reader)).status!;
    return { status, message, requests: reader.reads };
  };

  it('is read with the account of the HelmRelease, and so are its Pods', async () => {
    const asked = new Set<string>();
    const access = {
      may: async (user: { username: string }, { verb, resource }: { verb: string; resource: string }) => {
        asked.add(`${user.username.split(':').at(-1)} ${verb} ${resource}`);
        return true;
      },
    };
    const selector = { matchLabels: { app: 'web' } };
    const starting = { ...web({ updatedReplicas: 1 }), spec: { replicas: 1, selector, template: {} } };
    const inventory = kustomization({ ...READY, inventory: { entries } });
    const applied = { ...inventory, spec: { ...inventory.spec, serviceAccountName: 'flux' } };
    const reader = cluster([applied, release(ready, { serviceAccountName: 'helm' }), starting]);
    await syncOnce(healthCheck(), reader, [], undefined, {}, access);
    expect([...asked].sort()).toEqual(['flux get helmreleases', 'helm get deployments', 'helm list pods']);
  });

  it('counts once the HelmRelease is Ready: its workloads, and no other object', async () => {
    const { requests, ...health } = await check(release(ready), web({ updatedReplicas: 1 }));
    expect(health).toEqual({ status: 'Pending', message: 'Pending resources: demo/web (Available: 0/1)' });
    expect(requests.filter((request) => request.includes('configmaps'))).toEqual([]);
  });

  it.each<[string, KubeObject, string]>([
    ['while Helm upgrades it', release([{ ...ready[0], status: 'Unknown' }]), 'Pending'],
    ['in another cluster', release(ready, { kubeConfig: {} }), 'Healthy'],
  ])('counts not %s', async (_, object, status) => {
    const { requests, ...health } = await check(object, web({ updatedReplicas: 1 }));
    expect([health.status, requests.filter((request) => request.includes('deployments'))]).toEqual([status, []]);
  });

  it('is Pending if it does not exist, since Helm may not restore it: of the first 200 workloads', async () => {
    expect((await check(release(ready))).message).toBe('Pending resources: demo/web (not found)');
    const many = Array.from({ length: 300 }, (_, i) => ({ id: `demo_w${i}_apps_Deployment`, v: 'v1' }));
    expect((await check(release(ready, {}, many))).message).toMatch(/; and 180 more$/);
  });
});

describe('the Pods of a workload that is not complete', () => {
  const labels = { app: 'web' };
  const web: KubeObject<any, any> = kubeObject('apps/v1', 'Deployment', 'demo/web', {
    metadata: { generation: 1 },
    spec: { replicas: 1, selector: { matchLabels: labels }, template: {} },
    status: { observedGeneration: 1, replicas: 1, updatedReplicas: 1, availableReplicas: 0 },
  });
  const crashing: KubeObject<any, any> = kubeObject('v1', 'Pod', 'demo/web-1', {
    metadata: { labels },
    status: { containerStatuses: [{ name: 'app', state: { waiting: { reason: 'CrashLoopBackOff' } } }] },
  });
  const inventory = kustomization({ ...READY, inventory: { entries: [{ id: 'demo_web_apps_Deployment', v: 'v1' }] } });
  const looked = async (objects: KubeObject<any, any>[], broken: Record<string, string> = {}, may = true) => {
    const account = { ...inventory, spec: { ...inventory.spec, serviceAccountName: 'team' } };
    const reader = cluster([account, ...objects], broken);
    const access = { may: async (_: unknown, { resource }: { resource: string }) => may || resource !== 'pods' };
    const { status } = await syncOnce(healthCheck(), reader, [], undefined, {}, access);
    return { message: (status as { message?: string }).message, requests: reader.reads };
  };

  it('report the cause', async () => {
    const { message } = await looked([web, crashing]);
    expect(message).toBe('Pending resources: demo/web (Available: 0/1; Pod web-1: container app: CrashLoopBackOff)');
  });

  it('show that a node was drained, whose Pod starts elsewhere: the check stays Pending', async () => {
    const complete = { status: 'Pending', lastHealthyTime: at('11:55:00'), lastChangeTime: at('11:55:00') };
    const moved = { ...crashing, metadata: { ...crashing.metadata, creationTimestamp: at('11:54:50') }, status: {} };
    const statusWith = async (...pods: KubeObject[]) =>
      (await settle(healthCheck({ status: complete }), cluster([inventory, web, ...pods]))).status?.status;
    expect([await statusWith(moved), await statusWith(crashing)]).toEqual(['Pending', 'Unhealthy']);
  });

  it('are read no more once sixteen reads have failed: the sync has to end', async () => {
    const names = Array.from({ length: 30 }, (_, i) => `w${i}`);
    const entries = names.map((name) => ({ id: `demo_${name}_apps_Deployment`, v: 'v1' }));
    const workloads = names.map((name) => ({ ...web, metadata: { ...web.metadata, name } }));
    const complete = { status: 'Pending', lastHealthyTime: at('11:55:00'), lastChangeTime: at('11:55:00') };
    const reader = cluster([kustomization({ ...READY, inventory: { entries } }), ...workloads], { pods: 'no answer' });
    const { status } = await syncOnce(healthCheck({ status: complete }), reader);
    expect((status as HealthStatus).status).toBe('Unhealthy');
    expect(reader.reads.filter((request) => request === 'list pods demo')).toHaveLength(16);
  });

  it.each([
    ['we may not read', { pods: 'forbidden' }, true, true],
    ['the account of the Kustomization may not read', {}, false, false],
  ])('that %s are left out, which is no error', async (_, broken, may, asked) => {
    const { message, requests } = await looked([web, crashing], broken as Record<string, string>, may);
    expect(message).toBe('Pending resources: demo/web (Available: 0/1)');
    expect(requests.includes('list pods demo')).toBe(asked);
  });
});

it('a verdict that calls share is of one namespace and name, whatever uid a caller sends', async () => {
  const beside = (namespace: string, status: object) => {
    const own = kustomization(status);
    return { ...own, metadata: { ...own.metadata, namespace, resourceVersion: '7' } };
  };
  const pending = beside('attacker', READY);
  const failing = beside('demo', { ...READY, conditions: [{ type: 'Ready', status: 'False', reason: 'BuildFailed' }] });
  const { call } = fakeHookCall({ now: NOW, cluster: cluster([pending, failing]) });
  const sync = async (namespace: string, related: KubeObject) => {
    const check = healthCheck({ metadata: { namespace, uid: 'uid-of-the-victim' } });
    const { status } = await healthCheckHook.sync(decorating(check, { related: [related] }), call);
    return (status as HealthStatus).status;
  };
  expect([await sync('attacker', pending), await sync('demo', failing)]).toEqual(['Pending', 'Unhealthy']);
});
