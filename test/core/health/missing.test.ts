/** An object that Flux has applied and that does not exist any more. */
import { describe, expect, it } from 'vitest';
import type { ObservedResource } from '../../../core/health/objects/resources.ts';
import { type Case, good, judged, ms, seen } from './kustomizationFixture.ts';

const JOB: ObservedResource = { apiVersion: 'batch/v1', kind: 'Job', namespace: 'demo', name: 'migrate' };
const DELETED = 'Unhealthy resources: demo/web (Flux has applied it, and it does not exist)';

/** Flux has applied everything at 11:55, the version was deployed at 11:50, and it is 12:00. */
const CASES: Case[] = [
  {
    name: 'was there when Flux applied it',
    expected: { health: 'Unhealthy', message: DELETED, failedAt: ms('11:55:00') },
  },
  {
    name: 'while Flux applies the same once more, which restores it',
    kustomization: { ready: { status: 'Unknown', message: 'at it' }, reconcilingSince: '11:59:59' },
    expected: { health: 'Pending', message: 'Kustomization pending: at it', attempting: true, again: true },
  },
  {
    name: 'a Job, which Kubernetes deletes when it has ended',
    observed: [good, JOB],
    expected: {
      health: 'Healthy',
      message: 'Kustomization and all managed resources are healthy (not found: demo/migrate)',
    },
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
});
