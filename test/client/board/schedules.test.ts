import { expect, it } from 'vitest';
import type { RolloutSchedule } from '../../../api/types.ts';
import { scheduleView } from '../../../client/board/planViews.ts';
import { objectOf } from '../../support/objects.ts';

const NOW = Date.parse('2026-11-26T10:00:00Z');

const schedule = (spec: object): RolloutSchedule =>
  objectOf('RolloutSchedule', {
    metadata: { namespace: 'shop', name: 'hours' },
    spec: { rolloutSelector: {}, ...spec },
    status: { matchingRollouts: 3 },
  } as never) as RolloutSchedule;

it('a schedule that denies is closed while a rule is active, by the name of the rule', () => {
  const rules = [{ name: 'no Fridays', daysOfWeek: ['Friday'] }];
  expect(scheduleView(schedule({ action: 'Deny', rules }), NOW)).toMatchObject({
    id: 'shop/hours',
    opened: true,
    holds: '3 Rollouts',
    until: '2026-11-27T00:00:00Z',
    bands: [
      { state: 'open' },
      { from: '2026-11-27T00:00:00Z', to: '2026-11-28T00:00:00Z', state: 'closed', why: 'no Fridays' },
      ...Array(9).fill({}),
    ],
  });
});

it('a schedule that allows is closed outside its windows', () => {
  const rules = [{ daysOfWeek: ['Thursday'] }];
  expect(scheduleView(schedule({ action: 'Allow', rules }), NOW).bands.slice(0, 2)).toMatchObject([
    { state: 'open' },
    { state: 'closed', why: 'outside of its windows' },
  ]);
});

it('an invalid schedule reports the error and closes nothing', () => {
  const { problem, opened, bands } = scheduleView(schedule({ timezone: 'Nowhere/At_All', rules: [] }), NOW);
  expect([problem !== undefined, opened, bands]).toEqual([true, true, []]);
});
