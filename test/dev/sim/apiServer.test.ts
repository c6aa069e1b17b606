/**
 * The simulated API server behaves like a real one: conflicts, generations, status, field owners, finalizers, CRDs and
 * policies.
 */
import { beforeEach, describe, expect, it } from 'vitest';
import { gate, kustomization, ref, rollout } from '../../../dev/actors/objects.ts';
import type { User } from '../../../dev/actors/user.ts';
import { SimulatedCluster } from '../../../dev/sim/cluster/simulatedCluster.ts';

let cluster: SimulatedCluster;
let admin: User;
let developer: User;
const team = ref('kustomization', 'team', 'app');

/** Advances time until it is answered. */
async function now<T>(work: Promise<T>): Promise<T> {
  const seen = work.then(
    (value) => ({ value }),
    (error) => ({ error }),
  );
  await cluster.time.runUntil(cluster.time.now + 1000);
  const result = await seen;
  if ('error' in result) throw result.error;
  return result.value;
}

beforeEach(() => {
  cluster = new SimulatedCluster(1);
  for (const name of cluster.replicas) cluster.startReplica(name);
  admin = cluster.user('admin');
  developer = cluster.user('developer');
});

describe('the simulated API server', () => {
  it('counts generations, and keeps the part of the other resource', async () => {
    await now(developer.create(kustomization('team', 'app')));
    await now(developer.mergePatch(team, { spec: { path: './b' }, status: { observedGeneration: 9 } }));
    await now(cluster.user('flux').patchStatus(team, { observedGeneration: 2 }));
    expect(await now(admin.get(team))).toMatchObject({
      metadata: { generation: 2 },
      spec: { path: './b' },
      status: { observedGeneration: 2 },
    });
  });

  it('refuses a write based on an older version, and stores nothing if nothing changes', async () => {
    await now(developer.create(kustomization('team', 'app')));
    const old = await now(admin.get(team));
    await now(developer.mergePatch(team, { spec: { path: './b' } }));
    await expect(now(admin.replace({ ...old, spec: { ...old.spec, path: './c' } }))).rejects.toMatchObject({
      code: 409,
      reason: 'Conflict',
    });
    const { revision } = cluster.server.storage;
    await now(developer.mergePatch(team, { spec: { path: './b' } }));
    expect(cluster.server.storage.revision).toBe(revision);
  });

  it('removes fields that an apply no longer has, unless other managers own them', async () => {
    const apply = (spec: object) =>
      now(admin.apply(kustomization('team', 'app', { spec } as never), { manager: 'git' }));
    await apply({ timeout: '1m', retryInterval: '2m' });
    await now(developer.mergePatch(team, { spec: { timeout: '5m' } }));
    await apply({});
    const { spec } = await now(admin.get(team));
    expect([spec.timeout, spec.retryInterval]).toEqual(['5m', undefined]);
  });

  it('keeps an object until its finalizers are gone', async () => {
    const object = kustomization('team', 'app');
    object.metadata.finalizers = ['example.com/a'];
    await now(developer.create(object));
    await now(developer.remove(team));
    expect((await now(admin.get(team))).metadata.deletionTimestamp).toBeDefined();
    await now(developer.mergePatch(team, { metadata: { finalizers: null } }));
    expect(await now(admin.find(team))).toBeUndefined();
  });

  it('holds to schemas, transition rules, policies and rights', async () => {
    await expect(now(admin.create(gate('team', 'x', { spec: { default: 'ajar' } })))).rejects.toMatchObject({
      code: 422,
    });
    await now(developer.create(rollout('team', 'app')));
    const app = ref('rollout', 'team', 'app');
    const status = (revision: number) => ({ revision, availableReleases: [{ tag: `1.${revision}.0` }] });
    const metacontroller = cluster.user('metacontroller');
    await now(metacontroller.patchStatus(app, status(1)));
    await expect(now(metacontroller.patchStatus(app, status(3)))).rejects.toMatchObject({ code: 422 });
    await now(developer.create(kustomization('team', 'app')));
    await expect(now(developer.patchStatus(team, { observedGeneration: 1 }))).rejects.toThrow('report-status');
    await expect(now(developer.create(gate('team', 'x')))).rejects.toMatchObject({ code: 403 });
  });
});
