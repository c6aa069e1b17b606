/** A sync of a Rollout costs what concerns the Rollout: reads of other objects, and lists, are counted. */
import { expect, it } from 'vitest';
import type { RolloutStatus } from '../../../api/types.ts';
import { rolloutHook } from '../../../hooks/rollout/rolloutHook.ts';
import { namespaceOf, objectOf } from '../../support/objects.ts';
import { fakeCall, imagePolicy, request, rollout } from './call.ts';
import { deployed } from './sync.ts';

/** Kustomizations, each bound to a Rollout of its name, which call `onRead` when their annotations are read. */
function kustomizations(count: number, onRead: () => void) {
  return Array.from({ length: count }, (_, i) => {
    const annotations = { 'rollout.kuberik.com/substitute.VERSION.from': `app-${i}` };
    const get = () => {
      onRead();
      return annotations;
    };
    const object = objectOf('Kustomization', `team-a/app-${i}`);
    Object.defineProperty(object.metadata, 'annotations', { get, enumerable: true });
    return object;
  });
}

it('ten times as many objects in a namespace cost its next deployment no more', async () => {
  const readsAmong = async (count: number) => {
    let reads = 0;
    const rollouts = ['app-1', 'app-2'].map((name) => rollout({}, deployed, name));
    const objects = kustomizations(count, () => reads++);
    const { call } = fakeCall({ objects: [...objects, ...rollouts] });
    for (const each of rollouts) {
      reads = 0;
      const { status } = await rolloutHook.sync(request(each, [imagePolicy('1.1.0')]), call);
      expect((status as RolloutStatus).history?.[0]?.version.tag).toBe('1.1.0');
    }
    expect(reads).toBeGreaterThan(0);
    return reads;
  };
  expect(await readsAmong(100)).toBe(await readsAmong(10));
});

it('many Rollouts that watch all namespaces list these, and their HealthChecks, once', async () => {
  const spec = { healthCheckSelector: { selector: {}, namespaceSelector: {} } };
  const rollouts = ['app-1', 'app-2', 'app-3'].map((name) => rollout(spec, deployed, name));
  const { call, reads } = fakeCall({ objects: [namespaceOf('team-b'), ...rollouts] });
  for (const each of rollouts) await rolloutHook.sync(request(each, [imagePolicy('1.0.0')]), call);
  const lists = reads.filter((read) => /namespaces|healthchecks/.test(read));
  expect(lists).toEqual(['listMetadata namespaces', 'pages healthchecks']);
});
