/** The oracle's findings about budgets, each with a correct history for comparison. */
import { describe, expect, it } from 'vitest';
import { BudgetChecker } from '../../../dev/oracle/budgets.ts';

const KEY = '/registry/kuberik.com/clusterrolloutbudgets/fleet';

const slot = (name: string, more: object = {}) => ({
  uid: `uid-${name}`,
  request: 5,
  version: '1.1.0',
  state: 'Granted',
  ...more,
});
const budget = (slots: object[], more: object = {}): any => ({
  metadata: { name: 'fleet' },
  spec: { selector: { matchLabels: { chaos: '' } }, maxConcurrent: 1 },
  status: { slots, ...more },
});
const rollout = (name: string, head: object | undefined, asks = true, labels: object = { chaos: '' }): any => ({
  metadata: { name, namespace: 'apps', uid: `uid-${name}`, labels },
  spec: { bakeTime: '1s' },
  status: { ...(asks && { slotRequest: { id: 5 } }), history: head ? [head] : [] },
});
const head = (more: object = {}) => ({
  id: 1,
  version: { tag: '1.1.0' },
  message: 'Automatic deployment',
  bakeStatus: 'InProgress',
  ...more,
});

function begin(oracle: BudgetChecker, name: string, entry: object, labels?: object): string[] {
  const before = rollout(name, undefined, true, labels);
  return [...oracle.takeRollout(undefined, before), ...oracle.takeRollout(before, rollout(name, entry, false, labels))];
}

describe('a deployment', () => {
  it.each<[string, object[], object, string[]]>([
    ['with its slot', [slot('a')], head(), []],
    ['with a slot that is being revoked', [slot('a', { state: 'Revoking' })], head(), []],
    ['without a slot', [], head(), ['deploys 1.1.0 (1) without a slot of budget fleet']],
    [
      'with the slot of another request',
      [slot('a', { request: 4 })],
      head(),
      [expect.stringContaining('without a slot')],
    ],
    [
      'with the slot of another version',
      [slot('a', { version: '1.0.0' })],
      head(),
      [expect.stringContaining('without')],
    ],
    ['with the slot of another Rollout', [slot('b')], head(), [expect.stringContaining('without a slot')]],
    ['by a manual request, without a slot', [], head({ message: 'request 7' }), []],
  ])('%s', (_, slots, entry, expected) => {
    const oracle = new BudgetChecker();
    oracle.takeBudget(KEY, budget(slots));
    expect(begin(oracle, 'a', entry)).toEqual(expected);
  });

  it('that no budget selects needs no slot', () => {
    const oracle = new BudgetChecker();
    oracle.takeBudget(KEY, budget([]));
    expect(begin(oracle, 'a', head(), {})).toEqual([]);
  });

  it.each<[string, object, boolean]>([
    ['beside another one exceeds the budget', {}, true],
    ['beside one that has ended is allowed', { bakeStatus: 'Succeeded' }, false],
    ['beside a manual one is allowed', { message: 'request 7' }, false],
    ['beside a retry is allowed', { lastRetryTimestamp: '2026-11-21T12:00:00Z' }, false],
  ])('%s', (_, other, isFound) => {
    const oracle = new BudgetChecker();
    oracle.takeBudget(KEY, budget([slot('a'), slot('b')]));
    begin(oracle, 'b', head(other));
    const expected = 'is one of 2 rolling out; budget fleet allows 1: apps/b, apps/a';
    expect(begin(oracle, 'a', head())).toEqual(isFound ? [expected] : []);
  });

  it('beside one that does not bake is allowed', () => {
    const oracle = new BudgetChecker();
    oracle.takeBudget(KEY, budget([slot('a'), slot('b')]));
    oracle.takeRollout(undefined, { ...rollout('b', head({ bakeStatus: 'Deploying' }), false), spec: {} });
    expect(begin(oracle, 'a', head())).toEqual([]);
  });
});

describe('a grant', () => {
  it.each<[string, object[], object, object[], string[]]>([
    ['of the only slot', [], {}, [slot('a')], []],
    ['of a second slot', [slot('a')], {}, [slot('a'), slot('b')], ['grants 2 slots of 1']],
    ['during a cooldown', [], { cooling: ['now'] }, [slot('a')], ['grants 2 slots of 1']],
    ['beside an overdue slot', [], {}, [slot('o', { state: 'Overdue' }), slot('a')], []],
    ['that existed before', [slot('a'), slot('b')], {}, [slot('a'), slot('b')], []],
  ])('%s', (_, before, more, after, expected) => {
    const oracle = new BudgetChecker();
    oracle.takeBudget(KEY, budget(before));
    expect(oracle.takeBudget(KEY, budget(after, more))).toEqual(expected);
  });
});
