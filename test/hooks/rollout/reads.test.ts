/** A sync of a Rollout costs what concerns the Rollout: reads of other objects, and lists, are counted. */
import { expect, it } from 'vitest';
import type { ReleaseLookup } from '../../../api/ports.ts';
import type { Rollout, RolloutStatus } from '../../../api/types.ts';
import { formatTime } from '../../../core/kube/time.ts';
import { planRollout } from '../../../core/rollout/plan.ts';
import { observe } from '../../../hooks/rollout/observe.ts';
import { rolloutHook } from '../../../hooks/rollout/rolloutHook.ts';
import { namespaceOf, objectOf } from '../../support/objects.ts';
import { fakeCall, imagePolicy, NOW, request, rollout } from './call.ts';
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

it('Rollouts of a namespace that deploy at once share one list of its objects; all but the first read their own object again', async () => {
  let searched = 0;
  const names = ['app-1', 'app-2', 'app-3', 'app-4'];
  const rollouts = names.map((name) => rollout({}, deployed, name));
  const { call, reads } = fakeCall({
    objects: [...kustomizations(100, () => searched++), imagePolicy('1.1.0'), ...rollouts],
  });
  const deploy = async (each: Rollout) => {
    const { status } = await rolloutHook.sync(request(each, [imagePolicy('1.1.0')]), call);
    return (status as RolloutStatus).history?.[0]?.version.tag;
  };
  expect(await Promise.all(rollouts.map(deploy))).toEqual(names.map(() => '1.1.0'));
  const ofKustomizations = reads.filter((read) => read.includes('kustomizations'));
  expect(ofKustomizations).toEqual([
    'listMetadata kustomizations team-a',
    ...names.slice(1).map((name) => `get kustomizations team-a ${name}`),
  ]);
  // The list is measured and indexed once; then each Rollout looks at its own object only.
  expect(searched).toBeLessThan(3 * 100);
});

it.each<[title: string, objects: number, history: boolean, lists: number, gets: number]>([
  ['that has few bound objects reads each', 8, true, 0, 8],
  ['that has many bound objects lists the namespace again', 9, true, 1, 0],
  ['that deploys for the first time lists the namespace again', 2, false, 1, 0],
])('a Rollout %s, if another one has just listed the namespace', async (_, count, history, lists, gets) => {
  const parent = rollout({}, history ? deployed : undefined);
  const bound = Array.from({ length: count }, (_, i) => {
    const annotations = { 'rollout.kuberik.com/substitute.VERSION.from': 'app' };
    return objectOf('Kustomization', `team-a/app-${i}`, { metadata: { annotations } });
  });
  const other = rollout({}, deployed, 'other');
  const { call, reads: all } = fakeCall({ objects: [...bound, imagePolicy('1.1.0'), parent, other] });
  await rolloutHook.sync(request(other, [imagePolicy('1.1.0')]), call);
  const before = all.length;
  await rolloutHook.sync(request(parent, [imagePolicy('1.1.0')]), call);
  const reads = all.slice(before);
  expect(reads.filter((read) => read === 'listMetadata helmreleases team-a')).toHaveLength(lists);
  expect(reads.filter((read) => read.startsWith('get kustomizations'))).toHaveLength(gets);
});

it('many Rollouts that watch all namespaces list these, and their HealthChecks, once', async () => {
  const spec = { healthCheckSelector: { selector: {}, namespaceSelector: {} } };
  const rollouts = ['app-1', 'app-2', 'app-3'].map((name) => rollout(spec, deployed, name));
  const { call, reads } = fakeCall({ objects: [namespaceOf('team-b'), ...rollouts] });
  for (const each of rollouts) await rolloutHook.sync(request(each, [imagePolicy('1.0.0')]), call);
  const lists = reads.filter((read) => /namespaces|healthchecks/.test(read));
  expect(lists).toEqual(['listMetadata namespaces', 'pages healthchecks']);
});

it.each([
  ['is urgent while a rollback waits for it', 'Rollback', NOW - 14_000, {}, true],
  ['is not urgent once the rollback no longer waits', 'Rollback', NOW - 15_000, {}, false],
  ['is not urgent if the failed deployment is a rollback', 'Rollback', NOW - 1000, { rolledBackFrom: '1.0.1' }, false],
  ['is not urgent without a rollback', 'Continue', NOW - 1000, {}, false],
] as const)('the metadata of a failed release %s', async (_, onFailure, endedAt, entry, expected) => {
  const failed = { ...deployed.history![0]!, bakeStatus: 'Failed', bakeEndTime: formatTime(endedAt), ...entry };
  const { call } = fakeCall({ objects: [imagePolicy('1.0.0')] });
  const urgent: (boolean | undefined)[] = [];
  const metadata = {
    lookup: ({ isUrgent }: ReleaseLookup) => void urgent.push(isUrgent),
    isAwaited: () => true,
  };
  const parent = rollout({ onFailure }, { ...deployed, history: [failed] });
  await rolloutHook.sync(request(parent, [imagePolicy('1.0.0')]), { ...call, metadata });
  expect(new Set(urgent)).toEqual(new Set([expected]));
});

it.each<[title: string, newest: string, spec: Partial<Rollout['spec']>, plans: number]>([
  ['that has nothing to deploy is planned once', '1.0.0', {}, 1],
  ['without HealthChecks is planned twice more before it deploys', '1.0.99', {}, 3],
  ['with HealthChecks is planned three times more', '1.0.99', { healthCheckSelector: { selector: {} } }, 4],
])('a Rollout with many candidates %s', async (_, newest, spec, plans) => {
  let tags = 0;
  const availableReleases = Array.from({ length: 100 }, (_, i) => ({
    get tag() {
      tags++;
      return newest === '1.0.0' ? `0.1.${i}` : `1.0.${i}`;
    },
  }));
  const policy = imagePolicy(newest);
  const parent = rollout(spec, { ...deployed, availableReleases });
  const { call } = fakeCall({ objects: [policy, parent] });
  const tagsReadBy = async (work: () => Promise<unknown>) => {
    const before = tags;
    await work();
    return tags - before;
  };
  const once = await tagsReadBy(async () => planRollout(await observe(request(parent, [policy]), call), NOW));
  const all = await tagsReadBy(() => rolloutHook.sync(request(parent, [policy]), call));
  expect(all / once).toBeCloseTo(plans, 0);
});
