import { describe, expect, it } from 'vitest';
import type { HistoryEntry, RolloutStatus } from '../../../api/types.ts';
import { durationsOf } from '../../../core/rollout/deploymentMetrics.ts';

const at = (time: string) => `2026-03-10T${time}Z`;

const version = { tag: '1.1.0', created: at('07:00:00') };
/** The history lacks the time of a release's discovery. */
const availableReleases = [
  { tag: '1.0.0', firstSeen: at('01:00:00') },
  { ...version, firstSeen: at('08:00:00') },
];
const succeeded = { id: 2, version, timestamp: at('09:00:00'), bakeStatus: 'Succeeded' };
const baked = { ...succeeded, bakeStartTime: at('10:00:00'), bakeEndTime: at('11:00:00') };

interface Case {
  head?: Partial<HistoryEntry>;
  older?: Partial<HistoryEntry>[];
  ready?: { status: string; since: string };
  reason?: string;
}

/** Observed seconds, by name. */
function durations({ head = {}, older = [], ready, reason = 'BakeTimePassed' }: Case) {
  const entries = older.map((entry, i) => ({ id: 1, version: { tag: `0.${i}` }, timestamp: at('06:00:00'), ...entry }));
  const before = ready && {
    conditions: [
      { type: 'Ready', reason: 'x', message: '', status: ready.status, lastTransitionTime: at(ready.since) },
    ],
  };
  const observed = durationsOf([{ reason, key: 'u/2' }], before as RolloutStatus | undefined, {
    history: [{ ...baked, ...head }, ...entries] as HistoryEntry[],
    availableReleases,
  });
  for (const { key } of observed) expect(key).toBe('u/2');
  return Object.fromEntries(
    observed.map(({ name, seconds }) => [name.replace(/^rollout_hooks_|_time_seconds$/g, ''), seconds]),
  );
}

const HOUR = 3600;
const USUAL = { lead: 3 * HOUR, delivery: 2 * HOUR };

describe('a bake that has succeeded', () => {
  it.each<[what: string, Case, expected: object]>([
    ['took from the build and from the discovery to its start', {}, USUAL],
    ['a build time that was learnt later', { head: { version: { tag: '1.1.0' } } }, USUAL],
    ['a build time that no image says', { head: { version: { tag: '1.0.0' } } }, { delivery: 9 * HOUR }],
    ['a release that is not there any more', { head: { version: { ...version, tag: '0.9.0' } } }, { lead: 3 * HOUR }],
    ['of 1970', { head: { version: { ...version, created: '1970-01-01T00:00:00Z' } } }, { delivery: 2 * HOUR }],
    ['of the future', { head: { version: { ...version, created: at('23:00:00') } } }, { delivery: 2 * HOUR }],
    ['a version that succeeded before', { older: [{ bakeStatus: 'Succeeded', version: { tag: '1.1.0' } }] }, {}],
    ['one that was tried before', { older: [{ bakeStatus: 'Cancelled', version: { tag: '1.1.0' } }] }, USUAL],
    ['a version that ran before the Rollout', { head: { origin: ['InitialVersion' as const] } }, {}],
    ['a version that was adopted, and bakes again', { head: { origin: ['Adopted' as const] } }, {}],
  ])('%s', (_what, given, expected) => expect(durations(given)).toEqual(expected));
});

describe('restoring', () => {
  const failedAt = (time: string) => ({ bakeStatus: 'Failed', bakeEndTime: at(time) });
  const rollback = { rolledBackFrom: '0.0' };
  const retried = { lastRetryTimestamp: at('09:50:00') };
  const notReady = (since: string) => ({ status: 'False', since });
  it.each<[what: string, Case, restore: number | undefined]>([
    ['by a rollback', { head: rollback, older: [failedAt('09:30:00')] }, HOUR / 2],
    ['takes from the first of the failures', { older: [failedAt('09:30:00'), failedAt('08:00:00')] }, 2 * HOUR],
    [
      'not from those before the last success',
      { older: [{ bakeStatus: 'Succeeded' }, failedAt('08:00:00')] },
      undefined,
    ],
    ['through one that was cancelled', { older: [{ bakeStatus: 'Cancelled' }, failedAt('08:00:00')] }, 2 * HOUR],
    ['by a retry, which leaves of the failure only Ready', { head: retried, ready: notReady('09:15:00') }, 0.75 * HOUR],
    ['a problem from before the deployment is not its failure', { head: retried, ready: notReady('01:00:00') }, HOUR],
    ['nothing where nothing had failed', { ready: notReady('09:15:00') }, undefined],
  ])('%s', (_what, given, restore) => expect(durations(given).restore).toBe(restore));

  it('is not a change: a rollback has no lead time', () => {
    expect(durations({ head: rollback, older: [failedAt('09:30:00')] })).toEqual({ restore: HOUR / 2 });
  });
});

it('a bake that ends in the sync that deploys the next version counts, and the next one does not yet', () => {
  const next = { id: 3, version: { tag: '1.2.0' }, timestamp: at('11:00:00'), bakeStatus: 'Deploying' };
  const events = [
    { reason: 'BakeTimePassed', key: 'u/2' },
    { reason: 'DeploymentSucceeded', key: 'u/3' },
  ];
  const observed = durationsOf(events, undefined, { history: [next, baked], availableReleases });
  expect(observed).toEqual([
    { name: 'rollout_hooks_lead_time_seconds', seconds: USUAL.lead, key: 'u/2' },
    { name: 'rollout_hooks_delivery_time_seconds', seconds: USUAL.delivery, key: 'u/2' },
  ]);
});

describe('nothing takes any time', () => {
  it.each<[what: string, Case]>([
    ['while it bakes', { reason: 'BakeTimeStarted', head: { bakeStatus: 'InProgress' } }],
    ['when it begins', { reason: 'DeploymentSucceeded', head: { bakeStatus: 'Deploying' } }],
    ['when it fails', { reason: 'BakeTimeFailed', head: { bakeStatus: 'Failed' } }],
  ])('%s', (_what, given) => expect(durations(given)).toEqual({}));
});
