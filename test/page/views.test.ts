/** Views are computed again when an object changes, and at their time. */
import { describe, expect, it } from 'vitest';
import { Views } from '../../page/views.ts';
import { objectOf } from '../support/objects.ts';

const rules = [{ timeRange: { start: '20:00', end: '07:00' } }];
const gate = (spec: object) =>
  objectOf('Gate', { metadata: { namespace: 'shop', name: 'nights', resourceVersion: '1' }, spec } as never);
const rollout = objectOf('Rollout', {
  metadata: { namespace: 'shop', name: 'app', resourceVersion: '1' },
  spec: { releasesImagePolicy: { name: 'app' }, gates: [{ name: 'nights' }] },
  status: {
    pendingVersion: '1.1.0',
    gates: [{ name: 'qa', passing: false }],
    blockers: [
      {
        type: 'RolloutGate',
        effect: 'Blocks',
        reason: 'RolloutGatesBlocking',
        object: { kind: 'RolloutGate', namespace: 'shop', name: 'qa' },
      },
    ],
  },
} as never);
const schedule = objectOf('ClusterRolloutSchedule', {
  metadata: { name: 'nights', resourceVersion: '1' },
  spec: { rolloutSelector: {}, action: 'Deny', rules },
} as never);

it('a Gate and a schedule that close by the clock are closed, and so is the row of a Rollout that requires it, without a change', () => {
  let now = Date.parse('2026-11-26T19:59:00Z');
  const views = new Views(() => now);
  views.set('Gate', gate({ default: 'opened', schedule: { rules } }));
  views.set('Rollout', rollout);
  views.set('ClusterRolloutSchedule', schedule);
  expect(views.refresh()).toMatchObject({
    rows: {
      set: [
        {
          id: 'shop/app',
          gates: [
            { title: 'RolloutGate qa', state: 'blocks' },
            { title: 'Gate shop/nights', state: 'passed' },
          ],
        },
      ],
    },
    gates: { set: [{ id: 'shop/nights', opened: true }] },
    schedules: { set: [{ id: 'nights', opened: true }] },
    budgets: { set: [], gone: [] },
  });
  views.touchDue();
  expect(views.isStale).toBe(false);
  now += 120_000;
  views.touchDue();
  expect(views.refresh()).toMatchObject({
    rows: {
      set: [{ id: 'shop/app', gates: [{ title: 'RolloutGate qa' }, { title: 'Gate shop/nights', state: 'blocks' }] }],
    },
    gates: { set: [{ opened: false }] },
    schedules: { set: [{ opened: false }] },
  });
});

it('views that take long are computed in turns, so that a tenant’s calendars keep no reader from other answers', () => {
  let clock = 0;
  const views = new Views(
    () => 0,
    undefined,
    () => {
      clock += 20;
      return clock;
    },
  );
  for (let each = 0; each < 7; each++) {
    const { metadata, ...rest } = gate({ default: 'opened' });
    views.set('Gate', { ...rest, metadata: { ...metadata, name: `g${each}` } });
  }
  const sent: string[][] = [];
  while (views.isStale) sent.push(views.refresh().gates.set.map(({ name }) => name));
  expect(sent).toEqual([['g0', 'g1', 'g2'], ['g3', 'g4', 'g5'], ['g6']]);
});

it('a deletion is sent once', () => {
  const views = new Views(() => 0);
  views.set('Gate', gate({ default: 'opened' }));
  views.refresh();
  views.replace('Gate', []);
  expect(views.refresh().gates).toEqual({ set: [], gone: ['shop/nights'] });
  expect(views.isStale).toBe(false);
});

it('a Gate that a Rollout no longer requires, or whose Rollout is deleted, costs its own view only', () => {
  let computed = 0;
  const views = new Views(() => {
    computed += 1;
    return 0;
  });
  const costOfGate = (resourceVersion: string) => {
    const spec = { default: 'opened', description: resourceVersion };
    views.refresh();
    views.set('Gate', { ...gate(spec), metadata: { ...gate(spec).metadata, resourceVersion } });
    const before = computed;
    views.refresh();
    return computed - before;
  };
  const withoutGate = { ...rollout, metadata: { ...rollout.metadata, resourceVersion: '2' }, spec: {} };
  views.set('Rollout', rollout);
  expect(costOfGate('2')).toBe(2);
  views.set('Rollout', withoutGate);
  expect(costOfGate('3')).toBe(1);
  views.set('Rollout', rollout);
  expect(costOfGate('4')).toBe(2);
  views.remove('Rollout', rollout);
  expect(costOfGate('5')).toBe(1);
});

describe('a Flux object that takes the version', () => {
  const app = objectOf('Rollout', {
    metadata: { namespace: 'shop', name: 'app', resourceVersion: '1' },
    spec: { releasesImagePolicy: { name: 'app' } },
    status: {
      history: [{ id: 1, version: { tag: '1.0.0' }, timestamp: '2026-11-26T00:00:00Z', bakeStatus: 'Succeeded' }],
    },
  } as never);
  const binding = objectOf('FluxBinding', {
    metadata: { namespace: 'shop', name: 'kustomization-web', resourceVersion: '1' },
    spec: { target: { kind: 'Kustomization', name: 'web' }, fields: [{ rollout: 'app' }] },
    status: { conditions: [{ type: 'Ready', status: 'True', message: 'applied' }] },
  } as never);
  const web = (resourceVersion: string, status: string, more: object = {}) =>
    objectOf('Kustomization', {
      metadata: {
        namespace: 'shop',
        name: 'web',
        resourceVersion,
        annotations: { 'rollout.kuberik.com/substitute.APP.from': 'app' },
      },
      spec: { path: './' },
      status: { conditions: [{ type: 'Ready', status, reason: 'HealthCheckFailed', message: 'not ready' }], ...more },
    } as never);
  const started = () => {
    const views = new Views(() => 0);
    views.set('Rollout', app);
    views.set('FluxBinding', binding);
    views.set('Kustomization', web('1', 'True'));
    return views;
  };

  it('that fails shows in its row, though the Rollout has not changed', () => {
    const views = started();
    expect(views.refresh().rows.set).toMatchObject([{ state: 'done' }]);
    views.set('Kustomization', web('2', 'False'));
    expect(views.refresh().rows.set).toMatchObject([
      { state: 'problem', why: 'Kustomization shop/web has failed: not ready' },
    ]);
    views.set('Kustomization', web('3', 'True'));
    expect(views.refresh().rows.set).toMatchObject([{ state: 'done' }]);
  });

  it('whose status Flux renews costs nothing, and only the used part of it is kept', () => {
    const views = started();
    views.refresh();
    views.set('Kustomization', web('2', 'True', { lastAppliedRevision: 'main@sha1:2', inventory: { entries: [] } }));
    expect(views.isStale).toBe(false);
    expect(views.objects.get('Kustomization', 'shop/web')).toMatchObject({ metadata: { resourceVersion: '2' } });
    expect(JSON.stringify(views.objects.get('Kustomization', 'shop/web'))).not.toMatch(/inventory|path/);
  });
});
