/** Releases are copied between two real registries with passwords, by Jobs that run on this machine. */
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RealRegistry, startRealRegistry } from '../../dev/local/registry/realRegistry.ts';
import { holdingProxy } from '../server/registry/proxies.ts';
import { sharedCluster, waitFor } from './support/cluster.ts';
import { type CopyingStory, copyingStory, targetOf } from './support/copyingStory.ts';

const view = sharedCluster();

let source: RealRegistry;
let target: RealRegistry;

beforeAll(async () => {
  [source, target] = await Promise.all([startRealRegistry(), startRealRegistry()]);
}, 600_000);
afterAll(() => Promise.all([source?.stop(), target?.stop()]));

/** Once. */
const isTold = (story: CopyingStory, event: { type: string; reason: string; message: string }) =>
  waitFor(async () => {
    const told = (await story.events()).filter(({ reason }) => reason === event.reason);
    expect(told).toEqual([{ ...event, count: 1 }]);
    return true;
  }, `an Event ${event.reason}`);

describe('BeforeDeployment', () => {
  it('a version is deployed once the target has it, and the Job is gone when the status says so', async () => {
    const story = await copyingStory(view, { source, target });
    const digest = await story.release('1.0.0');
    await story.create(targetOf(story, { source, target }));
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
    await isTold(story, { type: 'Normal', reason: 'ReleaseCopied', message: expect.stringContaining(digest) });
  });
});

describe('a copy whose process is killed', () => {
  it('is taken up by the next Pod of its Job, and the deployment waits for that', async () => {
    const held = await holdingProxy(source.host, /\/blobs\//);
    const story = await copyingStory(view, { source: { ...source, host: held.host }, target });
    const digest = await story.release('1.0.0');
    await story.create(targetOf(story, { source, target }));
    await waitFor(() => held.isHolding(), 'the copy to be under way');
    process.kill(copyProcess(story.ns), 'SIGKILL');
    await waitFor(async () => {
      const message = (await story.copied())?.message;
      expect(message).toMatch(/has failed once and goes on/);
      return true;
    }, 'the failure to be told');
    expect((await story.statusOf()).history).toBeUndefined();
    expect(await story.inTarget('1.0.0')).toBeUndefined();
    held.release();
    await story.headIs('1.0.0', 'Succeeded');
    expect(await story.inTarget('1.0.0')).toBe(digest);
    held.close();
  });

  /** Of the Pod that this machine runs for the Rollout of a namespace. */
  function copyProcess(namespace: string): number {
    const all = execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' }).split('\n');
    const [line] = all.filter((each) => each.includes(`--target=oci://${target.host}/${namespace}/`));
    return Number.parseInt(line ?? '', 10);
  }
});
