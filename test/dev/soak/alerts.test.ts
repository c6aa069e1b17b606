/** Which alerts of a soak were true, and which are missing. Times are minutes. */
import { describe, expect, it } from 'vitest';
import { EXPECTED, explain, type Firing, firingsOf, missed } from '../../../dev/soak/alerts.ts';
import type { App } from '../../../dev/soak/fleet.ts';
import type { Happening } from '../../../dev/soak/ledger.ts';
import { ALERTS } from '../../manifests/components/monitoring/monitoring.ts';

const MINUTE_MS = 60_000;
const KEY = 'team-0/app';

const firing = (alert: string, from: number, to: number, labels = { namespace: 'team-0', name: 'app' }): Firing => ({
  alert,
  labels,
  fromMs: from * MINUTE_MS,
  toMs: to * MINUTE_MS,
});
const ofServer = (alert: string, from: number, to: number) => firing(alert, from, to, {} as never);
const happened = (what: Happening['what'], at: number, of = KEY): Happening => ({ what, of, ms: at * MINUTE_MS });
const times = (from: number, to?: number) => ({ from: from * MINUTE_MS, ...(to && { to: to * MINUTE_MS }) });

interface Told {
  failed?: ReturnType<typeof times>[];
  deploying?: ReturnType<typeof times>[];
  notReady?: ReturnType<typeof times>[];
  bad?: boolean;
}

const told = ({ failed = [], deploying = [], notReady = [], bad = true }: Told) => {
  const spans = [
    ...failed.map((span) => ({ ...span, state: 'Failed', tag: '1.1.0' })),
    ...deploying.map((span) => ({ ...span, state: 'Deploying', tag: '1.1.0' })),
  ];
  const release = { app: KEY, tag: '1.1.0', bad, free: false, publishedMs: 0 };
  const app = { key: KEY, spans, notReady, releases: new Map([['1.1.0', release]]) };
  return new Map([[KEY, app as Pick<App, 'key' | 'spans' | 'notReady' | 'releases'>]]);
};

describe('an alert', () => {
  it.each<[string, Firing, Told, Happening[], number | undefined, string | undefined]>([
    [
      'of a bad version that failed is true',
      firing('RolloutBakeFailed', 12, 20),
      { failed: [times(10, 20)] },
      [],
      undefined,
      '1.1.0 was bad',
    ],
    [
      'of a version that is Failed still is true',
      firing('RolloutBakeFailed', 12, 20),
      { failed: [times(10)] },
      [],
      undefined,
      '1.1.0 was bad',
    ],
    [
      'of a version that should have succeeded is not',
      firing('RolloutBakeFailed', 12, 20),
      { failed: [times(10, 20)], bad: false },
      [],
      undefined,
      undefined,
    ],
    [
      'before anything had failed is not',
      firing('RolloutBakeFailed', 5, 8),
      { failed: [times(10, 20)] },
      [],
      undefined,
      undefined,
    ],
    [
      'that goes on when nothing is Failed is not',
      firing('RolloutBakeFailed', 12, 30),
      { failed: [times(10, 20)] },
      [],
      undefined,
      undefined,
    ],
    [
      'of another Rollout is not',
      firing('RolloutBakeFailed', 12, 20, { namespace: 'team-0', name: 'other' }),
      { failed: [times(10, 20)] },
      [],
      undefined,
      undefined,
    ],
    [
      'of a deployment on its way for long is true',
      firing('RolloutDeploymentStuck', 46, 50),
      { deploying: [times(10, 51)] },
      [],
      undefined,
      'on its way since',
    ],
    [
      'of one on its way for a moment is not',
      firing('RolloutDeploymentStuck', 15, 16),
      { deploying: [times(10, 17)] },
      [],
      undefined,
      undefined,
    ],
    [
      'of a deleted ImagePolicy is true',
      firing('RolloutNotReady', 26, 40),
      { notReady: [times(10, 40)] },
      [happened('remove', 10)],
      undefined,
      'ImagePolicy was deleted',
    ],
    [
      'of a Rollout that is not ready, for no reason, is not',
      firing('RolloutNotReady', 26, 40),
      { notReady: [times(10, 40)] },
      [],
      undefined,
      undefined,
    ],
    [
      'of a broken glass is true',
      ofServer('RolloutHooksGlassBroken', 11, 26),
      {},
      [happened('bypass', 10)],
      undefined,
      'was let past a freeze',
    ],
    [
      'of one broken long ago is not',
      ofServer('RolloutHooksGlassBroken', 40, 50),
      {},
      [happened('bypass', 10)],
      undefined,
      undefined,
    ],
    [
      'of dropped Events after a restart is true',
      ofServer('RolloutHooksDropped', 12, 70),
      {},
      [happened('restart', 10, 'kube-apiserver')],
      7,
      'measured: 7.00, after the restart of kube-apiserver',
    ],
    ['of dropped Events in peace is not', ofServer('RolloutHooksDropped', 12, 70), {}, [], 7, undefined],
    [
      'of nothing that was dropped is not',
      ofServer('RolloutHooksDropped', 12, 70),
      {},
      [happened('restart', 10)],
      0,
      undefined,
    ],
    [
      'of slow admission is true by what was measured',
      ofServer('RolloutHooksAdmissionSlow', 12, 20),
      {},
      [],
      1.5,
      'it took 1.50 s',
    ],
    [
      'that nobody expects in a soak is not true',
      ofServer('RolloutHooksOverwritten', 12, 20),
      {},
      [happened('restart', 10)],
      7,
      undefined,
    ],
  ])('%s', (_, one, apps, happenings, measured, because) => {
    const found = explain(one, { apps: told(apps), happenings, measured });
    if (because === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(because);
  });

  it('that is expected is one that we ship', () => {
    const shipped = ALERTS.map(({ alert }) => alert);
    expect(EXPECTED.filter((alert) => !shipped.includes(alert))).toEqual([]);
  });
});

describe('what is missing', () => {
  it.each<[string, Told, Firing[], number]>([
    ['is the alert of a long failure', { failed: [times(10, 20)] }, [], 1],
    ['is not that of a short one', { failed: [times(10, 12)] }, [], 0],
    ['is not what has fired', { failed: [times(10, 20)] }, [firing('RolloutBakeFailed', 12, 20)], 0],
    [
      'is not replaced by that of another Rollout',
      { failed: [times(10, 20)] },
      [firing('RolloutBakeFailed', 12, 20, { namespace: 'team-0', name: 'other' })],
      1,
    ],
    ['is that of a Rollout that was not ready for long', { notReady: [times(10, 40)] }, [], 1],
    ['is that of a failure that has not ended', { failed: [times(10)] }, [], 1],
  ])('%s', (_, apps, firings, count) => {
    expect(missed({ apps: told(apps) }, firings, 60 * MINUTE_MS)).toHaveLength(count);
  });
});

it('a gap in its series ends a firing', () => {
  const metric = { __name__: 'ALERTS', alertname: 'RolloutBakeFailed', alertstate: 'firing', name: 'app' };
  const values = [15, 30, 45, 120, 135].map((seconds): [number, string] => [seconds, '1']);
  expect(firingsOf([{ metric, values }], 15)).toEqual([
    { alert: 'RolloutBakeFailed', labels: { name: 'app' }, fromMs: 15_000, toMs: 45_000 },
    { alert: 'RolloutBakeFailed', labels: { name: 'app' }, fromMs: 120_000, toMs: 135_000 },
  ]);
});
