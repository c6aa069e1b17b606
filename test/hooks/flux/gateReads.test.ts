/** A sync of an object that names many Gates reads those: how often it reads Gates is counted. */
import { expect, it } from 'vitest';
import { fakeHookCall } from '../../../dev/fakes/ports.ts';
import { decorating } from '../../../dev/fakes/requests.ts';
import { holdHook } from '../../../hooks/flux/holdHook.ts';
import { gate, kustomization, NOW } from '../../core/admission/objects.ts';

/** A Gate that calls `onRead` when its name is read. */
function counted(path: string, onRead: () => void) {
  const found = gate(path);
  const { name } = found.metadata;
  const get = () => {
    onRead();
    return name;
  };
  Object.defineProperty(found.metadata, 'name', { get, enumerable: true });
  return found;
}

it('ten times as many Gates in the cluster cost an object no more', async () => {
  const readsAmong = async (count: number) => {
    let reads = 0;
    const gates = Array.from({ length: count }, (_, i) => counted(`shop/gate-${i}`, () => reads++));
    const { call } = fakeHookCall({ now: NOW, objects: gates });
    const names = 'gate-0,gate-1,gate-2,gate-3';
    const request = decorating(kustomization({ annotations: { 'gate.fluxcd.io/gates': names } }));
    // The first sync lists all Gates, for all objects.
    await holdHook.sync(request, call);
    reads = 0;
    const { annotations } = await holdHook.sync(request, call);
    expect(annotations?.['gate.fluxcd.io/state']).toMatch(/^closed@/);
    expect(reads).toBeGreaterThan(0);
    return reads;
  };
  expect(await readsAmong(100)).toBe(await readsAmong(10));
});
