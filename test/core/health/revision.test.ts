import { describe, expect, it } from 'vitest';
import type { Rollout } from '../../../api/types.ts';
import { objectOf } from '../../support/objects.ts';
import { at, type Case, failedAt, failing, judged, ms, NEW, OLD, source } from './kustomizationFixture.ts';

const CASES: Case[] = [
  {
    name: 'the Kustomization is not at its generation',
    kustomization: { observed: 1, ready: { status: 'True', observedGeneration: 1 } },
    expected: {
      health: 'Pending',
      message: 'Kustomization pending: Kustomization generation is 2, but latest observed generation is 1',
      attempting: false,
    },
  },
  {
    name: 'only Ready is of an older generation',
    kustomization: { ready: { status: 'True', observedGeneration: 1 } },
    expected: {
      health: 'Pending',
      message: 'Kustomization pending: Kustomization generation is 2, but latest observed generation is 1',
      attempting: false,
    },
  },
  {
    name: 'it is suspended',
    kustomization: { spec: { suspend: true }, observed: 1, ready: { status: 'True', observedGeneration: 1 } },
    expected: { health: 'Pending', message: /observed generation is 1 \(suspended\)$/, attempting: false },
  },
  {
    name: 'the source has fetched a newer artifact',
    kustomization: { applied: OLD },
    expected: {
      health: 'Pending',
      message: `Kustomization pending: revision ${NEW} is fetched, ${OLD} is applied`,
      attempting: false,
    },
  },
  {
    name: 'the source has not seen its new spec',
    source: source({ observed: 4 }),
    expected: {
      health: 'Pending',
      message: 'Kustomization pending: OCIRepository web has not fetched its generation 5',
      attempting: false,
    },
  },
  {
    name: 'the source still has the old tag',
    kustomization: { applied: OLD },
    source: source({ artifact: OLD }),
    expected: {
      health: 'Pending',
      message: `Kustomization pending: OCIRepository web has ${OLD}, not 1.1.0`,
      attempting: false,
    },
  },
  {
    name: 'the source has nothing',
    source: source({ artifact: null }),
    expected: {
      health: 'Pending',
      message: 'Kustomization pending: OCIRepository web has nothing, not 1.1.0',
      attempting: false,
    },
  },
  {
    name: 'a tag beside a semver range says nothing',
    kustomization: { applied: OLD },
    source: source({ ref: { tag: '9.9.9', semver: '*' }, artifact: OLD }),
    expected: { health: 'Healthy', message: 'Kustomization and all managed resources are healthy' },
  },
  {
    name: 'a failure of before the deployment keeps its own time',
    kustomization: { applied: OLD },
    observed: [failedAt('11:40:00')],
    expected: { health: 'Unhealthy', message: /^Unhealthy resources: /, failedAt: ms('11:40:00') },
  },
  {
    name: 'a failure after the deployment, with Flux not at it yet',
    kustomization: { applied: OLD },
    observed: [failedAt('11:51:00')],
    expected: { health: 'Pending', message: /^Kustomization pending: .* Before: Unhealthy resources: demo\/web/ },
  },
  {
    name: 'a failure after the deployment, but before Flux began',
    kustomization: failing('', { ready: { status: 'Unknown' } }),
    observed: [failedAt('11:51:00')],
    expected: { health: 'Pending', message: /Before: Unhealthy resources/ },
  },
  {
    name: 'a failure while Flux applies it',
    kustomization: failing('', { ready: { status: 'Unknown' } }),
    observed: [failedAt('11:53:00')],
    expected: { health: 'Unhealthy', message: /^Unhealthy resources: /, failedAt: ms('11:53:00') },
  },
  {
    name: 'a failure before Flux began with a new spec on the same artifact',
    kustomization: { observed: 1, ready: { status: 'Unknown' }, reconcilingSince: '11:52:00' },
    observed: [failedAt('11:51:00')],
    expected: { health: 'Pending', message: /Before: Unhealthy resources/ },
  },
  {
    name: 'a failure while Flux applies a new spec on the same artifact',
    kustomization: { observed: 1, ready: { status: 'Unknown' }, reconcilingSince: '11:52:00' },
    observed: [failedAt('11:53:00')],
    expected: { health: 'Unhealthy', message: /^Unhealthy resources: /, failedAt: ms('11:53:00') },
  },
  {
    name: 'K17: without a deployment every failure counts',
    kustomization: { applied: OLD },
    observed: [failedAt('11:00:00')],
    cutoff: null,
    expected: { health: 'Unhealthy', message: /^Unhealthy resources: /, failedAt: ms('11:00:00') },
  },
];

describe('Q28: health of the old revision', () => {
  it.each(CASES)('$name', (row) => {
    const { message, ...rest } = row.expected;
    const { verdict } = judged(row);
    expect(verdict).toEqual({ ...rest, message: expect.any(String) });
    if (typeof message === 'string') expect(verdict.message).toBe(message);
    else expect(verdict.message).toMatch(message);
  });
});

describe('Q28: a deployment on its way', () => {
  const rollout: Rollout = objectOf('Rollout', {
    metadata: { name: 'web', namespace: 'demo', uid: 'u1' },
    status: { history: [{ id: 7, version: { tag: '1.1.0' }, timestamp: at('11:50:00') }] },
  });
  const carrying = (deployed: string) => ({ 'rollout.kuberik.com/deployed': deployed });
  const health = (onSource: string | undefined, onKustomization?: string) =>
    judged({
      name: '',
      rollouts: [rollout],
      ...(onKustomization && { kustomization: { annotations: carrying(onKustomization) } }),
      source: source(onSource ? { annotations: carrying(onSource) } : {}),
      expected: { health: '', message: '' },
    }).verdict;

  it('is awaited by its source, and by the Kustomization itself', () => {
    const message = (kind: string) =>
      `Kustomization pending: ${kind} web has web 1.0.0 (6), web 1.1.0 (7) is rolling out`;
    expect(health('web=6/1.0.0/u1')).toMatchObject({ health: 'Pending', message: message('OCIRepository') });
    expect(health(undefined, 'web=6/1.0.0/u1')).toMatchObject({ health: 'Pending', message: message('Kustomization') });
    expect(health('web=7/1.1.0/u1').health).toBe('Healthy');
  });

  it('of another Rollout of that name does not matter', () => {
    expect(health('web=6/1.0.0/u2').health).toBe('Healthy');
  });
});
