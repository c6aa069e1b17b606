/** An object that Flux has applied and that does not exist any more. */
import { describe, expect, it } from 'vitest';
import type { ObservedResource } from '../../../core/health/objects/resources.ts';
import {
  type Case,
  failing,
  good,
  HEALTHY,
  judged,
  ms,
  NEW,
  OLD,
  seen,
  starting,
  unhealthy,
} from './kustomizationFixture.ts';

const JOB: ObservedResource = { apiVersion: 'batch/v1', kind: 'Job', namespace: 'demo', name: 'migrate' };
const DELETED = 'Unhealthy resources: demo/web (Flux has applied it, and it does not exist)';
const MISSING = 'Pending resources: demo/web (not found)';
const NOT_FOUND = { health: 'Pending', message: MISSING };

/** Flux has applied everything at 11:55, the version was deployed at 11:50, and it is 12:00. */
const CASES: Case[] = [
  { name: 'was there when Flux applied it', expected: unhealthy(DELETED, '11:55:00') },
  {
    name: 'was seen healthy until five minutes ago',
    healthyUntil: ms('11:56:00'),
    expected: unhealthy(DELETED, '11:56:00'),
  },
  { name: 'was seen healthy until a moment ago', healthyUntil: ms('11:59:01'), expected: NOT_FOUND },
  { name: 'at the end of the grace period', healthyUntil: ms('11:59:00'), expected: unhealthy(DELETED, '11:59:00') },
  { name: 'of a version that arrived a moment ago', cutoff: ms('11:59:30'), expected: NOT_FOUND },
  {
    name: 'while Flux applies a new revision, which may prune it',
    kustomization: {
      ready: { status: 'Unknown', message: 'at it' },
      reconcilingSince: '11:50:30',
      applied: OLD,
      attempted: NEW,
    },
    expected: { health: 'Pending', message: /^Kustomization pending: / },
  },
  {
    name: 'while Flux applies the same once more, which restores it',
    kustomization: { ready: { status: 'Unknown', message: 'at it' }, reconcilingSince: '11:59:59' },
    expected: { health: 'Pending', message: 'Kustomization pending: at it', attempting: true, again: true },
  },
  {
    name: 'while Flux waits for another Kustomization',
    kustomization: failing('DependencyNotReady'),
    expected: { health: 'Pending', message: /^Kustomization pending: / },
  },
  {
    name: 'beside one that is starting',
    observed: [starting, { ...seen(), name: 'other' }],
    expected: unhealthy(DELETED.replace('web', 'other'), '11:55:00'),
  },
  {
    name: 'a Job, which Kubernetes deletes when it has ended',
    observed: [good, JOB],
    expected: { ...HEALTHY, message: `${HEALTHY.message} (not found: demo/migrate)` },
  },
];

describe('an object that does not exist', () => {
  it.each(CASES)('$name', (row) => {
    const { verdict } = judged({ observed: [seen()], ...row });
    expect(verdict).toMatchObject({
      ...row.expected,
      message:
        typeof row.expected.message === 'string' ? row.expected.message : expect.stringMatching(row.expected.message),
    });
    if (row.expected.failedAt === undefined) expect(verdict).not.toHaveProperty('failedAt');
  });

  it('is Pending where Flux does not say since when it has applied it', () => {
    const observed = [seen()];
    const { verdict } = judged({
      observed,
      kustomization: { ready: { status: 'True', lastTransitionTime: 'yesterday' } as never },
    });
    expect(verdict).toMatchObject({ health: 'Pending', message: MISSING });
  });
});
