/** One sync of a HealthCheck of class job: which Jobs there should be, and what the status says. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { HealthCheck, Rollout } from '../../../api/types.ts';
import { fakeCluster, fakeHookCall } from '../../../dev/fakes/ports.ts';
import { healthCheckHook } from '../../../hooks/healthCheck/healthCheckHook.ts';
import { at, COMPLETE, check, FAILED, HEAD, job, jobSpec, ms, nameOf, rollout } from '../../core/health/job/fixture.ts';
import { decorating, mapOf } from '../../support/metacontroller.ts';
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
  const reader = fakeCluster(objects, { fails: ({ resource }) => (resource === fails ? 'forbidden' : undefined) });
  const { call } = fakeHookCall({ now: now ?? ms('12:00:00'), cluster: reader });
  const attachments = jobs ? { 'Job.batch/v1': {}, ...mapOf(...jobs) } : {};
  const answer = await healthCheckHook.sync(decorating(of, { related: rollouts, attachments }), call);
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
  /** Pending where nothing else is said. */
  status?: string;
  message: string | RegExp;
  /** The Job of the deployment alone where nothing else is said. */
  jobs?: string[];
  /** Whether the status names that Job; it does where nothing is said. */
  about?: boolean;
}

const ROWS: Row[] = [
  {
    name: 'the version is applied: its Job is made',
    message: /^Job 'team-a\/smoke-web-7-[0-9a-f]+' is being created for version 1\.1\.0\. If it does not appear/,
  },
  {
    name: 'the Job runs',
    world: { jobs: [job(NAME, { active: 1 })] },
    message: `Job 'team-a/${NAME}' runs for version 1.1.0${LOGS}`,
  },
  {
    name: 'a Pod of it has failed',
    world: { jobs: [job(NAME, { active: 1, failed: 2 })], objects: [crashed] },
    message: `Job 'team-a/${NAME}' runs for version 1.1.0, and has failed 2 times; Pod smoke-pod: container curl: exit code 22${LOGS}`,
  },
  {
    name: 'the Job has completed',
    world: { jobs: [job(NAME, COMPLETE)] },
    status: 'Healthy',
    message: `Job 'team-a/${NAME}' has completed for version 1.1.0${LOGS}`,
  },
  {
    name: 'the Job has failed',
    world: { jobs: [job(NAME, FAILED)], objects: [crashed] },
    status: 'Unhealthy',
    message: `Job 'team-a/${NAME}' has failed for version 1.1.0: BackoffLimitExceeded: Job has reached the specified backoff limit; Pod smoke-pod: container curl: exit code 22${LOGS}`,
  },
  {
    name: 'its Pods may not be read',
    world: { jobs: [job(NAME, FAILED)], objects: [crashed], fails: 'pods' },
    status: 'Unhealthy',
    message: `Job 'team-a/${NAME}' has failed for version 1.1.0: BackoffLimitExceeded: Job has reached the specified backoff limit${LOGS}`,
  },
  {
    name: 'a Pod that has only its label says nothing',
    world: { jobs: [job(NAME, { active: 1 })], objects: [foreign] },
    message: `Job 'team-a/${NAME}' runs for version 1.1.0${LOGS}`,
  },
  {
    name: 'the version is not applied: objects are bound',
    world: { rollouts: [rollout(unapplied)], objects: [binding] },
    message: `waits until version 1.1.0 is applied, and then runs Job 'team-a/${NAME}'`,
    jobs: [],
  },
  {
    name: 'nothing is bound, a moment after the deployment',
    world: { rollouts: [rollout(unapplied)], now: ms('11:00:09') },
    message: /^waits until version/,
    jobs: [],
  },
  {
    name: 'nothing is bound',
    world: { rollouts: [rollout(unapplied)], now: ms('11:00:10') },
    message: /is being created/,
  },
  {
    name: 'the Job was deleted while it ran',
    of: check({ status: 'Pending', message: 'runs', lastChangeTime: at('11:02:00'), job: run }),
    message: /is being created/,
  },
  {
    name: 'the Job is being deleted',
    world: { jobs: [job(NAME, COMPLETE, { deletionTimestamp: at('11:59:00') })] },
    message: `Job 'team-a/${NAME}' is being deleted, and is run again after that`,
    jobs: [],
  },
  {
    name: 'the Job was deleted after it had completed: it has been run',
    of: check({ status: 'Healthy', message: 'completed', lastChangeTime: at('11:05:00'), job: run }),
    status: 'Healthy',
    message: 'completed',
    jobs: [],
  },
  {
    name: 'a failed Job was deleted while the version bakes on: it is run again',
    of: check({ status: 'Unhealthy', message: 'failed', lastChangeTime: at('11:05:00'), job: run }),
    message: /is being created/,
  },
  {
    name: 'a failed Job was deleted after the bake: what it has shown stays',
    of: check({ status: 'Unhealthy', message: 'failed', lastChangeTime: at('11:05:00'), job: run }),
    world: { rollouts: [rollout({ ...HEAD, bakeStatus: 'Failed' })] },
    status: 'Unhealthy',
    message: 'failed',
    jobs: [],
  },
  {
    name: 'the template was changed after the bake: nothing is run',
    of: check(
      { status: 'Healthy', message: 'completed', lastChangeTime: at('11:05:00'), job: run },
      { spec: jobSpec({ backoffLimit: 3 }) },
    ),
    world: { rollouts: [rollout(baked)], jobs: [job(NAME, COMPLETE)] },
    message: 'the deployment of version 1.1.0 has ended without a finished Job: the next deployment runs one',
    about: false,
  },
  {
    name: 'the Job ends after the bake',
    world: { rollouts: [rollout(baked)], jobs: [job(NAME, COMPLETE)] },
    status: 'Healthy',
    message: /has completed/,
  },
  {
    name: 'a later deployment: the Job that runs for the one before is stopped',
    of: check({ status: 'Pending', message: 'runs', lastChangeTime: at('11:02:00'), job: run }),
    world: { rollouts: [rollout({ ...unapplied, id: 8 })], jobs: [job(NAME, { active: 1 })], objects: [binding] },
    message: /^waits until version 1\.1\.0 is applied/,
    jobs: [],
    about: false,
  },
  {
    name: 'a later deployment: of Jobs that have ended the last is kept, with its logs',
    of: check({ status: 'Unhealthy', lastErrorTime: at('11:05:00'), lastChangeTime: at('11:05:00'), job: run }),
    world: {
      rollouts: [rollout({ ...unapplied, id: 8 })],
      jobs: [job('smoke-web-6', COMPLETE, { creationTimestamp: at('10:00:00') }), job(NAME, FAILED)],
      objects: [binding],
    },
    message: /^waits until version 1\.1\.0 is applied/,
    about: false,
  },
  {
    name: 'nothing is deployed yet',
    world: { rollouts: [rollout(null as never)] },
    message: "Rollout 'web' has deployed nothing yet: the Job is run then",
    jobs: [],
    about: false,
  },
  {
    name: 'no Rollout selects it',
    world: { rollouts: [{ ...rollout(), spec: { releasesImagePolicy: {} } } as Rollout], jobs: [job(NAME, COMPLETE)] },
    message: 'no Rollout of this namespace selects this HealthCheck: no Job is run',
    about: false,
  },
  {
    name: 'two Rollouts select it: whichever Job has completed',
    world: { rollouts: [rollout(), rollout(HEAD, 'other')], jobs: [job(NAME, COMPLETE)] },
    message:
      "2 Rollouts select this HealthCheck ('other', 'web'), but its Job belongs to one: create a HealthCheck for each",
    about: false,
  },
  {
    name: 'the Rollout of another namespace that selects it runs nothing',
    world: { rollouts: [{ ...rollout(), metadata: { name: 'web', namespace: 'team-b', uid: 'u' } }] },
    message: 'no Rollout of this namespace selects this HealthCheck: no Job is run',
    jobs: [],
    about: false,
  },
  {
    name: 'a template that Kubernetes would not take',
    of: check(undefined, { spec: jobSpec({ suspend: true }) }),
    status: 'Unhealthy',
    message:
      'spec.job.template.spec.suspend must not be set: a suspended Job never ends. No Job is run until it is corrected',
    jobs: [],
    about: false,
  },
  {
    name: 'the component is missing',
    world: { jobs: null },
    status: 'Unhealthy',
    message: 'no Job is run: the component health-jobs is not installed, see docs/install.md',
    jobs: [],
    about: false,
  },
];

describe('class job', () => {
  it.each(ROWS)('$name', async ({ of = check(), world = {}, about = true, jobs = [NAME], ...row }) => {
    const { status = 'Pending', message } = row;
    const found = await sync(of, world);
    expect(found.status).toMatchObject({
      status,
      message: typeof message === 'string' ? message : expect.stringMatching(message),
      ...(about && { job: run }),
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
