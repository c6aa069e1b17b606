/** `spec.after` in the hook: related objects and live reads. */
import { describe, expect, it } from 'vitest';
import type { Rollout, RolloutSpec, RolloutStatus } from '../../../api/types.ts';
import { imagePolicy, rollout } from './call.ts';
import { rules, sync } from './sync.ts';

const entry = (tag: string, bakeStatus: string) => ({
  version: { tag },
  timestamp: '2026-03-01T11:00:00Z',
  bakeStatus,
});
const upstream = (name: string, bakeStatus: string | undefined, after: RolloutSpec['after'] = []): Rollout =>
  rollout({ after }, bakeStatus === undefined ? {} : { history: [entry('1.0.0', bakeStatus)] }, name);
const waits = (status: RolloutStatus) => status.conditions?.find(({ type }) => type === 'WaitingForRollouts');
const app = (after: RolloutSpec['after'], status?: RolloutStatus) => rollout({ after }, status);
const policy = imagePolicy('1.0.0');
const as = (object: Rollout) => object as never;

describe('an upstream Rollout', () => {
  it('that has failed since the cache saw it holds the version, and is read again', async () => {
    const cached = upstream('staging', 'Succeeded');
    const objects = [as(upstream('staging', 'Failed'))];
    const { tags, status, resyncAfterSeconds } = await sync(app([{ name: 'staging' }]), [policy, as(cached)], {
      objects,
    });
    expect(tags).toBeUndefined();
    expect(waits(status)?.message).toBe("Version 1.0.0 waits for Rollout 'staging' (the deployment failed there)");
    expect(resyncAfterSeconds).toBe(15);
  });

  it('that is gone since the cache saw it holds the version', async () => {
    const { tags, status } = await sync(app([{ name: 'staging' }]), [policy, as(upstream('staging', 'Succeeded'))]);
    expect(tags).toBeUndefined();
    expect(waits(status)).toMatchObject({ reason: 'RolloutNotFound' });
  });

  it('is not read live while it blocks, nor without a deployment to make', async () => {
    const held = await sync(app([{ name: 'staging' }]), [policy, as(upstream('staging', 'InProgress'))]);
    expect(held.reads.filter((read) => read.includes('rollouts'))).toEqual([]);
  });

  it('that has become part of a cycle since the cache saw it holds the version', async () => {
    const objects = [as(upstream('staging', 'Succeeded', [{ name: 'app' }]))];
    const { tags, status } = await sync(app([{ name: 'staging' }]), [policy, as(upstream('staging', 'Succeeded'))], {
      objects,
    });
    expect(tags).toBeUndefined();
    expect(waits(status)).toMatchObject({ reason: 'DependencyCycle' });
  });

  it('has its own upstream Rollouts read live, each once', async () => {
    const cached = [upstream('a', 'Deploying', [{ name: 'c' }]), upstream('b', 'Deploying', [{ name: 'c' }])].map(as);
    const objects = [...cached, as(upstream('c', 'Succeeded'))];
    const { reads } = await sync(app([{ name: 'a' }, { name: 'b' }]), [policy, ...cached], { objects });
    expect(reads.filter((read) => read.includes('rollouts'))).toEqual(['get rollouts team-a c']);
  });

  it('makes the hook throw when it cannot be read: nothing is deployed on half an answer', async () => {
    const cached = [policy, as(upstream('staging', 'Succeeded'))];
    await expect(sync(app([{ name: 'staging' }]), cached, { fails: true })).rejects.toThrow('does not answer');
  });
});

describe('an upstream Rollout of another namespace', () => {
  const theirs = (annotations?: Record<string, string>) => {
    const object = upstream('staging', 'Succeeded');
    return as({
      ...object,
      metadata: { ...object.metadata, namespace: 'team-b', ...(annotations && { annotations }) },
    });
  };
  const after = [{ name: 'staging', namespace: 'team-b' }];

  it('counts without consent only if the installation requires none', async () => {
    const around = { objects: [theirs()] };
    expect((await sync(app(after), [policy, theirs()], around)).tags).toBeUndefined();
    const settings = { watchWithoutConsent: true };
    expect((await sync(app(after), [policy, theirs()], { ...around, settings })).tags).toEqual(['1.0.0']);
  });

  it('is not followed if cross-namespace references are forbidden: nothing is deployed, as Ready reports', async () => {
    const willing = theirs({ 'healthcheck.kuberik.com/watched-from': '*' });
    const around = { objects: [willing], settings: { noCrossNamespaceRefs: true } };
    const { tags, status, reads } = await sync(app(after), [policy, willing], around);
    expect(tags).toBeUndefined();
    expect(status.conditions?.find(({ type }) => type === 'Ready')?.message).toContain(
      'spec.after[0].namespace: references to another namespace ("team-b") are forbidden (NO_CROSS_NAMESPACE_REFS)',
    );
    expect(reads.filter((read) => read.includes('team-b'))).toEqual([]);
    expect(await rules({ after }, { settings: { noCrossNamespaceRefs: true } })).not.toHaveProperty('rollouts');
  });
});
