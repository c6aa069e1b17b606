/** Copies by spec.targetRepository at a sync: the wanted Job, waiting deployments, and the stored result. */
import { describe, expect, it } from 'vitest';
import type { RolloutStatus } from '../../../api/types.ts';
import { imagePolicy, rollout } from './call.ts';
import {
  DIGEST,
  ended,
  type Job,
  podOf,
  repository,
  type Sync,
  secretsOf,
  syncCopy as sync,
  targetRepository,
  URL,
} from './copySync.ts';
import { deployed, freeze, gate } from './sync.ts';

describe('BeforeDeployment', () => {
  const firstCopied = (spec: object = {}, status = deployed) => rollout({ targetRepository, ...spec }, status);

  it('a version waits for its copy, which the namespace makes with its own Secrets', async () => {
    const { status, tags, jobs, condition } = await sync(firstCopied());
    expect(tags).toEqual(['1.0.0']);
    expect(status.blockers).toEqual([{ type: 'Copy', effect: 'Waits', reason: 'WaitingForCopy', version: '1.1.0' }]);
    expect(jobs).toHaveLength(1);
    const { args } = jobs[0]!.spec.template.spec.containers[0];
    expect(args).toEqual(
      expect.arrayContaining(['--source=registry.example/dev/app', `--target=${URL}`, '--tag=1.1.0']),
    );
    expect(secretsOf(jobs[0]!)).toEqual({ 'source-secret': 'pull', 'target-secret': 'push' });
    expect(condition('DeploymentBlocked')).toMatchObject({ status: 'True', reason: 'WaitingForCopy' });
    expect(condition('Copied')).toMatchObject({ status: 'False', reason: 'Copying' });
  });

  it('the Secrets of registries with authorities of their own are mounted too', async () => {
    const parent = firstCopied({ targetRepository: { ...targetRepository, certSecretRef: { name: 'ours' } } });
    const { jobs } = await sync(parent, { objects: [repository({ certSecretRef: { name: 'theirs' } })] });
    expect(secretsOf(jobs[0]!)).toMatchObject({ 'source-certificates': 'theirs', 'target-certificates': 'ours' });
  });

  it('is deployed in the sync that sees the copy done; then the Job is deleted', async () => {
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

  it('reports a failure with the Pod’s message, and leaves the Job as it is', async () => {
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

  it('is not deployed for a Job of the right name with another task, and reports what to do', async () => {
    const [job] = (await sync(firstCopied())).jobs;
    const done = ended(job!, 'Complete');
    const template = structuredClone(done.spec.template);
    template.spec.containers[0].command = ['true'];
    const foreign = { ...done, spec: { ...done.spec, template } };
    const { tags, condition } = await sync(firstCopied(), { jobs: [foreign] });
    expect(tags).toEqual(['1.0.0']);
    expect(condition('Copied')).toMatchObject({ reason: 'CopyFailed' });
    expect(condition('Copied')!.message).toContain('is not the Job of this copy: its spec.template.spec.containers[0]');
  });

  it('ignores a Pod that isn’t the Job’s', async () => {
    const [job] = (await sync(firstCopied())).jobs;
    const failed = { jobs: [ended(job!, 'Failed')], objects: [podOf(job!, { message: 'forged' }, 'another')] };
    expect((await sync(firstCopied(), failed)).condition('Copied')!.message).toContain('of the Job');
  });

  const gated = { gates: [{ name: 'freeze' }] };
  const [open, closed] = [freeze('freeze', 'opened'), freeze('freeze', 'closed')];
  const asks = gate('approved', { approvals: { required: 2 } });
  it.each([
    ['a Gate keeps out', gated, closed, closed, 'GateClosed'],
    ['a Gate keeps out that the cache has not seen close', gated, open, closed, 'GateClosed'],
    ['two people have not approved', {}, asks, asks, 'WaitingForApprovals'],
    ['two people have not approved, by hand neither', { wantedVersion: '1.1.0' }, asks, asks, 'WaitingForApprovals'],
  ])('nothing is copied that %s', async (_, spec, cached, live, reason) => {
    const { jobs, condition } = await sync(firstCopied(spec), { related: [cached], objects: [live] });
    expect(jobs).toEqual([]);
    expect(condition('DeploymentBlocked')).toMatchObject({ reason });
  });

  it('nothing is copied while the spec is invalid', async () => {
    const { jobs, status, tags } = await sync(firstCopied({ bakeTime: 'soon' }));
    expect(tags).toEqual(['1.0.0']);
    expect(jobs).toEqual([]);
    expect(status.blockers).toMatchObject([{ type: 'Problem', version: '1.1.0' }]);
  });

  it('nor from a Rollout that has changed since', async () => {
    const live = firstCopied();
    live.metadata.generation = 2;
    await expect(sync(firstCopied(), { live })).rejects.toThrow('nothing was decided');
  });

  it('a manual deployment waits too', async () => {
    const { tags, jobs } = await sync(firstCopied({ wantedVersion: '0.9.0' }));
    expect(tags).toEqual(['1.0.0']);
    expect(jobs[0]!.spec.template.spec.containers[0].args).toContain('--tag=0.9.0');
  });

  it('a rollback does not wait, and its version is not copied', async () => {
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

  it('a version that was deployed before there was a target is not copied afterwards', async () => {
    const { jobs, condition } = await sync(firstCopied(), { tag: '1.0.0' });
    expect(jobs).toEqual([]);
    expect(condition('Copied')).toBeUndefined();
  });

  it('of an ImageRepository of another namespace is read without Secrets: a Pod could not mount them', async () => {
    const policy = imagePolicy('1.1.0');
    policy.spec.imageRepositoryRef = { name: 'app', namespace: 'shared' };
    const shared = repository();
    shared.metadata.namespace = 'shared';
    const { jobs } = await sync(firstCopied(), { policy, repositories: [shared] });
    expect(Object.keys(secretsOf(jobs[0]!))).toEqual(['target-secret']);
  });

  it.each<[string, Sync, string]>([
    ['no image is set', { settings: { copyImage: '' } }, 'component release-copies'],
    ['there is no ImageRepository', { repositories: [] }, 'no ImageRepository'],
  ])('a version waits, and it is said why, where %s', async (_, around, why) => {
    const { tags, jobs, condition } = await sync(firstCopied(), around);
    expect([tags, jobs]).toEqual([['1.0.0'], []]);
    const message = expect.stringContaining(why);
    expect(condition('Copied')).toMatchObject({ status: 'False', reason: 'CopyFailed', message });
  });
});

describe('notifications of a copy', () => {
  const parent = (status = deployed) => rollout({ targetRepository }, status);
  const copyEvents = ({ events }: Awaited<ReturnType<typeof sync>>) =>
    events.filter(({ reason }) => reason.includes('Cop')).map(({ type, reason }) => `${type} ${reason}`);

  it('that it was done: once, with an Event and in the metric', async () => {
    const first = await sync(parent());
    expect([copyEvents(first), first.counted]).toEqual([[], []]);
    const jobs = [ended(first.jobs[0]!, 'Complete')];
    const done = await sync(parent(first.status), { jobs });
    expect(copyEvents(done)).toEqual(['Normal ReleaseCopied']);
    expect(done.counted).toEqual(['copied']);
    const edited = parent(done.status);
    edited.metadata.generation = 2;
    const again = await sync(edited, { jobs });
    expect(again.status.revision).toBe(done.status.revision! + 1);
    expect([copyEvents(again), again.counted]).toEqual([[], []]);
  });

  it('that it failed: once, even if its Pods are deleted and the message changes', async () => {
    const first = await sync(parent());
    const [job] = first.jobs;
    const jobs = [ended(job!, 'Failed')];
    const failed = await sync(parent(first.status), { jobs, objects: [podOf(job!, { message: 'there already' })] });
    expect(copyEvents(failed)).toEqual(['Warning CopyFailed']);
    expect(failed.events.find(({ reason }) => reason === 'CopyFailed')!.message).toContain('there already');
    expect(failed.counted).toEqual(['failed']);
    const later = await sync(parent(failed.status), { jobs });
    expect([copyEvents(later), later.counted]).toEqual([[], []]);
    expect(later.condition('Copied')!.message).not.toBe(failed.condition('Copied')!.message);
  });

  it('that it failed again after a retry by a user', async () => {
    const first = await sync(parent());
    const jobs = [ended(first.jobs[0]!, 'Failed')];
    const failed = await sync(parent(first.status), { jobs });
    const deleted = await sync(parent(failed.status));
    expect(copyEvents(deleted)).toEqual([]);
    expect(copyEvents(await sync(parent(deleted.status), { jobs }))).toEqual(['Warning CopyFailed']);
  });

  it('and a first deployment that waits for it reports it in Ready, without an Event for each step of the Job', async () => {
    const first = await sync(parent({}));
    expect(first.condition('Ready')).toMatchObject({ reason: 'WaitingForCopy' });
    expect(first.events.map(({ reason }) => reason)).not.toContain('WaitingForCopy');
  });
});

describe('with spec.after', () => {
  const stage = (bakeStatus: 'Succeeded' | 'InProgress') => {
    const status = { history: [{ ...deployed.history![0]!, version: { tag: '1.1.0' }, bakeStatus }] };
    return rollout({}, status, 'staging') as Job;
  };
  const parent = rollout({ targetRepository, after: [{ name: 'staging' }] }, deployed);

  it('nothing is copied that an upstream Rollout blocks', async () => {
    const staging = stage('InProgress');
    const { jobs, condition } = await sync(parent, { related: [staging], objects: [staging] });
    expect(jobs).toEqual([]);
    expect(condition('WaitingForRollouts')).toMatchObject({ reason: 'NotSucceeded' });
    expect(condition('Copied')).toBeUndefined();
  });

  it('a version that every stage has is copied first, and then deployed', async () => {
    const staging = stage('Succeeded');
    const around = { related: [staging], objects: [staging] };
    const { jobs, tags, condition } = await sync(parent, around);
    expect(tags).toEqual(['1.0.0']);
    expect(condition('DeploymentBlocked')).toMatchObject({ reason: 'WaitingForCopy' });
    expect((await sync(parent, { ...around, jobs: [ended(jobs[0]!, 'Complete')] })).tags).toEqual(['1.1.0', '1.0.0']);
  });

  it('a version that an upstream Rollout loses during the copy is not deployed: the upstream Rollouts are read again', async () => {
    const [succeeded, failing] = [stage('Succeeded'), stage('InProgress')];
    const [job] = (await sync(parent, { related: [succeeded], objects: [succeeded] })).jobs;
    const jobs = [ended(job!, 'Complete')];
    const { tags } = await sync(parent, { jobs, related: [succeeded], objects: [failing] });
    expect(tags).toEqual(['1.0.0']);
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

  it('not one that succeeds in this sync, whose status the API server may still reject, but once that is stored', async () => {
    const baked = { ...head('1.1.0', 'InProgress'), bakeStartTime: '2026-03-01T10:30:00Z' };
    const copy = { tag: '1.0.0', url: URL };
    const availableReleases = [{ tag: '1.0.0' }, { tag: '1.1.0' }];
    const history = [baked, ...deployed.history!];
    const { status, jobs } = await sync(onceBaked({ history, availableReleases, copy }));
    expect(status.history![0]).toMatchObject({ version: { tag: '1.1.0' }, bakeStatus: 'Succeeded' });
    expect(jobs).toEqual([]);
    const after = await sync(onceBaked(status));
    expect(after.jobs[0]!.spec.template.spec.containers[0].args).toContain('--tag=1.1.0');
  });

  it('not a version that has failed since, or was rolled back: the next environment has the same rule as `after`', async () => {
    const [first] = deployed.history!;
    const succeeded = { ...head('1.1.0', 'Failed'), bakeStatus: 'Succeeded' as const };
    const again = { ...head('1.1.0', 'Failed'), id: 3 };
    const availableReleases = [{ tag: '1.0.0' }, { tag: '1.1.0' }];
    const argsOf = async (status: RolloutStatus) =>
      (await sync(onceBaked({ availableReleases, ...status }))).jobs[0]!.spec.template.spec.containers[0].args;
    expect(await argsOf({ history: [succeeded, first!] })).toContain('--tag=1.1.0');
    expect(await argsOf({ history: [again, succeeded, first!] })).toContain('--tag=1.0.0');
    expect(await argsOf({ history: [succeeded, first!], rolledBackReleases: ['1.1.0'] })).toContain('--tag=1.0.0');
  });
});
