/** `spec.after`: a version goes from stage to stage, and never before. */
import { describe, expect, it } from 'vitest';
import { ApiError, ref, rollout, sharedCluster, staysTrue, waitFor } from './support/cluster.ts';
import { applyExample } from './support/examples.ts';
import { conditionOf, history } from './support/versions.ts';

const { admin, developer, newNamespace, publish } = sharedCluster();

type After = { name: string; namespace?: string; bakedFor?: string; match?: string };

/** A Rollout of the ImagePolicy `app`. */
const stage = (ns: string, name: string, after: After[] = [], spec: Record<string, unknown> = {}) =>
  rollout(ns, name, {
    spec: { releasesImagePolicy: { name: 'app' }, ...(after.length > 0 && { after }), ...spec },
  });
const comesAfter = (ns: string, name: string, after: After[]) =>
  developer.mergePatch(ref('rollout', ns, name), { spec: { after } });

const tags = async (ns: string, name: string) => (await history(admin, ns, name)).map(([, tag]) => tag);
const arrives = (ns: string, name: string, tag: string) =>
  waitFor(async () => (await tags(ns, name))[0] === tag, `${tag} to be deployed by ${name}`);
const nothingIn = (ns: string, name: string) =>
  staysTrue(async () => (await tags(ns, name)).length === 0, `nothing in ${name}`, 1500);
const waitsFor = (ns: string, name: string, reason: string, text: string) =>
  waitFor(async () => {
    const condition = conditionOf(await admin.get(ref('rollout', ns, name)), 'WaitingForRollouts');
    expect(condition).toMatchObject({ status: 'True', reason, message: expect.stringContaining(text) });
    return true;
  }, `${name} to wait: ${text}`);
const refusal = async (write: Promise<unknown>) => {
  const error = await write.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ApiError);
  return (error as ApiError).message;
};

describe('a write of spec.after', () => {
  it('that closes a cycle of three, written one by one, is refused with its path', async () => {
    const ns = await newNamespace();
    await developer.create(stage(ns, 'a', [{ name: 'b' }]));
    await developer.create(stage(ns, 'b', [{ name: 'c' }]));
    const path = "spec.after has a dependency cycle: 'c' after 'a' after 'b' after 'c'";
    expect(await refusal(developer.create(stage(ns, 'c', [{ name: 'a' }])))).toContain(path);
    await developer.create(stage(ns, 'c'));
    expect(await refusal(comesAfter(ns, 'c', [{ name: 'a' }]))).toContain(path);
    expect(await refusal(comesAfter(ns, 'c', [{ name: 'c' }]))).toContain('spec.after names the Rollout itself');
  });

  it('of 200 Rollouts, or of what does not parse, is refused', async () => {
    const ns = await newNamespace();
    const many = Array.from({ length: 200 }, (_, i) => ({ name: `s${i}` }));
    expect(await refusal(developer.create(stage(ns, 'app', many)))).toContain('must have at most 20 items');
    expect(await refusal(developer.create(stage(ns, 'app', [{ name: 's', bakedFor: '-1h' }])))).toContain('bakedFor');
    expect(await refusal(developer.create(stage(ns, 'app', [{ name: 's', match: 'size' }])))).toContain('match');
  });
});

describe('a cycle that two writes at the same time have closed', () => {
  it('holds both of its Rollouts, with its path, until one of them is changed', async () => {
    const ns = await newNamespace();
    await publish(ns, 'app', '1.0.0');
    // Admission of each is answered before the other is stored, sooner or later.
    await waitFor(async () => {
      await Promise.all(['a', 'b'].map((name) => admin.remove(ref('rollout', ns, name)).catch(() => {})));
      const writes = [stage(ns, 'a', [{ name: 'b' }]), stage(ns, 'b', [{ name: 'a' }])];
      const results = await Promise.allSettled(writes.map((object) => developer.create(object)));
      return results.every(({ status }) => status === 'fulfilled');
    }, 'both to be let in');
    await waitsFor(ns, 'a', 'DependencyCycle', "spec.after has a dependency cycle: 'a' after 'b' after 'a'");
    await waitsFor(ns, 'b', 'DependencyCycle', "spec.after has a dependency cycle: 'b' after 'a' after 'b'");
    await nothingIn(ns, 'a');
    await comesAfter(ns, 'a', []);
    await arrives(ns, 'a', '1.0.0');
    await arrives(ns, 'b', '1.0.0');
  });
});

describe('manifests/examples/promotion/stages.yaml', () => {
  it('takes a version from dev to staging, and after its bake and the hour to production', async () => {
    const prefix = await newNamespace();
    await applyExample(admin, 'promotion/stages.yaml', { 'shop-': `${prefix}-` });
    const [dev, staging, production] = ['dev', 'staging', 'production'].map((name) => `${prefix}-${name}`);
    const write = (ns: string, spec: Record<string, unknown>) =>
      developer.mergePatch(ref('rollout', ns, 'shop'), { spec });

    await publish(dev!, 'shop', '1.0.0');
    await arrives(dev!, 'shop', '1.0.0');
    await arrives(staging!, 'shop', '1.0.0');
    await waitsFor(production!, 'shop', 'NotSucceeded', `Rollout '${staging}/shop' (baking since`);
    await write(staging!, { bakeTime: '1s' });
    await waitsFor(production!, 'shop', 'NotSucceeded', 'baked for 1h0m0s at');
    await nothingIn(production!, 'shop');
    await write(production!, { after: [{ name: 'shop', namespace: staging, bakedFor: '1s' }] });
    await arrives(production!, 'shop', '1.0.0');
  });
});
