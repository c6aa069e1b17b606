/** A sync of a HealthCheck of class job: the wanted Jobs, and the status. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { HealthCheck, Rollout } from '../../../api/types.ts';
import { fakeCluster, fakeHookCall } from '../../../dev/fakes/ports.ts';
import { decorating, mapOf } from '../../../dev/fakes/requests.ts';
import { healthCheckHook } from '../../../hooks/healthCheck/healthCheckHook.ts';
import { at, COMPLETE, check, FAILED, HEAD, job, jobSpec, ms, nameOf, rollout } from '../../core/health/job/fixture.ts';
import { kubeObject, objectOf } from '../../support/objects.ts';

type Job = KubeObject<any, any>;

interface Stored {
  rollouts?: Rollout[];
  /** null: the component is missing. */
  jobs?: Job[] | null;
  objects?: KubeObject<any, any>[];
  fails?: string;
  now?: number;
}

async function sync(of: HealthCheck, { rollouts = [rollout()], jobs = [], objects = [], fails, now }: Stored = {}) {
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
const binding = objectOf('FluxBinding', 'team-a/kustomization-web', {
  metadata: { labels: { 'web.rollout.kuberik.com/bound': '' } },
  spec: { target: { apiVersion: '', kind: 'Kustomization', name: 'web', uid: '' }, fields: [{ rollout: 'web' }] },
}) as unknown as KubeObject<any, any>;
const { appliedTime: _, ...unapplied } = HEAD;
const baked = { ...HEAD, bakeStatus: 'Succeeded' };
const crashed: KubeObject<any, any> = kubeObject('v1', 'Pod', 'team-a/smoke-pod', {
  metadata: {
    labels: { 'batch.kubernetes.io/job-name': NAME },
    ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: NAME, uid: `uid-of-${NAME}` }],
  },
  status: { containerStatuses: [{ name: 'curl', state: { terminated: { exitCode: 22, reason: 'Error' } } }] },
});
const foreign = { ...crashed, metadata: { ...crashed.metadata, ownerReferences: [] } };

interface Expected {
  /** Pending by default. */
  status?: string;
  /** The Job of the deployment by default. */
  jobs?: string[];
  /** Whether the status names the Job; true by default. */
  about?: boolean;
}
type Row = [name: string, message: string | RegExp, given?: Stored & { of?: HealthCheck }, expected?: Expected];

const about = (what: string) => `Job 'team-a/${NAME}' ${what}`;
const ranSo = (status: string, time = '11:05:00') =>
  check({ status, message: 'of before', lastChangeTime: at(time), job: run });
const RUNS = job(NAME, { active: 1 });
const DONE = job(NAME, COMPLETE);
const HEALTHY = { status: 'Healthy' };
const UNHEALTHY = { status: 'Unhealthy' };
const NO_JOB = { jobs: [] };
const ANOTHER = { about: false };
const CREATED = /^Job 'team-a\/smoke-web-7-[0-9a-f]+' is being created for version 1\.1\.0\. If it does not appear/;
const BROKEN = 'has failed for version 1.1.0: BackoffLimitExceeded: Job has reached the specified backoff limit';
const POD = 'Pod smoke-pod: container curl: exit code 22';
const WAITS = `waits until version 1.1.0 is applied, and then runs Job 'team-a/${NAME}'`;
const NOT_SELECTED = 'no Rollout of this namespace selects this HealthCheck: no Job is run';
const OTHERS =
  "2 Rollouts select this HealthCheck ('other', 'web'), but a HealthCheck of class job is for one Rollout: create one HealthCheck for each";
const SUSPENDED =
  'spec.job.template.spec.suspend must not be set: a suspended Job never ends. No Job is run until it is corrected';
const ENDED = 'the deployment of version 1.1.0 has ended without a finished Job: the next deployment runs one';
const changed = check(
  { status: 'Healthy', message: 'completed', lastChangeTime: at('11:05:00'), job: run },
  { spec: jobSpec({ backoffLimit: 3 }) },
);
const older = job('smoke-web-6', COMPLETE, { creationTimestamp: at('10:00:00') });
const later = rollout({ ...unapplied, id: 8 });

const ROWS: Row[] = [
  ['the version is applied: its Job is made', CREATED],
  ['the Job runs', about(`runs for version 1.1.0${LOGS}`), { jobs: [RUNS] }],
  [
    'a Pod of it has failed',
    about(`runs for version 1.1.0, and has failed 2 times; ${POD}${LOGS}`),
    { jobs: [job(NAME, { active: 1, failed: 2 })], objects: [crashed] },
  ],
  ['the Job has completed', about(`has completed for version 1.1.0${LOGS}`), { jobs: [DONE] }, HEALTHY],
  [
    'the Job has failed',
    about(`${BROKEN}; ${POD}${LOGS}`),
    { jobs: [job(NAME, FAILED)], objects: [crashed] },
    UNHEALTHY,
  ],
  [
    'a Pod that has only its label says nothing',
    about(`runs for version 1.1.0${LOGS}`),
    { jobs: [RUNS], objects: [foreign] },
  ],
  [
    'nothing is bound, a moment after the deployment',
    WAITS,
    { rollouts: [rollout(unapplied)], now: ms('11:00:09') },
    NO_JOB,
  ],
  ['nothing is bound', CREATED, { rollouts: [rollout(unapplied)], now: ms('11:00:10') }],
  [
    'nothing is bound, and the clock was set back since the deployment',
    CREATED,
    { rollouts: [rollout(unapplied)], now: ms('10:30:00') },
  ],
  ['the Job was deleted while it ran', CREATED, { of: ranSo('Pending', '11:02:00') }],
  [
    'the Job is being deleted',
    about('is being deleted, and will be run again'),
    { jobs: [job(NAME, COMPLETE, { deletionTimestamp: at('11:59:00') })] },
    NO_JOB,
  ],
  ['a failed Job was deleted while the version bakes on: it is run again', CREATED, { of: ranSo('Unhealthy') }],
  [
    'a completed Job was deleted after the bake: what it has shown stays',
    'of before',
    { of: ranSo('Healthy'), rollouts: [rollout(baked)] },
    { ...HEALTHY, ...NO_JOB },
  ],
  [
    'a failed Job was deleted after the bake: what it has shown stays',
    'of before',
    { of: ranSo('Unhealthy'), rollouts: [rollout({ ...HEAD, bakeStatus: 'Failed' })] },
    { ...UNHEALTHY, ...NO_JOB },
  ],
  [
    'the template was changed after the bake: nothing is run',
    ENDED,
    { of: changed, rollouts: [rollout(baked)], jobs: [DONE] },
    ANOTHER,
  ],
  ['the Job ends after the bake', /has completed/, { rollouts: [rollout(baked)], jobs: [DONE] }, HEALTHY],
  [
    'a later deployment: the Job that runs for the one before is stopped',
    /^waits until version 1\.1\.0 is applied/,
    { of: ranSo('Pending', '11:02:00'), rollouts: [later], jobs: [RUNS], objects: [binding] },
    { ...NO_JOB, ...ANOTHER },
  ],
  [
    'a later deployment: of Jobs that have ended the last is kept, with its logs',
    /^waits until version 1\.1\.0 is applied/,
    { of: ranSo('Unhealthy'), rollouts: [later], jobs: [older, job(NAME, FAILED)], objects: [binding] },
    ANOTHER,
  ],
  [
    'nothing is deployed yet',
    "Rollout 'web' has no deployment yet: the first runs the Job",
    { rollouts: [rollout(null as never)] },
    { ...NO_JOB, ...ANOTHER },
  ],
  [
    'no Rollout selects it',
    NOT_SELECTED,
    { rollouts: [{ ...rollout(), spec: { releasesImagePolicy: {} } } as Rollout], jobs: [DONE] },
    ANOTHER,
  ],
  [
    'two Rollouts select it: whichever Job has completed',
    OTHERS,
    { rollouts: [rollout(), rollout(HEAD, 'other')], jobs: [DONE] },
    ANOTHER,
  ],
  [
    'a template that Kubernetes would not take',
    SUSPENDED,
    { of: check(undefined, { spec: jobSpec({ suspend: true }) }) },
    { ...UNHEALTHY, ...NO_JOB, ...ANOTHER },
  ],
  [
    'the component is missing',
    'no Job is run: the component health-jobs is not installed',
    { jobs: null },
    { ...UNHEALTHY, ...NO_JOB, ...ANOTHER },
  ],
];

describe('class job', () => {
  it.each(ROWS)('%s', async (_, message, { of = check(), ...stored } = {}, expected = {}) => {
    const { status = 'Pending', about = true, jobs = [NAME] } = expected;
    const found = await sync(of, stored);
    expect(found.status).toMatchObject({
      status,
      message: typeof message === 'string' ? message : expect.stringMatching(message),
      ...(about && { job: run }),
    });
    expect(found.jobs).toEqual(jobs);
    // The same again changes nothing.
    expect((await sync({ ...of, status: found.status }, stored)).changed).toBe(false);
  });

  it('a kept Job is one that Metacontroller compares and doesn’t create', async () => {
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
    expect(status?.lastErrorTime).toBeUndefined();
    expect(status?.lastChangeTime).toBe(at('12:00:00'));
  });

  it('a failure is dated by the Job', async () => {
    const { status } = await sync(check(), { jobs: [job(NAME, FAILED)] });
    expect(status?.lastErrorTime).toBe(at('11:05:00'));
  });

  it('is requeued only while something may change without an event', async () => {
    const settled = async (of: HealthCheck, stored: Stored) => {
      const { status } = await sync(of, stored);
      return (await sync({ ...of, status }, stored)).look;
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
