/** `spec.after`: a version is deployed after its upstream Rollouts, and not earlier. */
import { describe, expect, it } from 'vitest';
import { ref, sharedCluster, staysTrue, waitFor } from './support/cluster.ts';
import { applyExample } from './support/examples.ts';
import { conditionOf, history } from './support/versions.ts';

const { admin, developer, newNamespace, publish } = sharedCluster();

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
    await waitsFor(production!, 'shop', 'NotSucceeded', 'spec.after requires 1h0m0s, which end at');
    await nothingIn(production!, 'shop');
    await write(production!, { after: [{ name: 'shop', namespace: staging, bakedFor: '1s' }] });
    await arrives(production!, 'shop', '1.0.0');
  });
});
