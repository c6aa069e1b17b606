import { describe, expect, it } from 'vitest';
import type { Budget, BudgetVersion } from '../../../api/types.ts';
import { budgetView } from '../../../client/board/budgetView.ts';
import { objectOf } from '../../support/objects.ts';

const budget = (version: Partial<BudgetVersion>): Budget =>
  objectOf('RolloutBudget', {
    metadata: { namespace: 'shop', name: 'fleet' },
    spec: { selector: {}, maxConcurrent: 5, order: { label: 'wave', values: ['canary'] } },
    status: {
      underWay: 1,
      waiting: 2,
      failed: 1,
      maxConcurrent: 5,
      versions: [{ image: 'registry.example.com/app', version: '1.0.0', failed: 0, ...version }],
    },
  } as never) as Budget;

const NONE = { value: 'canary', total: 4, done: 0, underWay: 0, waiting: 0, failed: 0 };

describe('a wave', () => {
  it.each([
    ['done', { done: 4 }],
    // A user continued after it: an excused failure counts as done.
    ['done', { done: 3, failed: 1, excused: 1 }],
    ['failed', { done: 3, failed: 1 }],
    ['underWay', { underWay: 1, waiting: 3 }],
    ['waits', { waiting: 4 }],
    ['idle', {}],
    ['idle', { total: 0 }],
  ])('is %s: %j', (state, counts) => {
    const [version] = budgetView(budget({ waves: [{ ...NONE, ...counts }] })).versions;
    expect(version?.waves[0]?.state).toBe(state);
  });
});

it('a budget has the sentences of `why`, and leaves the waves to the picture', () => {
  const blocked = { blocked: true, failed: 1, failures: [{ namespace: 'shop', name: 'a', uid: 'x' }], waves: [NONE] };
  expect(budgetView(budget(blocked))).toMatchObject({
    id: 'shop/fleet',
    state: 'held',
    headline: '1 of 5 rolling out, 2 waiting, 1 failed',
    causes: [
      'RolloutBudget shop/fleet has not been reconciled yet',
      'Version 1.0.0 is blocked: it has failed in 1 Rollout (shop/a)',
    ],
    label: 'wave',
  });
});

it('a budget shows five versions and fifty slots, and by whom a version continues', () => {
  const version = (i: number) => ({ image: 'app', version: `1.${i}.0`, failed: 0, continuedBy: `user-${i}` });
  const slot = (i: number) => ({ namespace: 'shop', name: `app-${i}`, version: '1.0.0', state: 'Granted' });
  const status = { versions: [0, 1, 2, 3, 4, 5].map(version), slots: Array.from({ length: 51 }, (_, i) => slot(i)) };
  const { versions, slots } = budgetView({ ...budget({}), status } as never);
  expect(versions.map(({ continuedBy }) => continuedBy)).toEqual([0, 1, 2, 3, 4].map((i) => `user-${i}`));
  expect([slots.length, slots[0]]).toEqual([50, { rollout: 'shop/app-0', version: '1.0.0', state: 'Granted' }]);
});
