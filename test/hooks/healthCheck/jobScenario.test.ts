/** A Rollout and its HealthCheck of class job, with stale caches: calls both hooks in turn. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { HealthCheck, Rollout } from '../../../api/types.ts';
import { fakeCluster, fakeHookCall } from '../../../dev/fakes/ports.ts';
import { decorating } from '../../../dev/fakes/requests.ts';
import { healthCheckHook } from '../../../hooks/healthCheck/healthCheckHook.ts';
import { rolloutHook } from '../../../hooks/rollout/rolloutHook.ts';
import { COMPLETE, check as checkOf, ms } from '../../core/health/job/fixture.ts';
import { imagePolicy, request, rollout as rolloutOf } from '../rollout/call.ts';

type Job = KubeObject<any, any>;

/** No object is bound to the Rollout: a version counts as applied ten seconds after the deployment. */
function scenario({ kuberikCompat }: { kuberikCompat: boolean }) {
  let now = ms('12:00:00');
  let tag = '1.0.0';
  let check: HealthCheck = checkOf();
  let rollout: Rollout = rolloutOf({ bakeTime: '1m', healthCheckSelector: { matchLabels: { app: 'web' } } });
  const jobs = new Map<string, Job>();
  /** Names of all that were ever made. */
  const made: string[] = [];
  const key = ({ metadata }: Pick<KubeObject, 'metadata'>) => `${metadata.namespace}/${metadata.name}`;
  const call = () => {
    const objects = [rollout, check, imagePolicy(tag)] as unknown as KubeObject<any, any>[];
    const metadata = { lookup: () => ({}), isAwaited: () => false };
    return fakeHookCall({ now, cluster: fakeCluster(objects), metadata, settings: { kuberikCompat } }).call;
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
    pin(version: string) {
      rollout = { ...rollout, spec: { ...rollout.spec!, wantedVersion: version } };
    },
    head: () => rollout.status?.history?.[0],
    rollout: () => rollout,
    check: () => check,
    /** Completes the newest Job. */
    complete() {
      const name = `team-a/${made.at(-1)}`;
      const lastTransitionTime = new Date(now).toISOString();
      const conditions = COMPLETE.conditions.map((each) => ({ ...each, lastTransitionTime }));
      jobs.set(name, { ...jobs.get(name)!, status: { ...COMPLETE, conditions } });
    },
    /** Calls both hooks every second for this time. */
    async settle(seconds: number) {
      for (let i = 0; i < seconds; i++) {
        await syncRollout();
        await syncCheck();
        now += 1000;
      }
    },
  };
}

describe.each([{ kuberikCompat: false }, { kuberikCompat: true }])('a deployment, $kuberikCompat', (options) => {
  it('is not decided by the Job of the version before, which completes just now, with stale caches', async () => {
    const run = scenario(options);
    await run.settle(15);
    run.complete();
    await run.settle(65);
    run.publish('1.1.0');
    await run.settle(15);
    const at110 = run.rollout();
    // A user deploys 1.2.0 while the Job of 1.1.0 runs.
    run.publish('1.2.0');
    run.pin('1.2.0');
    await run.syncRollout();
    expect(run.head()).toMatchObject({ version: { tag: '1.2.0' }, bakeStatus: 'Deploying' });
    run.complete();
    run.seconds(1);
    await run.syncCheck(at110);
    expect(run.check().status).toMatchObject({ status: 'Healthy', job: { name: run.made[1] } });
    for (let i = 0; i < 5; i++) await run.syncRollout();
    expect(run.head()).toMatchObject({ version: { tag: '1.2.0' }, bakeStatus: 'Deploying' });
    await run.settle(15);
    expect(run.made).toHaveLength(3);
    run.complete();
    await run.settle(65);
    expect(run.head()).toMatchObject({ version: { tag: '1.2.0' }, bakeStatus: 'Succeeded' });
  });
});
