/** Flux tries again after a failed attempt: the first one may be the fault of the API server, or of a lost node. */
import { expect, it } from 'vitest';
import { firstFailuresOf, statusAfter, type Verdict } from '../../../core/health/healthStatus.ts';
import type { FirstFailures } from '../../../core/health/objects/healthContext.ts';
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
/** With a reason it has failed. */
const nested = (reason: string) =>
  observed(
    'kustomize.toolkit.fluxcd.io/v1',
    'Kustomization',
    'part',
    reason ? notReady(reason) : { status: { conditions: [{ type: 'Ready', status: 'True' }] } },
  );
/** A Deployment that was scaled after it was healthy, so that it is Pending without a limit. */
const scaled: ObservedResource = {
  ...starting,
  object: { ...starting.object!, metadata: { name: 'web', generation: 1, managedFields: [{ time: at('11:54:30') }] } },
};

interface Row extends Omit<Case, 'name' | 'expected' | 'firstFailures'> {
  /** The first failed attempts, as the status has them: of the Kustomization, and of one among its objects. */
  first?: string;
  firstOfPart?: string;
  health: 'Pending' | 'Healthy' | 'Unhealthy';
  /** What the status has next. */
  next?: string;
  nextOfPart?: string;
}

const failures = (web: string | undefined, part: string | undefined): FirstFailures =>
  new Map([
    ...(web ? [['Kustomization demo/web', ms(web)] as const] : []),
    ...(part ? [['Kustomization demo/part', ms(part)] as const] : []),
  ]);
const verdictOf = ({ first, firstOfPart, health: _, next: __, nextOfPart: ___, ...row }: Row) =>
  evaluated({ ...row, firstFailures: failures(first, firstOfPart) }).result;

const ROWS: [string, Row][] = [
  ['an apply fails', { kustomization: NOT_APPLIED, health: 'Pending', next: '11:55:00' }],
  ['it is the same attempt', { kustomization: NOT_APPLIED, first: '11:55:00', health: 'Pending', next: '11:55:00' }],
  ['the next one fails too', { kustomization: NOT_APPLIED, first: '11:53:00', health: 'Unhealthy', next: '11:53:00' }],
  ['it does so at once', { kustomization: NOT_APPLIED, first: '11:54:30', health: 'Pending', next: '11:54:30' }],
  ['the clock was set back', { kustomization: NOT_APPLIED, first: '13:00:00', health: 'Unhealthy', next: '13:00:00' }],
  ['without a grace period', { kustomization: NOT_APPLIED, gracePeriod: 0, health: 'Unhealthy', next: '11:55:00' }],
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
    { observed: [nested('ReconciliationFailed')], health: 'Pending', nextOfPart: '11:55:00' },
  ],
  [
    'it fails twice',
    {
      observed: [nested('ReconciliationFailed')],
      firstOfPart: '11:50:00',
      health: 'Unhealthy',
      nextOfPart: '11:50:00',
    },
  ],
  ['it is not healthy in time', { observed: [nested('HealthCheckFailed')], health: 'Unhealthy' }],
  [
    'it was before',
    { observed: [nested('HealthCheckFailed')], healthyUntil, health: 'Pending', nextOfPart: '11:55:00' },
  ],
  [
    'the one among the objects after the other, which Flux has applied since',
    { observed: [nested('ReconciliationFailed')], first: '11:50:00', health: 'Pending', nextOfPart: '11:55:00' },
  ],
  ['Flux has applied it, and its objects start', { observed: [starting], first: '11:50:00', health: 'Pending' }],
  [
    'Flux has applied those of its objects, and the others start',
    {
      kustomization: { ready: { status: 'Unknown' } },
      observed: [nested(''), starting],
      first: '11:50:00',
      firstOfPart: '11:50:00',
      health: 'Pending',
      next: '11:50:00',
    },
  ],
];

it.each(ROWS)('%s', (_, row) => {
  const { health, firstFailures } = verdictOf(row);
  expect({ health, firstFailures }).toEqual({ health: row.health, firstFailures: failures(row.next, row.nextOfPart) });
});

it('is stored at once, even if nothing was ever applied', () => {
  const kustomization = failing('ReconciliationFailed', { entries: [] });
  expect(verdictOf({ kustomization, health: 'Pending' })).toMatchObject({ awaits: undefined });
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
  expect(verdict(NOT_HEALTHY)).toMatchObject({ isSteady: false });
});

it('names what ends the wait if it is suspended', () => {
  const kustomization = failing('ReconciliationFailed', { spec: { suspend: true } });
  expect(verdictOf({ kustomization, health: 'Pending' }).message).toMatch(/Flux tries again once it is resumed$/);
});

it('is in the status until Flux has applied the Kustomization, also while it can’t be read', () => {
  const failed = [{ object: 'Kustomization demo/web', first: at('11:55:00') }];
  const next = (verdict: Verdict, failedAttempts?: typeof failed) =>
    statusAfter({ status: 'Pending', ...(failedAttempts && { failedAttempts }) }, verdict, ms('12:00:00'))
      .failedAttempts;
  const pending = (firstFailures: FirstFailures): Verdict => ({ health: 'Pending', message: '', firstFailures });
  expect(next(pending(failures('11:55:00', undefined)))).toEqual(failed);
  expect(next({ health: 'Unknown', message: 'unread' }, failed)).toEqual(failed);
  const ofPart = [{ object: 'Kustomization demo/part', first: at('11:50:00') }];
  const notBuilt = verdictOf({ kustomization: failing('BuildFailed'), health: 'Unhealthy' });
  expect(notBuilt.health).toBe('Unhealthy');
  expect(next(notBuilt, ofPart), 'its objects are not read').toEqual(ofPart);
  expect(next(pending(new Map()), failed)).toBeUndefined();
  expect(firstFailuresOf({ failedAttempts: failed })).toEqual(failures('11:55:00', undefined));
  const ofOlderServer = [{ first: at('11:55:00') }] as unknown as typeof failed;
  expect(next({ health: 'Unknown', message: '' }, ofOlderServer)).toBeUndefined();
});
