/** Releases are copied between two real registries with passwords, by Jobs that run on this machine. */
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RECONCILE_REQUESTED_AT } from '../../api/annotations.ts';
import { type RealRegistry, startRealRegistry } from '../../dev/local/registry/realRegistry.ts';
import { holdingProxy } from '../server/registry/proxies.ts';
import { sharedCluster, waitFor } from './support/cluster.ts';
import { type CopyScenario, copyScenario, pushTo, targetOf } from './support/copyScenario.ts';

const view = sharedCluster();

let source: RealRegistry;
let target: RealRegistry;

beforeAll(async () => {
  [source, target] = await Promise.all([startRealRegistry(), startRealRegistry()]);
}, 600_000);
afterAll(() => Promise.all([source?.stop(), target?.stop()]));

/** Once. */
const isTold = (scenario: CopyScenario, event: { type: string; reason: string; message: string }) =>
  waitFor(async () => {
    const reported = (await scenario.events()).filter(({ reason }) => reason === event.reason);
    expect(reported).toEqual([{ ...event, count: 1 }]);
    return true;
  }, `an Event ${event.reason}`);

describe('BeforeDeployment', () => {
  it('a version is deployed once the target has it, and the Job is deleted when the status has that', async () => {
    const scenario = await copyScenario(view, { source, target });
    const digest = await scenario.release('1.0.0');
    await scenario.create(targetOf(scenario, { source, target }));
    await scenario.headIs('1.0.0', 'Succeeded');
    expect(await scenario.inTarget('1.0.0')).toBe(digest);
    await waitFor(async () => {
      expect(await scenario.copied()).toMatchObject({ status: 'True', reason: 'Copied' });
      expect((await scenario.copied())!.message).toContain(
        `Version 1.0.0 is in oci://${target.host}/${scenario.ns}/prod as ${digest}`,
      );
      expect(await scenario.jobs()).toEqual([]);
      return true;
    }, 'the copy to be stored');
    expect((await scenario.statusOf()).copy).toMatchObject({ tag: '1.0.0', digest });
    await isTold(scenario, { type: 'Normal', reason: 'ReleaseCopied', message: expect.stringContaining(digest) });
  });
});

describe('a signature that comes after the deployment', () => {
  it('follows when a user requests another copy, which changes no deployment', async () => {
    const scenario = await copyScenario(view, { source, target });
    const digest = await scenario.release('1.0.0');
    await scenario.create(targetOf(scenario, { source, target }));
    await scenario.headIs('1.0.0', 'Succeeded');
    const { history } = await scenario.statusOf();
    const signed = `${digest.replace(':', '-')}.sig`;
    const signature = await pushTo(source, `${scenario.ns}/app`, signed, 'signature');
    expect(await scenario.inTarget(signed)).toBeUndefined();
    await view.developer.mergePatch(scenario.app, { metadata: { annotations: { [RECONCILE_REQUESTED_AT]: 'late' } } });
    await waitFor(async () => {
      const { copy } = await scenario.statusOf();
      expect(copy).toMatchObject({ tag: '1.0.0', digest, requestedAt: 'late' });
      expect(await scenario.jobs()).toEqual([]);
      return true;
    }, 'the second copy to be stored');
    expect(await scenario.inTarget(signed)).toBe(signature);
    expect((await scenario.statusOf()).history).toEqual(history);
  });
});

describe('a copy whose process is killed', () => {
  it('is continued by the next Pod of its Job, and the deployment waits for it', async () => {
    const held = await holdingProxy(source.host, /\/blobs\//);
    const scenario = await copyScenario(view, { source: { ...source, host: held.host }, target });
    const digest = await scenario.release('1.0.0');
    await scenario.create(targetOf(scenario, { source, target }));
    await waitFor(() => held.isHolding(), 'the copy to be under way');
    process.kill(copyProcess(scenario.ns), 'SIGKILL');
    await waitFor(async () => {
      const message = (await scenario.copied())?.message;
      expect(message).toMatch(/has failed once and is tried again/);
      return true;
    }, 'the failure to be reported');
    expect((await scenario.statusOf()).history).toBeUndefined();
    expect(await scenario.inTarget('1.0.0')).toBeUndefined();
    held.release();
    await scenario.headIs('1.0.0', 'Succeeded');
    expect(await scenario.inTarget('1.0.0')).toBe(digest);
    held.close();
  });

  /** The Pod that this machine runs for the Rollout of a namespace. */
  function copyProcess(namespace: string): number {
    const all = execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' }).split('\n');
    const [line] = all.filter((each) => each.includes(`--target=oci://${target.host}/${namespace}/`));
    return Number.parseInt(line ?? '', 10);
  }
});
