/** RolloutBudgets: a few Rollouts at a time, in waves, until a version fails. */
import { describe, expect, it } from 'vitest';
import { type AnyObject, ref, rollout, rolloutBudget, sharedCluster, staysTrue, waitFor } from './support/cluster.ts';
import { conditionOf } from './support/versions.ts';

const { admin, developer, sre, newNamespace, publish } = sharedCluster();

/** Rollouts of one application that bake until the test reports an outcome. */
async function fleet(names: string[], labels: (name: string) => Record<string, string> = () => ({})) {
  const ns = await newNamespace();
  await publish(ns, 'app', '1.0.0');
  const spec = { releasesImagePolicy: { name: 'app' }, bakeTime: '1h' };
  const create = () =>
    Promise.all(names.map((name) => developer.create(rollout(ns, name, { spec, labels: labels(name) }))));
  const all = () => admin.list('kuberik.com/v1alpha1', 'Rollout', ns);
  const baking = async (tag: string) => {
    const found = (await all()).filter(({ status }) => status?.history?.[0]?.bakeStatus === 'InProgress');
    return found
      .filter(({ status }) => status.history[0].version.tag === tag)
      .map(({ metadata }) => metadata.name as string)
      .sort();
  };
  const bakes = (names: string[], tag: string) =>
    waitFor(async () => {
      expect(await baking(tag)).toEqual(names);
      return true;
    }, `${tag} to bake in ${names}`);
  const end = async (name: string, bakeStatus: 'Succeeded' | 'Failed') => {
    await waitFor(async () => {
      const { status } = await admin.get(ref('rollout', ns, name));
      const [head, ...older] = status.history;
      await admin.patchStatus(ref('rollout', ns, name), { history: [{ ...head, bakeStatus }, ...older] });
      return true;
    }, `the bake of ${name} to be ended`);
  };
  return { ns, create, all, baking, bakes, end };
}

const budgetOf = async (ns: string, name = 'fleet'): Promise<AnyObject> => admin.get(ref('rolloutBudget', ns, name));
const budgetHas = (ns: string, expected: object, name = 'fleet') =>
  waitFor(
    async () => {
      expect((await budgetOf(ns, name)).status).toMatchObject(expected);
      return true;
    },
    `the budget to say ${JSON.stringify(expected)}`,
  );

describe('a RolloutBudget', () => {
  it('lets as many start as it allows, first deployments included, and the next when one has ended', async () => {
    const { ns, create, baking, bakes, end } = await fleet(['a', 'b', 'c', 'd']);
    await sre.create(rolloutBudget(ns, 'fleet', { maxConcurrent: 2 }));
    await create();
    await budgetHas(ns, { selected: 4, maxConcurrent: 2, underWay: 2, waiting: 2 });
    const first = await waitFor(async () => {
      const names = await baking('1.0.0');
      return names.length === 2 && names;
    }, 'two to bake');
    await staysTrue(async () => (await baking('1.0.0')).length === 2, 'two of them', 1000);
    const third = ['a', 'b', 'c', 'd'].find((name) => !first.includes(name))!;
    const waiting = conditionOf(await admin.get(ref('rollout', ns, third)), 'WaitingForBudget');
    expect(waiting).toMatchObject({
      status: 'True',
      reason: 'NoSlot',
      message: "Version 1.0.0 waits for a slot of RolloutBudget 'fleet'",
    });
    await end(first[0]!, 'Succeeded');
    await waitFor(async () => (await baking('1.0.0')).length === 2, 'another one to bake');
    expect(await baking('1.0.0')).toContain(first[1]);
    for (const name of await baking('1.0.0')) await end(name, 'Succeeded');
    const [last] = await waitFor(async () => {
      const names = await baking('1.0.0');
      return names.length === 1 && names;
    }, 'the last one to bake');
    await end(last!, 'Succeeded');
    await budgetHas(ns, { underWay: 0, waiting: 0, versions: [{ version: '1.0.0', wave: 'done' }] });
    await bakes([], '1.0.0');
  });
});

describe('a write of a RolloutBudget', () => {
  it('with waves that come twice is refused', async () => {
    const spec = { maxConcurrent: 1, order: { label: 'ring', values: ['eu', 'eu'] } };
    await expect(sre.create(rolloutBudget(await newNamespace(), 'fleet', spec))).rejects.toThrow('values');
  });

  it('with a status that is behind, or none, is refused', async () => {
    const { ns, create, bakes } = await fleet(['a']);
    await sre.create(rolloutBudget(ns, 'fleet', { maxConcurrent: 1 }));
    await create();
    await bakes(['a'], '1.0.0');
    const which = ref('rolloutBudget', ns, 'fleet');
    await expect(admin.patchStatus(which, { revision: 1, slots: null })).rejects.toThrow('stale status');
    // The hooks write the object too: a conflict is no failure.
    await waitFor(async () => {
      const { status: _, ...without } = await budgetOf(ns);
      await expect(admin.replace(without as AnyObject, { subresource: 'status' })).rejects.toThrow(
        'status must not be removed',
      );
      return true;
    }, 'the refusal');
  });
});
