import { describe, expect, it } from 'vitest';
import { amount, budgetProblems, readBudget } from '../../../core/budget/budgetConfig.ts';
import { objectOf } from '../../support/objects.ts';
import { clusterBudget } from './budgetFixture.ts';

const budget = (spec: object) =>
  objectOf('RolloutBudget', {
    metadata: { name: 'fleet', namespace: 'team-a' },
    spec: { selector: {}, maxConcurrent: 1, ...spec },
  });

describe('a number, or a share of the Rollouts that are selected', () => {
  it.each([
    [0, 100, 0],
    [3, 1, 3],
    ['0%', 100, 0],
    ['1%', 1000, 10],
    ['10%', 3, 1],
    ['10%', 31, 4],
    ['34%', 3, 2],
    ['100%', 7, 7],
    ['10%', 0, 0],
    ['120%', 10, undefined],
    ['3', 10, undefined],
    [-1, 10, undefined],
    [1.5, 10, undefined],
    [undefined, 10, undefined],
  ])('%s of %s is %s, rounded up', (value, of, expected) => {
    expect(amount(value, of)).toBe(expected);
  });

  it('of failures is one at least', () => {
    expect(readBudget(budget({ maxFailures: '1%' }), 0).maxFailures).toBe(1);
    expect(readBudget(budget({}), 10)).not.toHaveProperty('maxFailures');
  });
});

describe('what does not parse', () => {
  it.each([
    [{ maxConcurrent: 'many' }, 'spec.maxConcurrent: "many" is neither a number nor a share such as 10%'],
    [{ maxFailures: '200%' }, 'spec.maxFailures: "200%" is neither a number nor a share such as 10%'],
    [{ cooldown: '1d' }, 'spec.cooldown: "1d" is not a duration such as 90s, 5m or 1h30m'],
    [{ slotTimeout: 'x' }, 'spec.slotTimeout: "x" is not a duration such as 90s, 5m or 1h30m'],
    [
      { selector: { matchLabels: { 'a b': 'c' } } },
      'spec.selector.matchLabels: Invalid value: "a b": is not a label key',
    ],
  ])('%j is said', (spec, problem) => {
    expect(budgetProblems(budget(spec))).toEqual([problem]);
  });

  it('a ClusterRolloutBudget has to say which namespaces share it: labels of a Rollout are the choice of a tenant', () => {
    const missing =
      'spec.namespaceSelector is missing (it selects the namespaces that share the slots, {} selects all)';
    expect(budgetProblems(clusterBudget({ namespaceSelector: undefined }))).toEqual([missing]);
    expect(budgetProblems(clusterBudget())).toEqual([]);
    expect(budgetProblems(clusterBudget({ namespaceSelector: {} }))).toEqual([]);
  });
});
