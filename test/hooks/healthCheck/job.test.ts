/** One sync of a HealthCheck of class job: which Jobs there should be, and what the status says. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { HealthCheck, Rollout } from '../../../api/types.ts';
import { fakeCluster, fakeHookCall } from '../../../dev/fakes/ports.ts';
import { healthCheckHook } from '../../../hooks/healthCheck/healthCheck.ts';
import { at, COMPLETE, check, FAILED, HEAD, job, jobSpec, ms, nameOf, rollout } from '../../core/health/job/fixture.ts';
import { objectOf } from '../../support/objects.ts';

type Job = KubeObject<any, any>;

interface World {
  rollouts?: Rollout[];
  /** null: the component is missing. */
  jobs?: Job[] | null;
  objects?: KubeObject<any, any>[];
  fails?: string;
  now?: number;
}

async function sync(of: HealthCheck, { rollouts = [rollout()], jobs = [], objects = [], fails, now }: World = {}) {
  const byName = (all: readonly KubeObject<any, any>[]) =>
    Object.fromEntries(all.map((each) => [`${each.metadata.namespace}/${each.metadata.name}`, each]));
  const reader = fakeCluster(objects, { fails: ({ resource }) => (resource === fails ? 'forbidden' : undefined) });
  const { call } = fakeHookCall({ now: now ?? ms('12:00:00'), cluster: reader });
  const answer = await healthCheckHook.sync(
    {
      controller: { apiVersion: '', kind: '', metadata: {} },
      object: of as unknown as KubeObject,
      attachments: jobs ? { 'Job.batch/v1': byName(jobs) } : {},
      related: { 'Rollout.kuberik.com/v1alpha1': byName(rollouts as never) },
      finalizing: false,
    },
    call,
  );
  return {
    status: (answer.status ?? of.status) as HealthCheck['status'],
    changed: answer.status !== undefined,
    jobs: answer.attachments.map(({ metadata }) => metadata.name),
    attachments: answer.attachments,
    look: answer.resyncAfterSeconds,
  };
}

const NAME = nameOf();
const run = { namespace: 'team-a', name: NAME };
const LOGS = `\nTo read its logs:\n  kubectl logs -n team-a job/${NAME}`;
const binding = objectOf('FluxBinding', {
  metadata: { name: 'kustomization-web', namespace: 'team-a', labels: { 'web.rollout.kuberik.com/bound': '' } },
  spec: { target: { apiVersion: '', kind: 'Kustomization', name: 'web', uid: '' }, pins: [{ rollout: 'web' }] },
}) as unknown as KubeObject<any, any>;
const { appliedTime: _, ...unapplied } = HEAD;
const baked = { ...HEAD, bakeStatus: 'Succeeded' };
const crashed: KubeObject<any, any> = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'smoke-pod',
    namespace: 'team-a',
    labels: { 'batch.kubernetes.io/job-name': NAME },
    ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: NAME, uid: `uid-of-${NAME}` }],
  },
  status: { containerStatuses: [{ name: 'curl', state: { terminated: { exitCode: 22, reason: 'Error' } } }] },
};
const foreign = { ...crashed, metadata: { ...crashed.metadata, ownerReferences: [] } };

interface Row {
  name: string;
  of?: HealthCheck;
  world?: World;
  status: string;
  message: string | RegExp;
  jobs: string[];
  /** The status names this Job. */
  of_job?: boolean;
}

const ROWS: Row[] = [
  {
    name: 'the version is applied: its Job is made',
    status: 'Pending',
    message: /^Job 'team-a\/smoke-web-7-[0-9a-f]+' is being created for version 1\.1\.0\. If it does not appear/,
    jobs: [NAME],
    of_job: true,
  },
  {
    name: 'the Job runs',
    world: { jobs: [job(NAME, { active: 1 })] },
    status: 'Pending',
    message: `Job 'team-a/${NAME}' runs for version 1.1.0${LOGS}`,
    jobs: [NAME],
    of_job: true,
  },
  {
    name: 'a Pod of it has failed',
    world: { jobs: [job(NAME, { active: 1, failed: 2 })], objects: [crashed] },
    status: 'Pending',
    message: `Job 'team-a/${NAME}' runs for version 1.1.0, and has failed 2 times; Pod smoke-pod: container curl: exit code 22${LOGS}`,
    jobs: [NAME],
    of_job: true,
  },
  {
    name: 'the Job has completed',
    world: { jobs: [job(NAME, COMPLETE)] },
    status: 'Healthy',
    message: `Job 'team-a/${NAME}' has completed for version 1.1.0${LOGS}`,
    jobs: [NAME],
    of_job: true,
  },
  {
    name: 'the Job has failed',
    world: { jobs: [job(NAME, FAILED)], objects: [crashed] },
    status: 'Unhealthy',
    message: `Job 'team-a/${NAME}' has failed for version 1.1.0: BackoffLimitExceeded: Job has reached the specified backoff limit; Pod smoke-pod: container curl: exit code 22${LOGS}`,
    jobs: [NAME],
    of_job: true,
  },
  {
    name: 'its Pods may not be read',
    world: { jobs: [job(NAME, FAILED)], objects: [crashed], fails: 'pods' },
    status: 'Unhealthy',
    message: `Job 'team-a/${NAME}' has failed for version 1.1.0: BackoffLimitExceeded: Job has reached the specified backoff limit${LOGS}`,
    jobs: [NAME],
    of_job: true,
  },
  {
    name: 'a Pod that has only its label says nothing',
    world: { jobs: [job(NAME, { active: 1 })], objects: [foreign] },
    status: 'Pending',
    message: `Job 'team-a/${NAME}' runs for version 1.1.0${LOGS}`,
    jobs: [NAME],
    of_job: true,
  },
  {
    name: 'the version is not applied: objects are bound',
    world: { rollouts: [rollout(unapplied)], objects: [binding] },
    status: 'Pending',
    message: `waits until version 1.1.0 is applied, and then runs Job 'team-a/${NAME}'`,
    jobs: [],
    of_job: true,
  },
  {
    name: 'nothing is bound, a moment after the deployment',
    world: { rollouts: [rollout(unapplied)], now: ms('11:00:09') },
    status: 'Pending',
    message: /^waits until version/,
    jobs: [],
    of_job: true,
  },
  {
    name: 'nothing is bound',
    world: { rollouts: [rollout(unapplied)], now: ms('11:00:10') },
    status: 'Pending',
    message: /is being created/,
    jobs: [NAME],
    of_job: true,
  },
  {
    name: 'the Job was deleted while it ran',
    of: check({ status: 'Pending', message: 'runs', lastChangeTime: at('11:02:00'), job: run }),
    status: 'Pending',
    message: /is being created/,
    jobs: [NAME],
    of_job: true,
  },
  {
    name: 'the Job is being deleted',
    world: { jobs: [job(NAME, COMPLETE, { deletionTimestamp: at('11:59:00') })] },
    status: 'Pending',
    message: `Job 'team-a/${NAME}' is being deleted, and is run again after that`,
    jobs: [],
    of_job: true,
  },
  {
    name: 'the Job was deleted after it had completed: it has been run',
    of: check({ status: 'Healthy', message: 'completed', lastChangeTime: at('11:05:00'), job: run }),
    status: 'Healthy',
    message: 'completed',
    jobs: [],
    of_job: true,
  },
  {
    name: 'a failed Job was deleted while the version bakes on: it is run again',
    of: check({ status: 'Unhealthy', message: 'failed', lastChangeTime: at('11:05:00'), job: run }),
    status: 'Pending',
    message: /is being created/,
    jobs: [NAME],
    of_job: true,
  },
  {
    name: 'a failed Job was deleted after the bake: what it has shown stays',
    of: check({ status: 'Unhealthy', message: 'failed', lastChangeTime: at('11:05:00'), job: run }),
    world: { rollouts: [rollout({ ...HEAD, bakeStatus: 'Failed' })] },
    status: 'Unhealthy',
    message: 'failed',
    jobs: [],
    of_job: true,
  },
  {
    name: 'the template was changed after the bake: nothing is run',
    of: check(
      { status: 'Healthy', message: 'completed', lastChangeTime: at('11:05:00'), job: run },
      { spec: jobSpec({ backoffLimit: 3 }) },
    ),
    world: { rollouts: [rollout(baked)], jobs: [job(NAME, COMPLETE)] },
    status: 'Pending',
    message: 'the deployment of version 1.1.0 has ended without a finished Job: the next deployment runs one',
    jobs: [NAME],
  },
  {
    name: 'the Job ends after the bake',
    world: { rollouts: [rollout(baked)], jobs: [job(NAME, COMPLETE)] },
    status: 'Healthy',
    message: /has completed/,
    jobs: [NAME],
    of_job: true,
  },
  {
    name: 'a later deployment: the Job that runs for the one before is stopped',
    of: check({ status: 'Pending', message: 'runs', lastChangeTime: at('11:02:00'), job: run }),
    world: { rollouts: [rollout({ ...unapplied, id: 8 })], jobs: [job(NAME, { active: 1 })], objects: [binding] },
    status: 'Pending',
    message: /^waits until version 1\.1\.0 is applied/,
    jobs: [],
  },
  {
    name: 'a later deployment: of Jobs that have ended the last is kept, with its logs',
    of: check({ status: 'Unhealthy', lastErrorTime: at('11:05:00'), lastChangeTime: at('11:05:00'), job: run }),
    world: {
      rollouts: [rollout({ ...unapplied, id: 8 })],
      jobs: [job('smoke-web-6', COMPLETE, { creationTimestamp: at('10:00:00') }), job(NAME, FAILED)],
      objects: [binding],
    },
    status: 'Pending',
    message: /^waits until version 1\.1\.0 is applied/,
    jobs: [NAME],
  },
  {
    name: 'nothing is deployed yet',
    world: { rollouts: [rollout(null as never)] },
    status: 'Pending',
    message: "Rollout 'web' has deployed nothing yet: the Job is run then",
    jobs: [],
  },
  {
    name: 'no Rollout selects it',
    world: { rollouts: [{ ...rollout(), spec: { releasesImagePolicy: {} } } as Rollout], jobs: [job(NAME, COMPLETE)] },
    status: 'Pending',
    message: 'no Rollout of this namespace selects this HealthCheck: no Job is run',
    jobs: [NAME],
  },
  {
    name: 'two Rollouts select it: whichever Job has completed',
    world: { rollouts: [rollout(), rollout(HEAD, 'other')], jobs: [job(NAME, COMPLETE)] },
    status: 'Pending',
    message:
      "2 Rollouts select this HealthCheck ('other', 'web'), but its Job belongs to one: create a HealthCheck for each",
    jobs: [NAME],
  },
  {
    name: 'the Rollout of another namespace that selects it runs nothing',
    world: { rollouts: [{ ...rollout(), metadata: { name: 'web', namespace: 'team-b', uid: 'u' } }] },
    status: 'Pending',
    message: 'no Rollout of this namespace selects this HealthCheck: no Job is run',
    jobs: [],
  },
  {
    name: 'a template that Kubernetes would not take',
    of: check(undefined, { spec: jobSpec({ suspend: true }) }),
    status: 'Unhealthy',
    message:
      'spec.job.template.spec.suspend must not be set: a suspended Job never ends. No Job is run until it is corrected',
    jobs: [],
  },
  {
    name: 'the component is missing',
    world: { jobs: null },
    status: 'Unhealthy',
    message: 'no Job is run: the component health-jobs is not installed, see docs/install.md',
    jobs: [],
  },
];

describe('class job', () => {
  it.each(ROWS)('$name', async ({ of = check(), world = {}, status, message, jobs, of_job: names }) => {
    const found = await sync(of, world);
    expect(found.status).toMatchObject({
      status,
      message: typeof message === 'string' ? message : expect.stringMatching(message),
      ...(names && { job: run }),
    });
    expect(found.jobs).toEqual(jobs);
    // The same again changes nothing.
    expect((await sync({ ...of, status: found.status }, world)).changed).toBe(false);
  });

  it('a Job that is kept is one that Metacontroller can compare, not create', async () => {
    const { attachments } = await sync(check(), { jobs: [job(NAME, COMPLETE)] });
    expect(attachments[0]).not.toHaveProperty('status');
    expect(attachments[0]!.metadata).toEqual({ name: NAME, namespace: 'team-a' });
  });

  it('an error of the deployment before is not one of this', async () => {
    const before = check({
      status: 'Unhealthy',
      lastErrorTime: at('11:05:00'),
      lastChangeTime: at('11:05:00'),
      job: run,
    });
    const { status } = await sync(before, { rollouts: [rollout({ ...HEAD, id: 8 })] });
    expect(status).not.toHaveProperty('lastErrorTime');
    expect(status?.lastChangeTime).toBe(at('12:00:00'));
  });

  it('a failure is dated by the Job', async () => {
    const { status } = await sync(check(), { jobs: [job(NAME, FAILED)] });
    expect(status?.lastErrorTime).toBe(at('11:05:00'));
  });

  it('is looked at again only while something may change that nobody tells of', async () => {
    const settled = async (of: HealthCheck, world: World) => {
      const { status } = await sync(of, world);
      return (await sync({ ...of, status }, world)).look;
    };
    expect(await settled(check(), { jobs: [job(NAME, { active: 1 })] })).toBe(30);
    expect(await settled(check(), { rollouts: [rollout(unapplied)], objects: [binding] })).toBe(30);
    expect(await settled(check(), { rollouts: [rollout(unapplied)], now: ms('11:00:07') })).toBe(3);
    expect(await settled(check(), { jobs: [job(NAME, COMPLETE)] })).toBeUndefined();
    expect(await settled(check(), { rollouts: [rollout(baked)] })).toBeUndefined();
  });

  it('a check that leaves the class has its Jobs deleted', async () => {
    const { jobs } = await sync({ ...check(), spec: { class: 'datadog' } }, { jobs: [job(NAME, COMPLETE)] });
    expect(jobs).toEqual([]);
  });
});
