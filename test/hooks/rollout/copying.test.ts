/** What becomes of spec.targetRepository at a sync: which Job is wanted, who waits for it, and what is remembered. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { RolloutStatus } from '../../../api/types.ts';
import { rolloutHook } from '../../../hooks/rollout/rollout.ts';
import { type Around, fakeCall, imagePolicy, object, request, rollout } from './call.ts';
import { deployed, freeze } from './sync.ts';

type Job = KubeObject<any, any>;

const URL = 'oci://registry.example/prod/app';
const DIGEST = `sha256:${'a'.repeat(64)}`;
const targetRepository = { url: URL, secretRef: { name: 'push' } };
const repository = (spec: object = {}) =>
  object('image.toolkit.fluxcd.io/v1', 'ImageRepository', 'app', {
    image: 'registry.example/dev/app',
    secretRef: { name: 'pull' },
    ...spec,
  });

interface Sync extends Around {
  jobs?: Job[];
  related?: KubeObject<any, any>[];
  tag?: string;
}

async function sync(
  parent: ReturnType<typeof rollout>,
  { jobs = [], related = [], tag = '1.1.0', ...around }: Sync = {},
) {
  const objects = [repository(), ...(around.objects ?? []), parent as Job];
  const { call } = fakeCall({ ...around, objects, settings: { copyImage: 'rollout-hooks:1', ...around.settings } });
  const children = {
    'ConfigMap.v1': {},
    'Job.batch/v1': Object.fromEntries(jobs.map((job) => [`team-a/${job.metadata.name}`, job])),
  };
  const answer = await rolloutHook.sync({ ...request(parent, [imagePolicy(tag), ...related]), children }, call);
  const status = answer.status as RolloutStatus;
  const condition = (type: string) => status.conditions?.find((each) => each.type === type);
  return {
    status,
    condition,
    jobs: answer.children.filter(({ kind }) => kind === 'Job') as Job[],
    tags: status.history?.map(({ version }) => version.tag),
  };
}

const ended = (job: Job, type: 'Complete' | 'Failed'): Job => ({
  ...job,
  metadata: { ...job.metadata, uid: 'uid-of-job' },
  status: {
    completionTime: '2026-03-01T11:59:00Z',
    conditions: [{ type, status: 'True', reason: 'Reason', message: 'of the Job' }],
  },
});

const podOf = (job: Job, result: object, uid = 'uid-of-job'): Job => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'pod',
    namespace: 'team-a',
    labels: { 'batch.kubernetes.io/job-name': job.metadata.name ?? '' },
    ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: job.metadata.name ?? '', uid }],
  },
  status: { containerStatuses: [{ state: { terminated: { message: JSON.stringify(result) } } }] },
});

describe('BeforeDeployment', () => {
  const firstCopied = (spec: object = {}, status = deployed) => rollout({ targetRepository, ...spec }, status);

  it('a version waits for its copy, which the namespace makes with its own Secrets', async () => {
    const { tags, jobs, condition } = await sync(firstCopied());
    expect(tags).toEqual(['1.0.0']);
    expect(jobs).toHaveLength(1);
    const { args } = jobs[0]!.spec.template.spec.containers[0];
    expect(args).toEqual(
      expect.arrayContaining(['--source=registry.example/dev/app', `--target=${URL}`, '--tag=1.1.0']),
    );
    expect(jobs[0]!.spec.template.spec.volumes.map(({ secret }: any) => secret.secretName)).toEqual(['pull', 'push']);
    expect(condition('DeploymentBlocked')).toMatchObject({ status: 'True', reason: 'WaitingForCopy' });
    expect(condition('Copied')).toMatchObject({ status: 'False', reason: 'Copying' });
  });

  it('is deployed in the sync that sees the copy done; then the Job goes', async () => {
    const [job] = (await sync(firstCopied())).jobs;
    const done = ended(job!, 'Complete');
    const { tags, status, jobs } = await sync(firstCopied(), {
      jobs: [done],
      objects: [podOf(job!, { digest: DIGEST, bytes: 7 })],
    });
    expect(tags).toEqual(['1.1.0', '1.0.0']);
    expect(status.copy).toEqual({ tag: '1.1.0', url: URL, digest: DIGEST, bytes: 7, time: '2026-03-01T11:59:00Z' });
    expect(jobs).toHaveLength(1);
    const after = await sync(firstCopied({}, status), { jobs: [done] });
    expect(after.jobs).toEqual([]);
    expect(after.status.copy).toEqual(status.copy);
    expect(after.condition('Copied')).toMatchObject({
      status: 'True',
      message: `Version 1.1.0 is in ${URL} as ${DIGEST}`,
    });
  });

  it('a failure is told in the words of the Pod, and the Job stays as it is', async () => {
    const [job] = (await sync(firstCopied())).jobs;
    const failed = {
      jobs: [ended(job!, 'Failed')],
      objects: [podOf(job!, { outcome: 'Conflict', message: 'there already' })],
    };
    const { tags, jobs, condition } = await sync(firstCopied(), failed);
    expect(tags).toEqual(['1.0.0']);
    expect(jobs[0]!.metadata.name).toBe(job!.metadata.name);
    expect(condition('Copied')).toMatchObject({
      reason: 'CopyFailed',
      message: expect.stringContaining('there already'),
    });
    expect(condition('DeploymentBlocked')!.message).toContain('there already');
  });

  it('a Pod that is not of the Job tells nothing', async () => {
    const [job] = (await sync(firstCopied())).jobs;
    const failed = { jobs: [ended(job!, 'Failed')], objects: [podOf(job!, { message: 'forged' }, 'another')] };
    expect((await sync(firstCopied(), failed)).condition('Copied')!.message).toContain('of the Job');
  });

  it('nothing is copied that a Gate keeps out', async () => {
    const closed = freeze('freeze', 'closed');
    const { jobs, condition } = await sync(firstCopied({ gates: [{ name: 'freeze' }] }), {
      related: [closed],
      objects: [closed],
    });
    expect(jobs).toEqual([]);
    expect(condition('DeploymentBlocked')).toMatchObject({ reason: 'GateClosed' });
  });

  it('a deployment by hand waits too', async () => {
    const { tags, jobs } = await sync(firstCopied({ wantedVersion: '0.9.0' }));
    expect(tags).toEqual(['1.0.0']);
    expect(jobs[0]!.spec.template.spec.containers[0].args).toContain('--tag=0.9.0');
  });

  it('a rollback does not wait, and neither is copied what ran before', async () => {
    const version = (id: number, tag: string, bakeStatus: string) =>
      ({ id, version: { tag }, timestamp: '2026-03-01T11:00:00Z', bakeStatus }) as NonNullable<
        RolloutStatus['history']
      >[number];
    const history = [version(2, '1.1.0', 'Failed'), version(1, '1.0.0', 'Succeeded')];
    const failed = { history, availableReleases: [{ tag: '1.0.0' }, { tag: '1.1.0' }] };
    const { tags, jobs } = await sync(firstCopied({ onFailure: 'Rollback', bakeTime: '1m' }, failed));
    expect(tags).toEqual(['1.0.0', '1.1.0', '1.0.0']);
    expect(jobs).toEqual([]);
    const first = await sync(firstCopied({ initialVersion: '1.0.0' }, {}));
    expect(first.tags).toEqual(['1.0.0']);
  });

  it('what was deployed before there was a target is not copied afterwards', async () => {
    const { jobs, condition } = await sync(firstCopied(), { tag: '1.0.0' });
    expect(jobs).toEqual([]);
    expect(condition('Copied')).toBeUndefined();
  });

  it('of an ImageRepository of another namespace is read without Secrets: a Pod could not mount them', async () => {
    const policy = imagePolicy('1.1.0');
    policy.spec.imageRepositoryRef = { name: 'app', namespace: 'shared' };
    const shared = repository();
    shared.metadata.namespace = 'shared';
    const parent = firstCopied();
    const { call } = fakeCall({ objects: [shared, parent as Job], settings: { copyImage: 'rollout-hooks:1' } });
    const answer = await rolloutHook.sync({ ...request(parent, [policy]), children: { 'Job.batch/v1': {} } }, call);
    const { spec } = (answer.children[0] as Job).spec.template;
    expect(spec.volumes.map(({ name }: any) => name)).toEqual(['target-secret']);
  });

  it.each([
    ['no image is set', { settings: { copyImage: '' } }],
    ['there is no ImageRepository', {}],
  ])('a version waits, and it is said why, where %s', async (title, around) => {
    const parent = firstCopied();
    const { call } = fakeCall({ objects: [parent as Job], settings: { copyImage: 'rollout-hooks:1' }, ...around });
    const answer = await rolloutHook.sync(
      { ...request(parent, [imagePolicy('1.1.0')]), children: { 'Job.batch/v1': {} } },
      call,
    );
    const { history, conditions } = answer.status as RolloutStatus;
    expect(history).toHaveLength(1);
    expect(answer.children).toEqual([]);
    const copied = conditions!.find(({ type }) => type === 'Copied')!;
    expect(copied).toMatchObject({ status: 'False', reason: 'CopyFailed' });
    expect(copied.message).toContain(
      title === 'no image is set' ? 'lacks the component release-copies' : 'no ImageRepository',
    );
  });
});

describe('AfterBake', () => {
  const onceBaked = (status: RolloutStatus) =>
    rollout({ targetRepository: { ...targetRepository, when: 'AfterBake' }, bakeTime: '1h' }, status);
  const head = (tag: string, bakeStatus: 'InProgress' | 'Failed') => ({
    id: 2,
    version: { tag },
    timestamp: '2026-03-01T11:30:00Z',
    bakeStartTime: '2026-03-01T11:30:00Z',
    bakeStatus,
  });

  it('deployments wait for nothing, and the newest version that has Succeeded is copied', async () => {
    const { tags, jobs } = await sync(onceBaked(deployed));
    expect(tags).toEqual(['1.1.0', '1.0.0']);
    expect(jobs[0]!.spec.template.spec.containers[0].args).toContain('--tag=1.0.0');
  });

  it.each(['InProgress', 'Failed'] as const)('not one that is %s', async (bakeStatus) => {
    const history = [head('1.1.0', bakeStatus), ...deployed.history!];
    const copy = { tag: '1.0.0', url: URL };
    const availableReleases = [{ tag: '1.0.0' }, { tag: '1.1.0' }];
    expect((await sync(onceBaked({ history, availableReleases, copy }))).jobs).toEqual([]);
  });
});
