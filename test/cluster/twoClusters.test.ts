/** What has baked in one cluster is deployed in another, which looks at the target repository and knows nothing of the first. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RealRegistry, startRealRegistry } from '../server/registry/realRegistry.ts';
import { type ClusterView, sharedCluster, staysTrue, viewCluster, waitFor } from './support/cluster.ts';
import { copyingStory, targetOf } from './support/copyingStory.ts';
import { storyOf } from './support/rolloutStory.ts';
import { startTestCluster, type TestCluster } from './support/testCluster.ts';

const staging = sharedCluster();
let other: TestCluster;
let production: ClusterView;
let source: RealRegistry;
let target: RealRegistry;

beforeAll(async () => {
  [other, source, target] = await Promise.all([startTestCluster({}), startRealRegistry(), startRealRegistry()]);
  production = viewCluster(other);
}, 600_000);
afterAll(() => Promise.all([other?.dispose(), source?.stop(), target?.stop()]));

it('production deploys what staging has baked, and nothing before', async () => {
  const before = await copyingStory(staging, { source, target });
  const after = storyOf(production, await production.newNamespace());
  const repository = `${before.ns}/prod`;
  /** As image-reflector-controller scans a repository; with what the newest tag is. */
  const scan = async () => {
    const newest = (await target.tags(repository))
      .filter((tag) => /^[0-9.]+$/.test(tag))
      .sort()
      .at(-1);
    if (newest) await after.publish(newest, (await target.pull(repository, newest))!.digest);
  };
  await after.create();
  await before.bind();
  await before.create({ ...targetOf(before, { source, target }, { when: 'AfterBake' }), bakeTime: '1s' });
  for (const tag of ['1.0.0', '1.1.0']) {
    const digest = await before.release(tag);
    await before.headIs(tag, 'Deploying');
    const isNotThere = async () => {
      await scan();
      return (await after.head()).version?.tag !== tag;
    };
    await staysTrue(isNotThere, `${tag} not in production before it has baked`, 1000);
    await before.arrive(tag);
    await before.headIs(tag, 'Succeeded');
    await waitFor(async () => {
      await scan();
      expect(await after.head()).toMatchObject({ version: { tag, digest } });
      return true;
    }, `${tag} in production`);
  }
}, 240_000);
