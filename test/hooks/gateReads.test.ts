/** An evaluation of a Gate costs what the Gate concerns: how often it reads objects is counted. */
import { describe, expect, it } from 'vitest';
import type { Gate, GateStatus } from '../../api/types.ts';
import { type FakeCluster, fakeCluster, fakeHookCall } from '../../dev/fakes/ports.ts';
import { composing } from '../../dev/fakes/requests.ts';
import { gateHook } from '../../hooks/gateHook.ts';
import { createSharedReads } from '../../server/cluster/sharedReads.ts';
import { gate } from '../core/gate/gate.ts';
import { namespaceOf, objectOf } from '../support/objects.ts';

/** Namespaces with two applications each, which call `onRead` when the Gates that they name are read. */
function cluster(namespaces: number, onRead: () => void) {
  const naming = <T extends object>(spec: T, gates: object[]) => {
    const get = () => {
      onRead();
      return gates;
    };
    return Object.defineProperty(spec, 'gates', { get, enumerable: true });
  };
  return Array.from({ length: namespaces }, (_, i) => i).flatMap((i) => {
    const ns = `team-${i}`;
    const target = { apiVersion: 'kustomize.toolkit.fluxcd.io/v1', kind: 'Kustomization', name: 'web', uid: `u-${i}` };
    return [
      namespaceOf(ns),
      objectOf('Kustomization', `${ns}/web`, { metadata: { annotations: { 'gate.fluxcd.io/gates': 'freeze' } } }),
      objectOf('FluxBinding', `${ns}/web`, { spec: naming({ target }, [{ namespace: ns, gate: 'freeze' }]) as never }),
      objectOf('Rollout', `${ns}/web`, { spec: naming({ releasesImagePolicy: {} }, [{ name: 'freeze' }]) as never }),
    ];
  });
}

it.each<[string, Gate['spec']]>([
  ['that objects name', { default: 'closed' }],
  ['that selects in its namespace', { default: 'closed', selects: { kinds: ['Kustomization', 'Rollout'] } }],
])('ten times as many objects cost a Gate %s no more', async (_, spec) => {
  const readsAmong = async (namespaces: number) => {
    let reads = 0;
    const objects = cluster(namespaces, () => reads++);
    const parent = gate(spec, undefined, { namespace: 'team-1' });
    const request = composing(parent);
    const { call } = fakeHookCall({ now: Date.parse('2026-03-01T12:00:00Z'), objects });
    // The first sync lists all objects, for all Gates.
    await gateHook.sync(request, call);
    reads = 0;
    expect((await gateHook.sync(request, call)).status).toMatchObject({ requiredByCount: 2 });
    return reads;
  };
  expect(await readsAmong(100)).toBe(await readsAmong(10));
});

/** A function that syncs a Gate at a time; all its calls share reads. */
function syncs(cluster: FakeCluster) {
  let now = 0;
  const sharedReads = createSharedReads(() => now);
  return async (parent: Gate, time: string) => {
    now = Date.parse(`2026-03-01T${time}Z`);
    const { call } = fakeHookCall({ now, cluster });
    const { status, resyncAfterSeconds } = await gateHook.sync(composing(parent), { ...call, sharedReads });
    return { status: status as GateStatus, resyncAfterSeconds };
  };
}

it('an object counts as not held only if it was read after the Gate had closed', async () => {
  const running = objectOf('Kustomization', 'platform/web', {
    metadata: { annotations: { 'gate.fluxcd.io/gates': 'freeze' } },
  });
  const sync = syncs(fakeCluster([running]));
  const rules = [{ name: 'noon', timeRange: { start: '12:00', end: '13:00' } }];
  const planned = gate({ default: 'opened', schedule: { action: 'Close', rules } });
  await sync(gate({ default: 'opened' }, undefined, { name: 'other' }), '11:59:59');
  const closed = { ...planned, status: (await sync(planned, '12:00:00')).status };
  expect((await sync(closed, '12:00:15')).status.notHeld).toBeUndefined();
  expect((await sync(closed, '12:00:29')).status.notHeld).toBe(1);
});

it('an object counts as not resumed while it is suspended for a Gate that is open', async () => {
  const annotations = {
    'gate.fluxcd.io/gates': 'freeze',
    'gate.fluxcd.io/state': 'closed: platform/freeze',
    'gate.fluxcd.io/suspended': 'unset',
  };
  const suspended = objectOf('Kustomization', 'platform/web', { metadata: { annotations } });
  const sync = syncs(fakeCluster([suspended]));
  const open = gate({ default: 'opened' });
  const before = { ...open, status: (await sync(open, '12:00:00')).status };
  expect((await sync(before, '12:00:30')).status.notResumed).toBe(1);
});

describe('the list of the objects that may require a Gate', () => {
  const kustomizations = (count: number) =>
    Array.from({ length: count }, (_, i) => objectOf('Kustomization', `apps/web-${i}`));
  const old = gate({ default: 'closed' });
  const changed = gate({ default: 'closed' }, undefined, { creationTimestamp: '2026-03-01T12:00:00Z' });

  /** How many of the Gates, synced at these times one after the other, list the objects. */
  async function lists(cluster: FakeCluster, ...each: [Gate, string][]) {
    const sync = syncs(cluster);
    for (const [parent, time] of each) await sync(parent, time);
    return cluster.requests.filter(({ resource }) => resource === 'fluxbindings').length;
  }

  it.each([
    ['is 30 seconds old at most', 1, [old, '12:00:30'], 2],
    ['serves all Gates until then', 1, [old, '12:00:29'], 1],
    ['is 3 seconds old at most for a Gate that has just changed', 1, [changed, '12:00:03'], 2],
    ['serves such Gates until then', 1, [changed, '12:00:02'], 1],
    ['is older for such a Gate if it is long', 2000, [changed, '12:00:05'], 1],
    ['by 3 seconds for 1000 objects', 2000, [changed, '12:00:06'], 2],
    ['and 30 seconds at most', 15_000, [changed, '12:00:30'], 2],
  ] as const)('%s', async (_, count, [parent, time], times) => {
    expect(await lists(fakeCluster(kustomizations(count)), [old, '12:00:00'], [parent, time])).toBe(times);
  });

  it.each([
    ['is repeated for no other Gate if it fails', [old, '12:00:29'], 1],
    ['nor at once for one that has just changed', [changed, '12:00:04'], 1],
    ['but for such a Gate after 5 seconds', [changed, '12:00:05'], 2],
  ] as const)('%s', async (_, [parent, time], times) => {
    const cluster = fakeCluster([], { fails: ({ resource }) => (resource === 'rollouts' ? 'timeout' : undefined) });
    expect(await lists(cluster, [old, '12:00:00'], [parent, time])).toBe(times);
  });
});
