/** A release that was copied is copied again only at request: signatures and SBOMs may come after the copy. */
import { describe, expect, it } from 'vitest';
import { RECONCILE_REQUESTED_AT } from '../../../api/annotations.ts';
import type { RolloutSpec, RolloutStatus } from '../../../api/types.ts';
import { rollout } from './call.ts';
import { DIGEST, ended, type Job, podOf, syncCopy as sync, targetRepository, URL } from './copySync.ts';
import { deployed } from './sync.ts';

const REQUEST = '2026-03-01T11:58:00Z';
const COPIED = { tag: '1.0.0', url: URL, digest: DIGEST };
/** 1.0.0 is deployed, and no newer version exists. */
const RUNNING = { ...deployed, copy: COPIED };

function requested(status: RolloutStatus, request?: string, target: Partial<RolloutSpec['targetRepository']> = {}) {
  const parent = rollout({ targetRepository: { ...targetRepository, ...target } }, status);
  if (request !== undefined) parent.metadata.annotations = { [RECONCILE_REQUESTED_AT]: request };
  return parent;
}
const tagOf = ({ spec }: Job) =>
  spec.template.spec.containers[0].args.find((each: string) => each.startsWith('--tag='));

describe.each(['BeforeDeployment', 'AfterBake'] as const)('a copied release, with when: %s,', (when) => {
  const parent = (status: RolloutStatus, request?: string) => requested(status, request, { when });

  it('is copied again at request, once, and stays deployed', async () => {
    const first = await sync(parent(RUNNING, REQUEST), { tag: '1.0.0' });
    expect(first.jobs.map(tagOf)).toEqual(['--tag=1.0.0']);
    expect(first.tags).toEqual(['1.0.0']);
    expect(first.status.blockers).toEqual([]);
    expect(first.condition('Copied')).toMatchObject({ status: 'False', reason: 'Copying' });
    expect(first.condition('Copied')!.message).toMatch(`Version 1.0.0 is not copied again to ${URL}: Job `);

    const [job] = first.jobs;
    const done = { jobs: [ended(job!, 'Complete')], objects: [podOf(job!, { digest: DIGEST })], tag: '1.0.0' };
    const second = await sync(parent(first.status, REQUEST), done);
    expect(second.status.copy).toMatchObject({ ...COPIED, requestedAt: REQUEST });
    expect(second.events.map(({ reason }) => reason)).toEqual(['ReleaseCopied']);
    for (const request of [REQUEST, undefined]) {
      const after = await sync(parent(second.status, request), { tag: '1.0.0' });
      expect(after.jobs).toEqual([]);
      expect(after.condition('Copied')).toMatchObject({ status: 'True' });
    }
    expect((await sync(parent(second.status, 'later'), { tag: '1.0.0' })).jobs).toHaveLength(1);
  });

  it('is not copied again because the spec changes, as its Secret or overwrite', async () => {
    const changed = requested(RUNNING, undefined, { when, secretRef: { name: 'rotated' }, overwrite: true });
    const { jobs, condition } = await sync(changed, { tag: '1.0.0' });
    expect(jobs).toEqual([]);
    expect(condition('Copied')).toMatchObject({ status: 'True' });
  });

  it('reports a failed copy, and counts the copy before', async () => {
    const [job] = (await sync(parent(RUNNING, REQUEST), { tag: '1.0.0' })).jobs;
    const { status, condition } = await sync(parent(RUNNING, REQUEST), { jobs: [ended(job!, 'Failed')], tag: '1.0.0' });
    expect(condition('Copied')).toMatchObject({ status: 'False', reason: 'CopyFailed' });
    expect(status.copy).toEqual(COPIED);
  });
});

it('a Job that ran before the request does not count', async () => {
  const before = await sync(requested(deployed));
  const jobs = [ended(before.jobs[0]!, 'Complete')];
  const { tags, jobs: wanted } = await sync(requested(deployed, REQUEST), { jobs });
  expect(tags).toEqual(['1.0.0']);
  expect(wanted[0]!.metadata.name).not.toBe(before.jobs[0]!.metadata.name);
  expect(tagOf(wanted[0]!)).toBe('--tag=1.1.0');
});

it('a deployment waits for the copy that is requested before it', async () => {
  const copied = { ...deployed, copy: { ...COPIED, tag: '1.1.0' } };
  expect((await sync(requested(copied))).tags).toEqual(['1.1.0', '1.0.0']);
  const { tags, status } = await sync(requested(copied, REQUEST));
  expect(tags).toEqual(['1.0.0']);
  expect(status.blockers).toMatchObject([{ type: 'Copy', version: '1.1.0' }]);
});

it('a version that was deployed before there was a target is copied at request', async () => {
  expect((await sync(requested(deployed, REQUEST), { tag: '1.0.0' })).jobs.map(tagOf)).toEqual(['--tag=1.0.0']);
});

it('a request of any length is stored in 64 characters', async () => {
  const long = '\u{1f680}'.repeat(1000);
  const first = await sync(requested(RUNNING, long), { tag: '1.0.0' });
  const jobs = [ended(first.jobs[0]!, 'Complete')];
  const { status } = await sync(requested(first.status, long), { jobs, tag: '1.0.0' });
  expect(status.copy!.requestedAt).toBe('\u{1f680}'.repeat(64));
  expect((await sync(requested(status, long), { tag: '1.0.0' })).jobs).toEqual([]);
});
