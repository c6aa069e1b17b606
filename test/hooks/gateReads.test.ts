/** An evaluation of a Gate costs what the Gate concerns: how often it reads objects is counted. */
import { expect, it } from 'vitest';
import type { Gate } from '../../api/types.ts';
import { fakeCluster } from '../../dev/fakes/ports.ts';
import { gateHook } from '../../hooks/gateHook.ts';
import { gate } from '../core/gate/gate.ts';
import { namespaceOf, objectOf } from '../support/objects.ts';
import { syncCall } from './call.ts';

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
    const { request, call } = syncCall(parent, { at: '2026-03-01T12:00:00Z', cluster: fakeCluster(objects) });
    // The first sync lists all objects, for all Gates.
    await gateHook.sync(request, call);
    reads = 0;
    expect((await gateHook.sync(request, call)).status).toMatchObject({ held: 2 });
    return reads;
  };
  expect(await readsAmong(100)).toBe(await readsAmong(10));
});
