/** Correct and missing alerts: alerts.yaml. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  EXPECTED,
  explain,
  type Firing,
  firingsOf,
  missed,
  type RunHistory,
  spanRecorder,
} from '../../../dev/chaos/alerts.ts';
import { ALERTS } from '../../manifests/components/monitoring/monitoring.ts';

type Times = [from: number, to?: number];
type Case = { that: string; alert?: string; of?: string; fired?: Times } & {
  [state in 'failed' | 'deploying' | 'notReady' | 'succeeded' | 'rolledBack']?: Times;
} & { [what in 'bypass' | 'fault' | 'load' | 'measured' | 'missed']?: number } & { because?: string };

const MINUTE_MS = 60_000;
const END_MS = 60 * MINUTE_MS;
const NAMESPACE = 'team-0';
const KEY = `${NAMESPACE}/app`;

const cases: { fired: Case[]; missed: Case[] } = parse(readFileSync(join(import.meta.dirname, 'alerts.yaml'), 'utf8'));

const span = ([from, to]: Times) => ({ from: from * MINUTE_MS, ...(to && { to: to * MINUTE_MS }) });

function firing({ alert = '', of = 'app', fired = [0] }: Case): Firing {
  const { from, to = from } = span(fired);
  const labels = alert.startsWith('RolloutHooks') ? {} : { namespace: NAMESPACE, name: of };
  return { alert, labels: labels as Record<string, string>, fromMs: from, toMs: to };
}

function scenarioOf(one: Case): RunHistory {
  const { failed, deploying, succeeded, rolledBack, notReady, bypass, fault, load = 0, measured } = one;
  const heads = Object.entries({ Failed: failed, Deploying: deploying, Succeeded: succeeded }).flatMap(
    ([state, times]) => (times ? [{ ...span(times), state, tag: '1.1.0' }] : []),
  );
  return {
    rollouts: new Map([
      [
        KEY,
        {
          heads,
          rollbacks: rolledBack ? [{ ...span(rolledBack), tag: '1.0.0' }] : [],
          notReady: notReady ? [span(notReady)] : [],
        },
      ],
    ]),
    faults: fault === undefined ? [] : [{ ms: fault * MINUTE_MS, name: 'hooks-1', what: 'killed' }],
    bypasses: bypass === undefined ? [] : [bypass * MINUTE_MS],
    loads: Array.from({ length: 60 }, (_, i) => ({ ms: i * MINUTE_MS, load })),
    measured,
  };
}

describe('an alert is checked against the events', () => {
  it.each(cases.fired)('$alert of $that', (one) => {
    const found = explain(firing(one), scenarioOf(one));
    if (one.because === undefined) expect(found).toBeUndefined();
    else expect(found).toContain(one.because);
  });

  it('and is one of ours', () => {
    const shipped = ALERTS.map(({ alert }) => alert);
    expect(EXPECTED.filter((alert) => !shipped.includes(alert))).toEqual([]);
  });
});

describe('missed alerts', () => {
  it.each(cases.missed)('is $that', (one) => {
    const firings = one.alert === undefined ? [] : [firing(one)];
    expect(missed(scenarioOf(one), firings, END_MS)).toHaveLength(one.missed!);
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

it('states are noted from stored versions', () => {
  const { take, rollouts } = spanRecorder();
  const stored = (bakeStatus: string, reason: string) => ({
    metadata: {},
    status: {
      history: [{ version: { tag: '1.1.0' }, bakeStatus }],
      conditions: [{ type: 'Ready', status: 'False', reason }],
    },
  });
  const versions = [
    stored('Deploying', 'RolloutFailed'),
    stored('Deploying', 'RolloutFailed'),
    stored('Failed', 'Waiting'),
    undefined,
  ];
  versions.forEach((object, i) => {
    take({ key: `/registry/kuberik.com/rollouts/${KEY}`, revision: i, seenMs: i, object: object as never });
  });
  expect(rollouts.get(KEY)).toEqual({
    heads: [
      { state: 'Deploying', tag: '1.1.0', from: 0, to: 2 },
      { state: 'Failed', tag: '1.1.0', from: 2, to: 3 },
    ],
    rollbacks: [],
    notReady: [{ from: 0, to: 2 }],
  });
});
