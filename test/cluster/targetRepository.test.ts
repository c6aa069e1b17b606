/** Releases are copied between two real registries with passwords, by Jobs that run on this machine. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PASSWORD, type RealRegistry, startRealRegistry, USER } from '../server/registry/realRegistry.ts';
import { objectOf } from '../support/objects.ts';
import { type AnyObject, sharedCluster, staysTrue, waitFor } from './support/cluster.ts';
import { type Story, storyOf } from './support/rolloutStory.ts';
import { conditionOf } from './support/versions.ts';

const view = sharedCluster();
const { admin, newNamespace, publish } = view;

let source: RealRegistry;
let target: RealRegistry;

beforeAll(async () => {
  [source, target] = await Promise.all([startRealRegistry(), startRealRegistry()]);
}, 600_000);
afterAll(() => Promise.all([source?.stop(), target?.stop()]));

interface Copying extends Story {
  /** Pushes a release to the source, and the ImagePolicy selects it. */
  release(tag: string): Promise<string>;
  inTarget(tag: string): Promise<string | undefined>;
  jobs(): Promise<AnyObject[]>;
  copied(): Promise<AnyObject | undefined>;
}

/** A namespace whose Secrets open both registries, each with repositories of its own. */
async function copyingStory(): Promise<Copying> {
  const story = storyOf(view, await newNamespace());
  const { ns } = story;
  for (const [name, host] of [
    ['pull', source.host],
    ['push', target.host],
  ] as const) {
    const auth = Buffer.from(`${USER}:${PASSWORD}`).toString('base64');
    const config = Buffer.from(JSON.stringify({ auths: { [host]: { auth } } })).toString('base64');
    await admin.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { namespace: ns, name },
      type: 'kubernetes.io/dockerconfigjson',
      data: { '.dockerconfigjson': config },
    } as AnyObject);
  }
  const spec = { image: `${source.host}/${ns}/app`, interval: '1m', insecure: true, secretRef: { name: 'pull' } };
  await admin.create(objectOf('ImageRepository', { metadata: { namespace: ns, name: 'app' }, spec }));
  return {
    ...story,
    async release(tag) {
      const digest = await pushTo(source, `${ns}/app`, tag);
      await publish(ns, 'app', tag, digest);
      return digest;
    },
    inTarget: async (tag) => (await target.pull(`${ns}/prod`, tag))?.digest,
    jobs: () => admin.list('batch/v1', 'Job', ns),
    copied: async () => conditionOf({ status: await story.statusOf() } as AnyObject, 'Copied'),
  };
}

async function pushTo(registry: RealRegistry, repository: string, tag: string, content = tag): Promise<string> {
  const blob = { mediaType: 'application/octet-stream', ...(await registry.pushBlob(repository, content)) };
  const mediaType = 'application/vnd.oci.image.manifest.v1+json';
  return registry.push(repository, tag, { schemaVersion: 2, mediaType, config: blob, layers: [blob] });
}

const targetOf = ({ ns }: Story, rest: object = {}) => ({
  targetRepository: { url: `oci://${target.host}/${ns}/prod`, insecure: true, secretRef: { name: 'push' }, ...rest },
});

describe('BeforeDeployment', () => {
  it('a version is deployed once the target has it, and the Job is gone when the status says so', async () => {
    const story = await copyingStory();
    const digest = await story.release('1.0.0');
    await story.create(targetOf(story));
    await story.headIs('1.0.0', 'Succeeded');
    expect(await story.inTarget('1.0.0')).toBe(digest);
    await waitFor(async () => {
      expect(await story.copied()).toMatchObject({ status: 'True', reason: 'Copied' });
      expect((await story.copied())!.message).toContain(
        `Version 1.0.0 is in oci://${target.host}/${story.ns}/prod as ${digest}`,
      );
      expect(await story.jobs()).toEqual([]);
      return true;
    }, 'the copy to be stored');
    expect((await story.statusOf()).copy).toMatchObject({ tag: '1.0.0', digest });
  });

  it('waits while it cannot be copied, says why, and goes on when it can', async () => {
    const story = await copyingStory();
    const other = await pushTo(target, `${story.ns}/prod`, '1.0.0', 'other');
    const digest = await story.release('1.0.0');
    await story.create(targetOf(story));
    await waitFor(async () => {
      const conditions = await story.statusOf();
      const blocked = conditionOf({ status: conditions } as AnyObject, 'DeploymentBlocked');
      expect(blocked).toMatchObject({ status: 'True', reason: 'WaitingForCopy' });
      expect(await story.copied()).toMatchObject({ status: 'False', reason: 'CopyFailed' });
      expect((await story.copied())!.message).toContain(
        `has 1.0.0 already, as ${other}, and it would become ${digest}`,
      );
      return true;
    }, 'the conflict to be said');
    await staysTrue(async () => (await story.statusOf()).history === undefined, 'nothing deployed', 1000);
    await admin.mergePatch(story.app, { spec: { targetRepository: { overwrite: true } } });
    await story.headIs('1.0.0', 'Succeeded');
    expect(await story.inTarget('1.0.0')).toBe(digest);
  });
});

describe('AfterBake', () => {
  it('only what has baked is copied', async () => {
    const story = await copyingStory();
    const digest = await story.release('1.0.0');
    await story.bind();
    await story.create({ ...targetOf(story, { when: 'AfterBake' }), bakeTime: '1s' });
    await story.headIs('1.0.0', 'Deploying');
    await staysTrue(async () => (await story.jobs()).length === 0, 'no copy of what has not baked', 1000);
    expect(await story.inTarget('1.0.0')).toBeUndefined();
    await story.arrive('1.0.0');
    await story.headIs('1.0.0', 'Succeeded');
    await waitFor(async () => {
      expect((await story.statusOf()).copy).toMatchObject({ tag: '1.0.0', digest });
      return true;
    }, 'the copy');
    expect(await story.inTarget('1.0.0')).toBe(digest);
  });
});
