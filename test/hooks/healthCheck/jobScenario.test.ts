/**
 * A Rollout and its HealthCheck of class job. Calls both hooks in turn until nothing changes, as Metacontroller does.
 */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { HealthCheck, Rollout } from '../../../api/types.ts';
import { fakeCluster, fakeHookCall } from '../../../dev/fakes/ports.ts';
import { decorating } from '../../../dev/fakes/requests.ts';
import { healthCheckHook } from '../../../hooks/healthCheck/healthCheckHook.ts';
import { rolloutHook } from '../../../hooks/rollout/rolloutHook.ts';
import { COMPLETE, check as checkOf, FAILED, ms } from '../../core/health/job/fixture.ts';
import { imagePolicy, request, rollout as rolloutOf } from '../rollout/call.ts';

type Job = KubeObject<any, any>;

const RETRY = { 'rollout.kuberik.com/retry': 'true', 'rollout.kuberik.com/request': 'retry=a1' };

/** No object is bound to the Rollout: a version counts as applied ten seconds after the deployment. */
function scenario({ likeKuberik = false, onFailure = 'Hold' as const } = {}) {
  let now = ms('12:00:00');
  let tag = '1.0.0';
  let check: HealthCheck = checkOf();
  let rollout: Rollout = rolloutOf({ bakeTime: '1m', onFailure, healthCheckSelector: { matchLabels: { app: 'web' } } });
  const jobs = new Map<string, Job>();
  /** Names of all that were ever made. */
  const made: string[] = [];
  const key = ({ metadata }: Pick<KubeObject, 'metadata'>) => `${metadata.namespace}/${metadata.name}`;
  const call = () => {
    const objects = [rollout, check, imagePolicy(tag)] as unknown as KubeObject<any, any>[];
    const metadata = { lookup: () => ({}), isAwaited: () => false };
    return fakeHookCall({ now, cluster: fakeCluster(objects), metadata, settings: { likeKuberik } }).call;
  };

  async function syncRollout(seen: HealthCheck = check): Promise<void> {
    const related = [imagePolicy(tag), seen] as never;
    rollout = { ...rollout, status: (await rolloutHook.sync(request(rollout, related), call())).status as never };
  }

  async function syncCheck(seen: Rollout = rollout): Promise<void> {
    const attachments = { 'Job.batch/v1': Object.fromEntries(jobs) };
    const answer = await healthCheckHook.sync(decorating(check, { related: [seen], attachments }), call());
    if (answer.status) check = { ...check, status: answer.status as never };
    const wanted = new Map(answer.attachments.map((job) => [key(job), job as Job]));
    for (const name of jobs.keys()) if (!wanted.has(name)) jobs.delete(name);
    for (const [name, job] of wanted) {
      if (jobs.has(name)) continue;
      made.push(job.metadata.name!);
      const creationTimestamp = new Date(now).toISOString();
      jobs.set(name, { ...job, metadata: { ...job.metadata, uid: `uid-of-${name}`, creationTimestamp } });
    }
  }

  return {
    made,
    publish(next: string) {
      tag = next;
    },
    seconds(count: number) {
      now += count * 1000;
    },
    syncRollout,
    syncCheck,
    retry() {
      rollout = { ...rollout, metadata: { ...rollout.metadata, annotations: RETRY } };
    },
    pin(version: string) {
      rollout = { ...rollout, spec: { ...rollout.spec!, wantedVersion: version } };
    },
    head: () => rollout.status?.history?.[0],
    rollout: () => rollout,
    check: () => check,
    jobs: () => [...jobs.values()].map(({ metadata }) => metadata.name),
    /** Ends the newest Job with this status, or deletes it if undefined. */
    end(status: object | undefined) {
      const name = `team-a/${made.at(-1)}`;
      const transition = { lastTransitionTime: new Date(now).toISOString() };
      if (!status) jobs.delete(name);
      else {
        const { conditions = [] } = status as { conditions?: object[] };
        const dated = { ...status, conditions: conditions.map((each) => ({ ...each, ...transition })) };
        jobs.set(name, { ...jobs.get(name)!, status: dated });
      }
    },
    /** Calls both hooks every second for this time. */
    async settle(seconds = 3) {
      for (let i = 0; i < seconds; i++) {
        await syncRollout();
        await syncCheck();
        now += 1000;
      }
    },
  };
}

/** 1.0.0 is deployed, and its Job runs. */
async function running(options?: Parameters<typeof scenario>[0]) {
  const run = scenario(options);
  await run.settle(15);
  expect(run.head()).toMatchObject({ version: { tag: '1.0.0' }, bakeStatus: 'Deploying' });
  expect(run.made).toHaveLength(1);
  return run;
}

describe.each([{ likeKuberik: false }, { likeKuberik: true }])('a deployment, $likeKuberik', (options) => {
  it('waits for its Job, bakes once that has completed, and succeeds', async () => {
    const run = await running(options);
    await run.settle(60);
    expect(run.head()).toMatchObject({ bakeStatus: 'Deploying' });
    run.end(COMPLETE);
    await run.settle();
    expect(run.head()).toMatchObject({ bakeStatus: 'InProgress' });
    await run.settle(62);
    expect(run.head()).toMatchObject({ bakeStatus: 'Succeeded' });
    expect(run.made).toHaveLength(1);
  });

  it('fails with its Job, and the history has the logs', async () => {
    const run = await running(options);
    run.end(FAILED);
    await run.settle();
    expect(run.head()).toMatchObject({
      bakeStatus: 'Failed',
      failedHealthChecks: [
        { name: 'smoke', message: expect.stringContaining(`kubectl logs -n team-a job/${run.made[0]}`) },
      ],
    });
  });

  it('that is retried runs it again, and that one counts', async () => {
    const run = await running(options);
    run.end(FAILED);
    await run.settle();
    run.retry();
    await run.settle();
    expect(run.head()).toMatchObject({ bakeStatus: 'Deploying', lastRetryTimestamp: expect.any(String) });
    await run.settle(15);
    expect(run.head()).toMatchObject({ bakeStatus: 'Deploying' });
    expect(new Set(run.made).size).toBe(2);
    expect(run.jobs()).toEqual(run.made);
    run.end(COMPLETE);
    await run.settle(65);
    expect(run.head()).toMatchObject({ bakeStatus: 'Succeeded' });
  });

  it('is not decided by the Job of the version before, which completes just now, with stale caches', async () => {
    const run = await running(options);
    run.end(COMPLETE);
    await run.settle(65);
    run.publish('1.1.0');
    await run.settle(15);
    const at110 = run.rollout();
    // A user deploys 1.2.0 while the Job of 1.1.0 runs.
    run.publish('1.2.0');
    run.pin('1.2.0');
    await run.syncRollout();
    expect(run.head()).toMatchObject({ version: { tag: '1.2.0' }, bakeStatus: 'Deploying' });
    run.end(COMPLETE);
    run.seconds(1);
    await run.syncCheck(at110);
    expect(run.check().status).toMatchObject({ status: 'Healthy', job: { name: run.made[1] } });
    for (let i = 0; i < 5; i++) await run.syncRollout();
    expect(run.head()).toMatchObject({ version: { tag: '1.2.0' }, bakeStatus: 'Deploying' });
    await run.settle(15);
    expect(run.made).toHaveLength(3);
    run.end(COMPLETE);
    await run.settle(65);
    expect(run.head()).toMatchObject({ version: { tag: '1.2.0' }, bakeStatus: 'Succeeded' });
  });
});
