/** Grants of a budget, and its messages. */
import { describe, expect, it } from 'vitest';
import { UNUSED_GRANT_MS } from '../../../core/budget/slots.ts';
import { formatTime } from '../../../core/kube/time.ts';
import { LIMITS } from '../../../core/limits.ts';
import { NOW } from '../rollout/observedFixture.ts';
import { AT, budget, granted, plan, readyOf, rollout } from './budgetFixture.ts';

describe('slots', () => {
  it('are granted in the order of requests, up to the limit', () => {
    const fleet = ['c', 'a', 'b'].map((name, since) => rollout(name, { asks: ['1.0.0'], since: since * 1000 }));
    const { status, requeueAt } = plan(budget(), fleet.toReversed());
    expect(granted(status)).toEqual(['c 1.0.0', 'a 1.0.0']);
    expect(status).toMatchObject({ revision: 1, selected: 3, maxConcurrent: 2, underWay: 2, waiting: 1 });
    expect(status.slots![0]).toMatchObject({ uid: 'uid-of-c', request: 5, rolloutRevision: 5, grantedTime: AT });
    expect(readyOf(status)).toMatchObject({
      status: 'True',
      reason: 'Full',
      message: '2 of 2 slots are taken, 1 Rollout waits',
    });
    expect(requeueAt).toEqual([NOW + UNUSED_GRANT_MS]);
  });

  it('stay as they are when nothing changes', () => {
    const fleet = ['a', 'b', 'c'].map((name) => rollout(name, { asks: ['1.0.0'] }));
    const { status } = plan(budget(), fleet);
    const again = plan(budget({}, status), fleet, NOW + 1000);
    expect(again.status).toBe(status);
    expect(again.events).toEqual([]);
  });

  it.each([
    ['0', { maxConcurrent: 0 }, 'Closed', 'spec.maxConcurrent is 0: no slot is granted'],
    ['0%', { maxConcurrent: '0%' }, 'Closed', 'spec.maxConcurrent is 0%: no slot is granted'],
  ])('are none at %s', (_, spec, reason, message) => {
    const { status } = plan(budget(spec), [rollout('a', { asks: ['1.0.0'] })]);
    expect(granted(status)).toEqual([]);
    expect(readyOf(status)).toMatchObject({ status: 'False', reason, message });
  });

  it('are used by deployments without a request, and none of these is stopped', () => {
    const fleet = [
      rollout('a', { history: ['1.0.0 InProgress'] }),
      rollout('b', { history: ['1.0.0 Deploying'] }),
      rollout('c', { asks: ['1.0.0'] }),
    ];
    const { status } = plan(budget({ maxConcurrent: 1 }), fleet);
    expect(status.slots?.map(({ name, state, request }) => [name, state, request])).toEqual([
      ['a', 'Baking', undefined],
      ['b', 'Deploying', undefined],
    ]);
    expect(status).toMatchObject({ underWay: 2, waiting: 1 });
  });

  it('are not granted to requests of other budgets, or without one', () => {
    const asks = rollout('a', { asks: ['1.0.0'] });
    const other = {
      ...asks,
      status: {
        ...asks.status,
        slotRequest: { ...asks.status!.slotRequest!, budgets: ['ClusterRolloutBudget/fleet'] },
      },
    };
    const { status } = plan(budget(), [other]);
    expect(granted(status)).toEqual([]);
    expect(readyOf(status)).toMatchObject({ reason: 'Idle', message: '1 Rollout, and none requests a slot' });
  });

  it('are none if nothing is selected, and never exceed the limit', () => {
    expect(readyOf(plan(budget(), []).status)).toMatchObject({ status: 'True', reason: 'NothingSelected' });
    const many = (count: number) => Array.from({ length: count }, (_, i) => rollout(`r${i}`, { asks: ['1.0.0'] }));
    expect(granted(plan(budget(), many(LIMITS.rolloutsOfBudget)).status)).toHaveLength(2);
    const { status } = plan(budget(), many(LIMITS.rolloutsOfBudget + 1));
    expect(granted(status)).toEqual([]);
    expect(readyOf(status)).toMatchObject({
      reason: 'TooManyRollouts',
      message: expect.stringContaining('limit rolloutsOfBudget'),
    });
  });

  it('stay empty for the cooldown after a deployment, not after a grant that was not used', () => {
    const slot = plan(budget({ maxConcurrent: 1 }), [rollout('a', { asks: ['1.0.0'] })]).status.slots![0]!;
    const spec = { maxConcurrent: 1, cooldown: '10m' };
    const waiting = rollout('b', { asks: ['1.0.0'] });
    const declined = plan(budget(spec, { slots: [slot] }), [rollout('a', { revision: 6 }), waiting]).status;
    expect(granted(declined)).toEqual(['b 1.0.0']);
    const ended = rollout('a', { revision: 7, history: ['1.0.0 Succeeded'] });
    const cooling = plan(budget(spec, { slots: [{ ...slot, state: 'Baking' }] }), [ended, waiting]);
    expect(cooling.status).toMatchObject({ cooling: [AT], underWay: 1, waiting: 1 });
    expect(cooling.requeueAt).toEqual([NOW + 600_000]);
    expect(granted(plan(budget(spec, cooling.status), [ended, waiting], NOW + 599_999).status)).toEqual([]);
    expect(granted(plan(budget(spec, cooling.status), [ended, waiting], NOW + 600_000).status)).toEqual(['b 1.0.0']);
    const setBack = plan(budget(spec, cooling.status), [ended, waiting], NOW - 86_400_000);
    expect(setBack.status.cooling).toEqual([formatTime(NOW - 86_400_000)]);
  });

  it('are free when their holder is gone, with an Event; a holder that is no longer selected keeps its own', () => {
    const slot = { ...plan(budget(), [rollout('a', { asks: ['1.0.0'] })]).status.slots![0]!, state: 'Baking' as const };
    const waiting = rollout('b', { asks: ['1.0.0'] });
    const freed = plan(budget({ maxConcurrent: 1 }, { slots: [slot] }), [waiting], NOW, [['uid-of-a', undefined]]);
    expect(granted(freed.status)).toEqual(['b 1.0.0']);
    expect(freed.events).toMatchObject([
      { reason: 'SlotFreed', message: "Rollout 'team-a/a' was deleted: its slot is free" },
    ]);
    const relabelled = rollout('a', { revision: 7, history: ['1.0.0 InProgress'] });
    const kept = plan(budget({ maxConcurrent: 1 }, { slots: [slot] }), [waiting], NOW, [['uid-of-a', relabelled]]);
    expect(kept.status.slots).toEqual([slot]);
    const unread = plan(budget({ maxConcurrent: 1 }, { slots: [slot] }), [waiting]);
    expect(unread.status.slots).toEqual([slot]);
  });
});
