import { describe, expect, it } from 'vitest';
import type { Rollout } from '../../../api/types.ts';
import { objectOf } from '../../support/objects.ts';
import {
  at,
  type Case,
  expectVerdict,
  failedAt,
  failing,
  HEALTHY,
  judged,
  NEW,
  notBegun,
  OLD,
  pending,
  source,
  unhealthy,
} from './kustomizationFixture.ts';

const BEHIND = notBegun('Kustomization generation is 2, but latest observed generation is 1');
/** Flux is at a new spec on the same artifact. */
const NEW_SPEC = { observed: 1, ready: { status: 'Unknown' }, reconcilingSince: '11:52:00' };
const AT_IT = failing('', { ready: { status: 'Unknown' } });
const OF_BEFORE = { health: 'Pending', message: /Before: Unhealthy resources/ };
const failedAtTime = (time: string) => unhealthy(/^Unhealthy resources: /, time);

const CASES: Case[] = [
  {
    name: 'the Kustomization is not at its generation',
    kustomization: { observed: 1, ready: { status: 'True', observedGeneration: 1 } },
    expected: BEHIND,
  },
  {
    name: 'only Ready is of an older generation',
    kustomization: { ready: { status: 'True', observedGeneration: 1 } },
    expected: BEHIND,
  },
  {
    name: 'it is suspended',
    kustomization: { spec: { suspend: true }, observed: 1, ready: { status: 'True', observedGeneration: 1 } },
    expected: {
      health: 'Pending',
      message: /observed generation is 1 \(suspended\)$/,
      attempting: false,
      waitsForEvent: true,
    },
  },
  {
    name: 'the source has fetched a newer artifact',
    kustomization: { applied: OLD },
    expected: notBegun(`revision ${NEW} is fetched, ${OLD} is applied`),
  },
  {
    name: 'the source has not seen its new spec',
    source: source({ observed: 4 }),
    expected: pending('OCIRepository web has not fetched its generation 5'),
  },
  {
    name: 'the source still has the old tag',
    kustomization: { applied: OLD },
    source: source({ artifact: OLD }),
    expected: pending(`OCIRepository web has ${OLD}, not 1.1.0`),
  },
  {
    name: 'the source has nothing',
    source: source({ artifact: null }),
    expected: pending('OCIRepository web has nothing, not 1.1.0'),
  },
  {
    name: 'a tag beside a semver range says nothing',
    kustomization: { applied: OLD },
    source: source({ ref: { tag: '9.9.9', semver: '*' }, artifact: OLD }),
    expected: HEALTHY,
  },
  {
    name: 'a failure of before the deployment keeps its own time',
    kustomization: { applied: OLD },
    observed: [failedAt('11:40:00')],
    expected: failedAtTime('11:40:00'),
  },
  {
    name: 'a failure after the deployment, with Flux not at it yet',
    kustomization: { applied: OLD },
    observed: [failedAt('11:51:00')],
    expected: { health: 'Pending', message: /^Kustomization pending: .* Before: Unhealthy/, waitsForEvent: true },
  },
  {
    name: 'a failure after the deployment, but before Flux began',
    kustomization: AT_IT,
    observed: [failedAt('11:51:00')],
    expected: OF_BEFORE,
  },
  {
    name: 'a failure while Flux applies it',
    kustomization: AT_IT,
    observed: [failedAt('11:53:00')],
    expected: failedAtTime('11:53:00'),
  },
  {
    name: 'a failure before Flux began with a new spec on the same artifact',
    kustomization: NEW_SPEC,
    observed: [failedAt('11:51:00')],
    expected: OF_BEFORE,
  },
  {
    name: 'a failure while Flux applies a new spec on the same artifact',
    kustomization: NEW_SPEC,
    observed: [failedAt('11:53:00')],
    expected: failedAtTime('11:53:00'),
  },
  {
    name: 'K17: without a deployment every failure counts',
    kustomization: { applied: OLD },
    observed: [failedAt('11:00:00')],
    cutoff: null,
    expected: failedAtTime('11:00:00'),
  },
];

describe('Q28: health of the old revision', () => {
  it.each(CASES)('$name', expectVerdict);
});

describe('Q28: a deployment on its way', () => {
  const rollout: Rollout = objectOf('Rollout', {
    metadata: { name: 'web', namespace: 'demo', uid: 'u1' },
    status: { history: [{ id: 7, version: { tag: '1.1.0' }, timestamp: at('11:50:00') }] },
  });
  const carrying = (deployed: string) => ({ 'rollout.kuberik.com/deployed': deployed });
  const health = (onSource: string | undefined, onKustomization?: string) =>
    judged({
      rollouts: [rollout],
      ...(onKustomization && { kustomization: { annotations: carrying(onKustomization) } }),
      source: source(onSource ? { annotations: carrying(onSource) } : {}),
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
