import { describe, expect, it } from 'vitest';
import { amount, readBudget } from '../../../core/budget/budgetConfig.ts';
import { objectOf } from '../../support/objects.ts';

const budget = (spec: object) =>
  objectOf('RolloutBudget', 'team-a/fleet', { spec: { selector: {}, maxConcurrent: 1, ...spec } });

describe('a number, or a share of the Rollouts that are selected', () => {
  it.each([
    [0, 100, 0],
    ['0%', 100, 0],
    ['1%', 1000, 10],
    ['10%', 3, 1],
    ['100%', 7, 7],
    ['120%', 10, undefined],
    [-1, 10, undefined],
    [1.5, 10, undefined],
  ])('%s of %s is %s, rounded up', (value, of, expected) => {
    expect(amount(value, of)).toBe(expected);
  });

  it('of failures is one at least', () => {
    expect(readBudget(budget({ maxFailures: '1%' }), 0).maxFailures).toBe(1);
    expect(readBudget(budget({}), 10)).not.toHaveProperty('maxFailures');
  });
});
