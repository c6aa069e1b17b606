/** An object that Flux has applied and that no longer exists. */
import { describe, expect, it } from 'vitest';
import type { ObservedResource } from '../../../core/health/objects/resources.ts';
import {
  type Case,
  evaluated,
  failing,
  good,
  HEALTHY,
  ms,
  NEW,
  OLD,
  on,
  seen,
  starting,
  unhealthy,
  waits,
} from './kustomizationFixture.ts';

const JOB: ObservedResource = { apiVersion: 'batch/v1', kind: 'Job', namespace: 'demo', name: 'migrate' };
const DELETED = 'Unhealthy resources: demo/web (Flux has applied it, but it does not exist)';
const MISSING = 'Pending resources: demo/web (not found)';
const NOT_FOUND = waits(MISSING);

/** The version was deployed at 11:50 and applied at 11:55; now is 12:00. */
const CASES: Case[] = [
  on('was there when Flux applied it', unhealthy(DELETED, '11:55:00')),
  on('was seen healthy until five minutes ago', unhealthy(DELETED, '11:56:00'), { healthyUntil: ms('11:56:00') }),
  on('was seen healthy until a moment ago', NOT_FOUND, { healthyUntil: ms('11:59:01') }),
  on('at the end of the grace period', unhealthy(DELETED, '11:59:00'), { healthyUntil: ms('11:59:00') }),
  on('of a version that arrived a moment ago', NOT_FOUND, { cutoff: ms('11:59:30') }),
  on('while Flux applies a new revision, which may prune it', waits(/^Kustomization pending: /), {
    kustomization: {
      ready: { status: 'Unknown', message: 'at it' },
      reconcilingSince: '11:50:30',
      applied: OLD,
      attempted: NEW,
    },
  }),
  on(
    'while Flux applies the same once more, which restores it',
    waits('Kustomization pending: at it', { isAttempting: true, isRepeat: true }),
    { kustomization: { ready: { status: 'Unknown', message: 'at it' }, reconcilingSince: '11:59:59' } },
  ),
  on('while Flux waits for another Kustomization', waits(/^Kustomization pending: /), {
    kustomization: failing('DependencyNotReady'),
  }),
  on('beside one that is starting', unhealthy(DELETED.replace('web', 'other'), '11:55:00'), {
    observed: [starting, { ...seen(), name: 'other' }],
  }),
  on(
    'a Job, which Kubernetes deletes when it has ended',
    { ...HEALTHY, message: `${HEALTHY.message} (not found: demo/migrate)` },
    { observed: [good, JOB] },
  ),
  on(
    'a Workflow of Argo, which its controller deletes when it has ended',
    { ...HEALTHY, message: `${HEALTHY.message} (not found: demo/test)` },
    { observed: [good, { apiVersion: 'argoproj.io/v1alpha1', kind: 'Workflow', namespace: 'demo', name: 'test' }] },
  ),
];

describe('an object that does not exist', () => {
  it.each(CASES)('$name', (row) => {
    const { result } = evaluated({ observed: [seen()], ...row });
    expect(result).toMatchObject({
      ...row.expected,
      message:
        typeof row.expected.message === 'string' ? row.expected.message : expect.stringMatching(row.expected.message),
    });
    if (row.expected.failedAt === undefined) expect(result).not.toHaveProperty('failedAt');
  });

  it('is Pending if Flux doesn’t report when it applied the object', () => {
    const observed = [seen()];
    const { result } = evaluated({
      observed,
      kustomization: { ready: { status: 'True', lastTransitionTime: 'yesterday' } as never },
    });
    expect(result).toMatchObject(waits(MISSING));
  });
});
