import { describe, expect, it } from 'vitest';
import type { Rollout } from '../../../api/types.ts';
import { rowOf, trackOf } from '../../../client/board/row.ts';
import type { Application, Deployment, Step } from '../../../client/explain/application.ts';

const runs = (bakeStatus: string, rest: Partial<Deployment> = {}): Deployment => ({
  id: 1,
  version: { tag: '1.0.0' },
  bakeStatus,
  timestamp: '2026-11-22T08:00:00Z',
  ...rest,
});
const step = (kind: Step['kind'], state: Step['state'], rest: Partial<Step> = {}): Step => ({
  id: kind,
  kind,
  state,
  title: kind,
  ...rest,
});
const app = (rest: Partial<Application>): Application => ({
  namespace: 'shop',
  name: 'checkout',
  labels: {},
  state: 'done',
  headline: '',
  steps: [],
  causes: [],
  history: [],
  unread: [],
  releases: 0,
  ...rest,
});
const waiting = { version: '1.1.0' };

describe('the track of a version', () => {
  it.each<[string, Partial<Application>, object | undefined]>([
    ['nothing is on its way', { runs: runs('Succeeded') }, undefined],
    ['nothing in its way', { waiting }, { version: '1.1.0', at: 'waits', halted: false }],
    ['a gate that somebody has to open', { waiting, steps: [step('gate', 'blocks')] }, { at: 'gates', halted: true }],
    [
      'a version that waits for an upstream Rollout',
      { waiting, steps: [step('upstream', 'waits')] },
      { at: 'gates', halted: false },
    ],
    [
      'under way, though the next one waits',
      { waiting, runs: runs('Deploying') },
      { version: '1.0.0', at: 'deploying', halted: false },
    ],
    [
      'held by a gate on its way',
      { runs: runs('Deploying', { waitingSince: '2026-11-22T08:01:00Z' }) },
      { at: 'deploying', halted: true },
    ],
    [
      'baking, from its start to its end',
      {
        runs: runs('InProgress', { bakeStartTime: '2026-11-22T08:05:00Z' }),
        steps: [step('bake', 'waits', { until: '2026-11-22T08:35:00Z' })],
      },
      { at: 'baking', from: '2026-11-22T08:05:00Z', until: '2026-11-22T08:35:00Z' },
    ],
    [
      'failed in its bake',
      { state: 'failed', runs: runs('Failed', { bakeStartTime: '2026-11-22T08:05:00Z' }) },
      { at: 'baking', halted: true },
    ],
    ['failed before it', { state: 'failed', runs: runs('Failed') }, { at: 'deploying', halted: true, failed: true }],
  ])('%s', (_, application, expected) => {
    const track = trackOf(app(application));
    if (expected) expect(track).toMatchObject(expected);
    else expect(track).toBeUndefined();
  });
});

describe('the row of an application that waits', () => {
  const gate = { id: 'gate/shop/freeze', title: 'Gate shop/freeze', detail: 'closed by alice: INC-42' };
  const waits: Partial<Application> = {
    state: 'waits',
    waiting: { version: '1.1.0', firstSeen: '2026-11-22T08:00:00Z' },
    causes: [{ code: 'GateClosed', text: 'Version 1.1.0 waits for Gate shop/freeze', step: gate.id }],
  };
  const row = (rest: Partial<Application>) => rowOf({ spec: {} } as Rollout, app({ ...waits, ...rest }));

  it('begins with the cause, followed by other blockers, with times', () => {
    const steps = [step('rolloutGate', 'blocks', { title: 'RolloutGate qa' }), step('gate', 'blocks', gate)];
    const why = 'Gate shop/freeze: closed by alice: INC-42; RolloutGate qa';
    expect(row({ steps })).toMatchObject({ why, since: '2026-11-22T08:00:00Z' });
  });

  it('has the sentence if the cause is no step', () => {
    expect(row({}).why).toBe('Version 1.1.0 waits for Gate shop/freeze');
  });

  it('waits since the request for it', () => {
    const requested = { by: 'alice', at: '2026-11-23T08:00:00Z' };
    expect(row({ waiting: { ...waits.waiting!, requested } }).since).toBe(requested.at);
    expect(row({ state: 'failed' }).since).toBeUndefined();
  });

  it('has the blockers before it, without the upstream Rollouts, which it names itself', () => {
    const kinds = (['upstream', 'copy', 'binding', 'bake'] as const).map((kind) => step(kind, 'waits'));
    const gates = [
      step('rolloutGate', 'blocks', { detail: '1/2 approvals' }),
      step('gate', 'passed', { detail: 'open' }),
    ];
    expect(row({ steps: [...gates, ...kinds] }).gates).toEqual([
      { kind: 'rolloutGate', title: 'rolloutGate', state: 'blocks', detail: '1/2 approvals' },
      { kind: 'gate', title: 'gate', state: 'passed' },
      { kind: 'copy', title: 'copy', state: 'waits' },
    ]);
  });

  it('has the version that waits for the one that is rolling out', () => {
    expect(row({ state: 'deploying', runs: runs('Deploying') })).toMatchObject({
      waits: '1.1.0',
      track: { version: '1.0.0' },
    });
  });

  it('names its image as an image copied to it is named', () => {
    const spec = { targetRepository: { url: 'oci://registry.example/prod/app' } };
    const rollout = { spec, status: { image: 'registry.example/dev/app' } } as unknown as Rollout;
    expect(rowOf(rollout, app({}))).toMatchObject({
      image: 'registry.example/dev/app',
      copiesTo: 'registry.example/prod/app',
    });
  });
});
