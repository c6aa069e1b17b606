/** Flux tries again after a failed attempt: the first one may be the fault of the API server, or of a lost node. */
import { describe, expect, it } from 'vitest';
import { statusAfter, type Verdict } from '../../../core/health/healthStatus.ts';
import type { ObservedResource } from '../../../core/health/objects/resources.ts';
import { kubeObject } from '../../support/objects.ts';
import { at, type Case, evaluated, failedAt, failing, ms, NEW, starting, unreadable } from './kustomizationFixture.ts';

/** It failed at 11:55. */
const NOT_APPLIED = failing('ReconciliationFailed');
const RAN = { applied: NEW, observed: 2 };
const NO_LONGER_APPLIED = failing('ReconciliationFailed', RAN);
const NOT_HEALTHY = failing('HealthCheckFailed', RAN);
const healthyUntil = ms('11:54:00');
const observed = (
  apiVersion: string,
  kind: string,
  name: string,
  fields: Record<string, unknown>,
): ObservedResource => {
  const object = kubeObject(apiVersion, kind, `demo/${name}`, fields);
  return { apiVersion, kind, namespace: 'demo', name, object };
};
const notReady = (reason: string) => ({
  status: {
    conditions: [{ type: 'Ready', status: 'False', reason, message: 'no', lastTransitionTime: at('11:55:00') }],
  },
});
const database = observed('example.com/v1', 'Database', 'main', notReady('Failing'));
const nested = (reason: string) =>
  observed('kustomize.toolkit.fluxcd.io/v1', 'Kustomization', 'part', notReady(reason));
/** A Deployment that was scaled after it was healthy, so that it is Pending without a limit. */
const scaled: ObservedResource = {
  ...starting,
  object: { ...starting.object!, metadata: { name: 'web', generation: 1, managedFields: [{ time: at('11:54:30') }] } },
};

interface Row extends Omit<Case, 'name' | 'expected' | 'firstFailedAttempt'> {
  /** The first failed attempt, as the status has it. */
  first?: string;
  health: 'Pending' | 'Unhealthy';
  /** What the status has next. */
  next?: string;
}

const verdictOf = ({ first, health: _, next: __, ...row }: Row) =>
  evaluated({ ...row, ...(first !== undefined && { firstFailedAttempt: ms(first) }) }).result;

const ROWS: [string, Row][] = [
  ['an apply fails', { kustomization: NOT_APPLIED, health: 'Pending', next: '11:55:00' }],
  ['it is the same attempt', { kustomization: NOT_APPLIED, first: '11:55:00', health: 'Pending', next: '11:55:00' }],
  ['the next one fails too', { kustomization: NOT_APPLIED, first: '11:53:00', health: 'Unhealthy', next: '11:53:00' }],
  ['it does so at once', { kustomization: NOT_APPLIED, first: '11:54:30', health: 'Pending', next: '11:54:30' }],
  ['the clock was set back', { kustomization: NOT_APPLIED, first: '13:00:00', health: 'Unhealthy', next: '13:00:00' }],
  ['without a grace period', { kustomization: NOT_APPLIED, gracePeriod: 0, health: 'Unhealthy', next: '11:55:00' }],
  ['a build fails', { kustomization: failing('BuildFailed'), health: 'Unhealthy' }],
  [
    'in the bake an apply fails',
    { kustomization: NO_LONGER_APPLIED, healthyUntil, health: 'Pending', next: '11:55:00' },
  ],
  [
    'beside a failed object',
    {
      kustomization: NO_LONGER_APPLIED,
      healthyUntil,
      observed: [failedAt('11:56:00')],
      health: 'Unhealthy',
      next: '11:55:00',
    },
  ],
  ['a version is not healthy in time', { kustomization: failing('HealthCheckFailed'), health: 'Unhealthy' }],
  ['one that was healthy is not', { kustomization: NOT_HEALTHY, healthyUntil, health: 'Pending', next: '11:55:00' }],
  [
    'nor in the next attempt',
    { kustomization: NOT_HEALTHY, healthyUntil, first: '11:50:00', health: 'Unhealthy', next: '11:50:00' },
  ],
  [
    'because a workload was scaled',
    {
      kustomization: NOT_HEALTHY,
      healthyUntil,
      first: '11:50:00',
      observed: [scaled],
      health: 'Pending',
      next: '11:55:00',
    },
  ],
  [
    'because of another kind, whose failures only Flux finds',
    {
      kustomization: NOT_HEALTHY,
      healthyUntil,
      first: '11:50:00',
      observed: [database, scaled],
      health: 'Unhealthy',
      next: '11:50:00',
    },
  ],
  [
    'and an object can’t be read',
    {
      kustomization: NOT_HEALTHY,
      healthyUntil,
      first: '11:50:00',
      observed: [scaled, unreadable],
      health: 'Unhealthy',
      next: '11:50:00',
    },
  ],
  [
    'and an apply fails meanwhile',
    {
      kustomization: NO_LONGER_APPLIED,
      healthyUntil,
      first: '11:50:00',
      observed: [scaled],
      health: 'Unhealthy',
      next: '11:50:00',
    },
  ],
  [
    'a Kustomization among the objects',
    { observed: [nested('ReconciliationFailed')], health: 'Pending', next: '11:55:00' },
  ],
  [
    'it fails twice',
    { observed: [nested('ReconciliationFailed')], first: '11:50:00', health: 'Unhealthy', next: '11:50:00' },
  ],
  ['it is not healthy in time', { observed: [nested('HealthCheckFailed')], health: 'Unhealthy' }],
  ['it was before', { observed: [nested('HealthCheckFailed')], healthyUntil, health: 'Pending', next: '11:55:00' }],
];

it.each(ROWS)('%s', (_, row) => {
  const { health, firstFailedAttempt } = verdictOf(row) as Verdict;
  const next = row.next && ms(row.next);
  expect({ health, next: firstFailedAttempt }).toEqual({ health: row.health, next });
});

it('is stored at once, even if nothing was ever applied', () => {
  const kustomization = failing('ReconciliationFailed', { entries: [] });
  expect(verdictOf({ kustomization, health: 'Pending' }).waitsForEvent).toBe(false);
});

it('fails beside an object that failed before', () => {
  const row: Row = { kustomization: NOT_APPLIED, observed: [failedAt('11:51:00')], health: 'Unhealthy' };
  expect(verdictOf(row).health).toBe('Pending');
  expect(verdictOf({ ...row, first: '11:52:30' }).health).toBe('Unhealthy');
});

it('names the failure, and the objects that are not ready', () => {
  const { message } = verdictOf({ kustomization: NOT_HEALTHY, healthyUntil, observed: [scaled], health: 'Pending' });
  expect(message).toBe(
    'Kustomization pending: HealthCheckFailed: no such file. Flux tries again. ' +
      'Pending resources: demo/web (Available: 0/1)',
  );
});

it('interrupts the health of the objects if Flux has found one unhealthy', () => {
  const verdict = (kustomization: Case['kustomization']) =>
    verdictOf({ kustomization, healthyUntil, health: 'Pending' });
  expect(verdict(NO_LONGER_APPLIED)).toMatchObject({ isSteady: true });
  expect(verdict(NOT_HEALTHY)).not.toHaveProperty('isSteady');
});

describe('the status has the first failed attempt', () => {
  const NOW = ms('12:00:00');
  const first = { firstFailedAttempt: at('11:55:00') };
  const attemptAfter = (verdict: Verdict, before: object = {}) =>
    statusAfter({ status: 'Pending', ...before }, verdict, NOW).firstFailedAttempt;

  it('until it is Healthy', () => {
    const failed: Verdict = { health: 'Pending', message: 'failed', firstFailedAttempt: ms('11:55:00') };
    expect(attemptAfter(failed)).toBe(first.firstFailedAttempt);
    expect(attemptAfter({ health: 'Pending', message: 'at it', isAttempting: true }, first)).toBe(
      first.firstFailedAttempt,
    );
    expect(attemptAfter({ health: 'Unknown', message: 'unread' }, first)).toBe(first.firstFailedAttempt);
    expect(attemptAfter({ health: 'Healthy', message: 'good' }, first)).toBeUndefined();
  });
});
