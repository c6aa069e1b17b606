/** A Rollout's requests to the budgets that select it, and when its deployment may start. */
import { describe, expect, it } from 'vitest';
import type { Budget, Rollout, Slot, SlotRequest } from '../../../api/types.ts';
import { budgetsOf } from '../../../core/budget/selectingBudgets.ts';
import { slotWaitOf } from '../../../core/budget/slotRequest.ts';
import { formatTime } from '../../../core/kube/time.ts';
import { LIMITS } from '../../../core/limits.ts';
import { objectOf } from '../../support/objects.ts';
import { NOW } from '../rollout/observedFixture.ts';
import { slot } from './slot.ts';

const rollout = (slotRequest?: Partial<SlotRequest>): Rollout =>
  objectOf('Rollout', 'team-a/app', {
    metadata: { uid: 'uid-1', labels: { app: 'shop' } },
    spec: { releasesImagePolicy: { name: 'shop' } },
    status: {
      revision: 9,
      ...(slotRequest && { slotRequest: { id: 7, since: formatTime(NOW - 5000), ...slotRequest } }),
    },
  });
const budget = (name: string, slots: Slot[] = [], status: object = {}): Budget =>
  objectOf('RolloutBudget', `team-a/${name}`, {
    spec: { selector: {}, maxConcurrent: 1 },
    status: { slots, ...status },
  });
const OFFERED = [{ tag: '1.2.0' }, { tag: '1.1.0', digest: 'sha256:1' }];
const turn = (of: Rollout, selecting: Budget[], now = NOW) => slotWaitOf(of, { selecting }, OFFERED, '1.2.0', now);

describe('a Rollout', () => {
  it('that no budget selects may begin', () => {
    expect(turn(rollout(), [])).toBeUndefined();
  });

  it('is requested with the revision of its request, which stays the same while it waits', () => {
    const asked = turn(rollout(), [budget('a')]);
    expect(asked?.request).toEqual({ id: 10, since: formatTime(NOW), versions: OFFERED, budgets: ['RolloutBudget/a'] });
    expect(asked).toMatchObject({
      reason: 'NoSlot',
      text: "Version 1.2.0 waits for a slot of RolloutBudget 'a'",
      gates: [{ kind: 'RolloutBudget', name: 'budget/a', passing: true, allowedVersions: [] }],
      blockers: [
        {
          type: 'Budget',
          effect: 'Waits',
          reason: 'NoSlot',
          version: '1.2.0',
          object: { kind: 'RolloutBudget', namespace: 'team-a', name: 'a' },
        },
      ],
    });
    const again = turn(rollout({ versions: [{ tag: '1.1.0' }], budgets: ['RolloutBudget/a'] }), [budget('a')]);
    expect(again?.request).toMatchObject({ id: 7, since: formatTime(NOW - 5000), versions: OFFERED });
  });

  it('is read again after about a minute, each at a time of its own', () => {
    const [look = 0] = turn(rollout(), [budget('a')])!.requeueAt;
    expect(look - NOW).toBeGreaterThanOrEqual(45_000);
    expect(look - NOW).toBeLessThanOrEqual(75_000);
  });

  it.each<[string, Slot[]]>([
    ['with a slot for its request and version', [slot()]],
    ['with slots of others beside its own', [slot({ uid: 'uid-2' }), slot()]],
  ])('may begin %s', (_, slots) => {
    expect(turn(rollout({}), [budget('a', slots)])).toBeUndefined();
  });

  it.each<[string, Partial<SlotRequest> | undefined, Slot[]]>([
    ['without a request of its own', undefined, [slot()]],
    ['on a slot of an older request', { id: 8 }, [slot()]],
    ['on the slot of a Rollout of its name before it', {}, [slot({ uid: 'uid-0' })]],
    ['on a slot that is being taken back', {}, [slot({ state: 'Revoking', revokedTime: formatTime(NOW) })]],
    ['on a slot that was used', {}, [slot({ state: 'Baking' })]],
    ['on a slot for another version', {}, [slot({ version: '1.1.0' })]],
  ])('may not begin %s', (_, request, slots) => {
    expect(turn(rollout(request), [budget('a', slots)])).toBeDefined();
  });

  it('that is being revoked is returned by another request', () => {
    const taken = budget('a', [slot({ state: 'Revoking', revokedTime: formatTime(NOW) })]);
    expect(turn(rollout({}), [taken])?.request).toMatchObject({ id: 10, budgets: ['RolloutBudget/a'] });
  });

  it.each([
    [
      { versions: [{ image: 'ImagePolicy team-a/shop', version: '1.2.0', failed: 2, blocked: true }] },
      'VersionBlocked',
      ': it has failed in 2 Rollouts',
    ],
    [
      {
        conditions: [
          { type: 'Ready', status: 'False', reason: 'Closed', message: 'spec.maxConcurrent is 0: no slot is granted' },
        ],
      },
      'BudgetClosed',
      ': spec.maxConcurrent is 0: no slot is granted',
    ],
    [
      {
        conditions: [
          {
            type: 'Ready',
            status: 'False',
            reason: 'TooManyVersions',
            message: 'too many versions: no slot is granted',
          },
        ],
      },
      'BudgetClosed',
      ': too many versions: no slot is granted',
    ],
    [{ versions: [{ image: 'another', version: '1.2.0', failed: 2, blocked: true }] }, 'NoSlot', "'a'"],
  ])('says why the budget has none, where that lasts', (status, reason, end) => {
    const { text, blockers, ...wait } = turn(rollout(), [budget('a', [], status)])!;
    expect(blockers).toMatchObject([{ reason, effect: reason === 'NoSlot' ? 'Waits' : 'Blocks' }]);
    expect({ text, reason: wait.reason }).toEqual({ text: expect.stringMatching(new RegExp(`${end}$`)), reason });
  });
});

describe('several budgets', () => {
  const granted = [slot()];

  it('are requested in turn, and all must grant', () => {
    const first = turn(rollout(), [budget('a'), budget('b')]);
    expect(first?.request?.budgets).toEqual(['RolloutBudget/a']);
    const second = turn(rollout({}), [budget('a', granted), budget('b')]);
    expect(second?.request).toMatchObject({ id: 7, budgets: ['RolloutBudget/a', 'RolloutBudget/b'] });
    expect(second?.text).toContain("'b'");
    expect(turn(rollout({}), [budget('a', granted), budget('b', granted)])).toBeUndefined();
  });

  it('don’t wait long for each other: a slot held for a minute is returned, and requested again after half a minute', () => {
    const budgets = [budget('a', granted), budget('b')];
    expect(turn(rollout({}), budgets, NOW + 59_000)?.request?.id).toBe(7);
    const paused = turn(rollout({}), budgets, NOW + 60_000)?.request;
    expect(paused).toEqual({ id: 10, since: formatTime(NOW + 60_000), pausedUntil: formatTime(NOW + 90_000) });
    const still = turn(rollout({ ...paused }), [budget('a'), budget('b')], NOW + 89_000);
    expect(still).toMatchObject({ request: paused, requeueAt: [NOW + 90_000] });
    const again = turn(rollout({ ...paused }), [budget('a'), budget('b')], NOW + 90_000)?.request;
    expect(again).toMatchObject({ id: 10, budgets: ['RolloutBudget/a'] });
    expect(again).not.toHaveProperty('pausedUntil');
    // After the clock was set back by an hour, no slot waits for an hour.
    expect(turn(rollout({ ...paused }), budgets, NOW - 3_600_000)?.request).not.toHaveProperty('pausedUntil');
  });
});

describe('which budgets select a Rollout', () => {
  const cluster = (name: string, spec: object): Budget =>
    objectOf('ClusterRolloutBudget', name, {
      spec: { selector: {}, namespaceSelector: {}, maxConcurrent: 1, ...spec },
    });
  const named = (name: string, spec: object, namespace = 'team-a'): Budget =>
    objectOf('RolloutBudget', `${namespace}/${name}`, { spec: { selector: {}, maxConcurrent: 1, ...spec } });
  const keys = (budgets: Budget[]) =>
    budgetsOf(rollout(), budgets, { team: 'a' }, false).selecting.map(({ metadata }) => metadata.name);

  it.each<[string, Budget, boolean]>([
    ['its namespace, all', named('x', {}), true],
    ['its labels', named('x', { selector: { matchLabels: { app: 'shop' } } }), true],
    ['other labels', named('x', { selector: { matchLabels: { app: 'other' } } }), false],
    ['another namespace', named('x', {}, 'team-b'), false],
    [
      'all namespaces, where it does not say which, and grants nothing',
      cluster('x', { namespaceSelector: undefined }),
      true,
    ],
    ['namespaces by an empty selector', cluster('x', { namespaceSelector: {} }), true],
    ['the labels of its namespace', cluster('x', { namespaceSelector: { matchLabels: { team: 'a' } } }), true],
    ['those of another one', cluster('x', { namespaceSelector: { matchLabels: { team: 'b' } } }), false],
    [
      'a selector that cannot be read: whatever it could',
      named('x', { selector: { matchLabels: { 'a b': 'c' } } }),
      true,
    ],
  ])('%s', (_, budget, expected) => {
    expect(keys([budget])).toEqual(expected ? ['x'] : []);
  });

  it('have one order: those of the cluster first, then by name', () => {
    expect(keys([named('b', {}), cluster('d', {}), named('a', {}), cluster('c', {})])).toEqual(['c', 'd', 'a', 'b']);
  });

  it('are limited; with more, no deployment starts, with the cause', () => {
    const many = (count: number) => Array.from({ length: count }, (_, i) => named(`b${i}`, {}));
    expect(keys(many(LIMITS.budgetsOfRollout))).toHaveLength(LIMITS.budgetsOfRollout);
    const beyond = budgetsOf(rollout(), many(LIMITS.budgetsOfRollout + 1), {}, false);
    const waiting = slotWaitOf(rollout({}), beyond, OFFERED, '1.2.0', NOW);
    expect(waiting).toMatchObject({
      blockers: [{ type: 'Budget', effect: 'Blocks', reason: 'TooManyBudgets', version: '1.2.0' }],
      reason: 'TooManyBudgets',
      text: `Version 1.2.0 waits: ${LIMITS.budgetsOfRollout + 1} budgets select this Rollout, more than ${LIMITS.budgetsOfRollout} (limit budgetsOfRollout)`,
    });
    expect(waiting).not.toHaveProperty('request');
    expect(budgetsOf(rollout(), [], {}, true).problem).toContain('limit listedBudgets');
  });
});
