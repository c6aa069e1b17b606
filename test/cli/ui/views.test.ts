/** What the page shows is computed again when an object changes, and when its time has come. */
import { expect, it } from 'vitest';
import { Views } from '../../../cli/ui/views.ts';
import { objectOf } from '../../support/objects.ts';

const rules = [{ timeRange: { start: '20:00', end: '07:00' } }];
const gate = (spec: object) =>
  objectOf('Gate', { metadata: { namespace: 'shop', name: 'nights', resourceVersion: '1' }, spec } as never);
const rollout = objectOf('Rollout', {
  metadata: { namespace: 'shop', name: 'app', resourceVersion: '1' },
  spec: { releasesImagePolicy: { name: 'app' }, gates: [{ name: 'nights' }] },
  status: { pendingVersion: '1.1.0', gates: [{ name: 'qa', passing: false }] },
} as never);
const schedule = objectOf('ClusterRolloutSchedule', {
  metadata: { name: 'nights', resourceVersion: '1' },
  spec: { rolloutSelector: {}, action: 'Deny', rules },
} as never);

it('a Gate and a schedule that close by the clock are closed, and so is the row of who requires it, though nothing has changed', () => {
  let now = Date.parse('2026-11-26T19:59:00Z');
  const views = new Views(() => now);
  views.set('Gate', gate({ default: 'opened', schedule: { rules } }));
  views.set('Rollout', rollout);
  views.set('ClusterRolloutSchedule', schedule);
  expect(views.refresh()).toMatchObject({
    rows: { set: [{ id: 'shop/app', blockers: ['RolloutGate qa'] }] },
    gates: { set: [{ id: 'shop/nights', opened: true }] },
    schedules: { set: [{ id: 'nights', opened: true }] },
    budgets: { set: [], gone: [] },
  });
  views.touchDue();
  expect(views.isStale).toBe(false);
  now += 120_000;
  views.touchDue();
  expect(views.refresh()).toMatchObject({
    rows: { set: [{ id: 'shop/app', blockers: ['RolloutGate qa', 'Gate shop/nights'] }] },
    gates: { set: [{ opened: false }] },
    schedules: { set: [{ opened: false }] },
  });
});

it('what is gone is told once', () => {
  const views = new Views(() => 0);
  views.set('Gate', gate({ default: 'opened' }));
  views.refresh();
  views.replace('Gate', []);
  expect(views.refresh().gates).toEqual({ set: [], gone: ['shop/nights'] });
  expect(views.isStale).toBe(false);
});
