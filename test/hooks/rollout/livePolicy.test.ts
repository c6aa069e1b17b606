/**
 * The ImagePolicy may have changed since Metacontroller's cache got it: a release that it excludes isn't deployed, and
 * a bake ends by the digest that it selects now.
 */
import { expect, it } from 'vitest';
import { imagePolicy, rollout } from './call.ts';
import { deployed, sync } from './sync.ts';

const found = imagePolicy('1.1.0');
const narrowed = { ...found, spec: { ...found.spec, policy: { semver: { range: '<1.1.0' } } } };

it.each([
  ['selects it', found, ['1.1.0', '1.0.0']],
  ['can no longer select it', narrowed, ['1.0.0']],
  ['is gone', undefined, ['1.0.0']],
])('a release is deployed only if the stored ImagePolicy %s', async (_, stored, expected) => {
  const { tags } = await sync(rollout({}, deployed), [found], { stored: stored ? [stored] : [] });
  expect(tags).toEqual(expected);
});

it.each([
  ['has another digest', 'sha256:bb', 'sha256:aa', 'Failed'],
  ['has the deployed digest again', 'sha256:aa', 'sha256:bb', 'Succeeded'],
])('a bake ends by the stored ImagePolicy, which %s', async (_, stored, cached, bakeStatus) => {
  const selecting = (digest: string) => {
    const latestRef = { name: 'registry.example/app', tag: '1.0.0', digest };
    return { ...found, status: { ...found.status, latestRef } };
  };
  const [entry] = deployed.history!;
  const version = { tag: '1.0.0', digest: 'sha256:aa' };
  const baking = { bakeStatus: 'InProgress', bakeStartTime: '2026-03-01T11:00:10Z' };
  const status = { ...deployed, history: [{ ...entry!, version, ...baking }] };
  const answer = await sync(rollout({ bakeTime: '5m' }, status), [selecting(cached)], { stored: [selecting(stored)] });
  expect(answer.status.history?.[0]?.bakeStatus).toBe(bakeStatus);
});

it.each([
  ['a retry fails and isn’t offered if the tag was moved', 'sha256:bb', 'Failed', false],
  ['a retry is offered if it wasn’t', 'sha256:aa', 'InProgress', true],
])('%s, although the ImagePolicy selects a newer one', async (_, digest, bakeStatus, isOffered) => {
  const [entry] = deployed.history!;
  const version = { tag: '1.0.0', digest: 'sha256:aa' };
  const failed = { ...entry!, version, bakeStatus: 'Failed', bakeEndTime: '2026-03-01T11:10:00Z' };
  const status = { history: [failed], availableReleases: [{ tag: '1.0.0', digest }, { tag: '1.1.0' }] };
  const held = rollout({ bakeTime: '5m', onFailure: 'Hold' }, status);
  const { conditions = [] } = (await sync(held, [found])).status;
  const blocked = conditions.find(({ type }) => type === 'DeploymentBlocked')?.message;
  expect(blocked).toMatch(
    isOffered ? /To retry 1\.0\.0/ : /has been moved to another image since it was deployed\nTo let automation/,
  );
  const annotations = { 'rollout.kuberik.com/retry': '1.0.0' };
  const retried = await sync({ ...held, metadata: { ...held.metadata, annotations } }, [found]);
  expect(retried.status.history?.[0]?.bakeStatus).toBe(bakeStatus);
});
