/** Versions in a budget's status. */
import { describe, expect, it } from 'vitest';
import type { Rollout, Slot } from '../../../api/types.ts';
import { LIMITS } from '../../../core/limits.ts';
import { boundedText } from '../../../core/text/commands.ts';
import { NOW } from '../rollout/observedFixture.ts';
import { AT, budget, clusterBudget, granted, plan, readyOf, rollout } from './budgetFixture.ts';

describe('failures', () => {
  const spec = { maxFailures: 2 };
  const failed = (name: string, tag = '1.1.0') => rollout(name, { history: [`${tag} Failed`, '1.0.0 Succeeded'] });
  const waits = rollout('w', { asks: ['1.1.0', '1.0.1'] });

  it('hold a version at maxFailures, and another one may begin', () => {
    expect(granted(plan(budget(spec), [failed('a'), waits]).status)).toEqual(['w 1.1.0']);
    const { status, events } = plan(budget(spec), [failed('a'), failed('b'), waits]);
    expect(granted(status)).toEqual(['w 1.0.1']);
    expect(status.versions).toMatchObject([{ version: '1.0.1' }, { version: '1.1.0', failed: 2, blocked: true }]);
    expect(events).toMatchObject([
      // Other namespaces don't get the names of these Rollouts.
      {
        type: 'Warning',
        reason: 'VersionBlocked',
        forOthers: '1.1.0 has failed in 2 Rollouts: the budget stops it in all others',
      },
    ]);
    expect(events[0]!.commands?.map(([, line]) => line)).toEqual([
      'kubectl annotate --overwrite -n team-a rolloutbudget/fleet rollout.kuberik.com/continue=1.1.0',
    ]);
  });

  it.each<[string, object, Rollout[]]>([
    ['of another image', {}, [rollout('a', { image: 'cart', history: ['1.1.0 Failed'] }), failed('b')]],
  ])('%s do not', (_, more, fleet) => {
    expect(granted(plan(budget({ ...spec, ...more }), [...fleet, waits]).status)).toEqual(['w 1.1.0']);
  });

  it('in Rollouts with the longest names are reported in as much as can be stored', () => {
    const tags = Array.from({ length: LIMITS.budgetVersions }, (_, i) => `${i}`.padStart(128, '1'));
    const history = tags.map((tag) => `${tag} Failed`);
    const fleet = Array.from({ length: 30 }, (_, i) => rollout(`${i}`.padStart(253, 'r'), { history }));
    const asking = tags.map((tag, i) => rollout(`w${i}`, { asks: [tag] }));
    const { status, events } = plan(budget({ maxFailures: 1 }), [...fleet, ...asking]);
    expect(readyOf(status)).toMatchObject({
      reason: 'VersionBlocked',
      message: expect.stringMatching(/^To continue 1+0 despite its failures:$/m),
    });
    expect(readyOf(status)!.message.length).toBeLessThanOrEqual(32_768);
    // Events have a maximum size: names are cut, the command isn't.
    for (const event of events)
      expect(boundedText({ ...event, text: event.message }, 1024)).toMatch(/rollout\.kuberik\.com\/continue=1+\d*$/);
  });

  it('of a tag that was moved are reported apart by digest, also where there are many', () => {
    const digests = Array.from({ length: 30 }, (_, i) => `sha256:${i}`);
    const asks = (name: string, digest?: string) => {
      const made = rollout(name, { asks: ['1.1.0'] });
      const versions = [{ tag: '1.1.0', ...(digest && { digest }) }];
      return { ...made, status: { ...made.status, slotRequest: { ...made.status!.slotRequest!, versions } } };
    };
    const fleet = digests.slice(1).map((digest, i) => {
      const made = rollout(`f${i}`, { history: ['1.1.0 Failed'] });
      const history = made.status!.history!.map((entry) => ({ ...entry, version: { tag: '1.1.0', digest } }));
      return { ...made, status: { ...made.status, history } };
    });
    const of = (digest?: string) => granted(plan(budget({ maxFailures: 1 }), [...fleet, asks('w', digest)]).status);
    expect(of(digests[0])).toEqual(['w 1.1.0']);
    expect(of(digests[29])).toEqual([]);
    expect(of()).toEqual([]);
    const unknown = rollout('u', { history: ['1.1.0 Failed'] });
    const all = [...fleet, unknown, asks('w', digests[0])];
    expect(granted(plan(budget({ maxFailures: 1 }), all).status)).toEqual([]);
    expect(granted(plan(budget({ maxFailures: 2 }), all).status)).toEqual(['w 1.1.0']);
  });

  it('stay recorded if their Rollout is deleted, has succeeded in a retry, or is seen in an older state', () => {
    const before = plan(budget(spec), [failed('a'), failed('b'), waits]).status;
    const fleet = [rollout('b', { history: ['1.1.0 Succeeded'] }), failed('c'), waits];
    expect(plan(budget(spec, before), fleet).status.versions).toMatchObject([
      { version: '1.0.1' },
      { version: '1.1.0', failed: 3, blocked: true },
    ]);
  });

  it('revoke unused grants', () => {
    const { status } = plan(budget(spec), [failed('a'), waits]);
    const { status: after } = plan(budget(spec, status), [failed('a'), failed('b'), waits]);
    expect(after.slots).toMatchObject([{ name: 'w', state: 'Revoking', revokedTime: AT }]);
  });

  it('count an overdue deployment, whose slot is free then', () => {
    const slot: Slot = {
      namespace: 'team-a',
      name: 'a',
      uid: 'uid-of-a',
      version: '1.1.0',
      image: 'shop',
      rolloutRevision: 5,
      grantedTime: AT,
      state: 'Baking',
    };
    const late = NOW + 3_600_000;
    const stuck = rollout('a', { history: ['1.1.0 InProgress'] });
    const { status, events } = plan(
      budget({ maxConcurrent: 1, maxFailures: 1, slotTimeout: '1h' }, { slots: [slot] }),
      [stuck, waits],
      late,
    );
    expect(granted(status)).toEqual(['w 1.0.1']);
    expect(status).toMatchObject({ underWay: 1, slots: [{ name: 'a', state: 'Overdue' }, { name: 'w' }] });
    expect(events.map(({ reason }) => reason)).toEqual(['SlotOverdue', 'VersionBlocked']);
    expect(readyOf(status)).toMatchObject({
      reason: 'Overdue',
      message: 'team-a/a (1.1.0) exceeded spec.slotTimeout: their slots are free again',
    });
  });

  it('do not count the fix that a user deploys in place of an overdue deployment', () => {
    const spec = { maxFailures: 1, slotTimeout: '1h' };
    const stuck = rollout('a', { history: ['1.1.0 InProgress'] });
    const taken = plan(budget(spec), [stuck]).status;
    const overdue = plan(budget(spec, taken), [stuck], NOW + 3_600_000).status;
    expect(overdue).toMatchObject({ slots: [{ state: 'Overdue' }], versions: [{ version: '1.1.0', blocked: true }] });
    const fixed = rollout('a', { history: ['1.1.1 InProgress alice', '1.1.0 Cancelled'], revision: 6 });
    const { status } = plan(budget(spec, overdue), [fixed, rollout('w', { asks: ['1.1.1'] })], NOW + 3_600_000);
    expect(granted(status)).toEqual(['w 1.1.1']);
    expect(status.slots).toMatchObject([{ name: 'a', state: 'Baking' }, { name: 'w' }]);
  });

  it('are excused by a user once; as many new ones hold again', () => {
    const annotations = {
      'rollout.kuberik.com/continue': '1.1.0',
      'rollout.kuberik.com/continue-request': JSON.stringify({ id: 'uid-1', by: 'alice', at: AT }),
    };
    const before = plan(budget(spec), [failed('a'), failed('b'), waits]).status;
    const said = plan(budget(spec, { ...before, slots: [] }, annotations), [failed('a'), failed('b'), waits]);
    expect(said.status).toMatchObject({
      handledRequest: 'uid-1',
      versions: [{ version: '1.1.0', failed: 2, failuresExcused: 2, continuedBy: 'alice', continuedAt: AT }],
    });
    expect(said.status.versions![0]).not.toHaveProperty('blocked');
    expect(granted(said.status)).toEqual(['w 1.1.0']);
    expect(said.events).toMatchObject([
      { reason: 'VersionContinued', message: 'alice continued version 1.1.0: its failures so far are excused' },
    ]);
    const more = (...names: string[]) =>
      plan(budget(spec, said.status, annotations), [...['a', 'b', ...names].map((name) => failed(name)), waits]).status;
    expect(more('c').versions![0]).not.toHaveProperty('blocked');
    expect(more('c', 'd').versions![0]).toMatchObject({ failed: 4, blocked: true, failuresExcused: 2 });
  });

  it('of manual deployments hold in the same namespace only, and don’t count in a ClusterRolloutBudget', () => {
    const byHand = rollout('a', { history: ['1.1.0 Failed mallory', '1.0.0 Succeeded'] });
    const one = { maxFailures: 1 };
    expect(granted(plan(budget(one), [byHand, waits]).status)).toEqual(['w 1.0.1']);
    const { status } = plan(clusterBudget(one), [byHand, waits]);
    expect(granted(status)).toEqual(['w 1.1.0']);
    expect(status.versions).toMatchObject([{ version: '1.1.0', failed: 0 }]);
    expect(granted(plan(clusterBudget(one), [failed('b'), byHand, waits]).status)).toEqual(['w 1.0.1']);
  });

  it('of a ClusterRolloutBudget exclude an overdue manual deployment, whose slot is free', () => {
    const spec = { maxConcurrent: 1, maxFailures: 1, slotTimeout: '1h' };
    const byHand = rollout('a', { history: ['1.1.0 InProgress mallory', '1.0.0 Succeeded'] });
    const taken = plan(clusterBudget(spec), [byHand, waits]).status;
    expect(granted(taken)).toEqual([]);
    const { status } = plan(clusterBudget(spec, taken), [byHand, waits], NOW + 3_600_000);
    expect(granted(status)).toEqual(['w 1.1.0']);
    expect(status.slots).toMatchObject([{ name: 'a', state: 'Overdue' }, { name: 'w' }]);
  });

  it('that aren’t known are not excused', () => {
    const annotations = {
      'rollout.kuberik.com/continue': '9.9.9',
      'rollout.kuberik.com/continue-request': JSON.stringify({ id: 'uid-1', by: 'alice', at: AT }),
    };
    const { status, events } = plan(budget(spec, undefined, annotations), [waits]);
    expect(status.handledRequest).toBe('uid-1');
    expect(events).toMatchObject([{ reason: 'ContinueIgnored' }]);
  });

  it('of more requested versions than can be recorded block every deployment', () => {
    const tags = (count: number) => Array.from({ length: count }, (_, i) => `1.${i}.0`);
    const fleet = (count: number) => [
      ...tags(count).map((tag, i) => rollout(`f${i}`, { history: [`${tag} Failed`] })),
      ...tags(count).map((tag, i) => rollout(`w${i}`, { asks: [tag] })),
    ];
    expect(granted(plan(budget(spec), fleet(LIMITS.budgetVersions)).status)).toHaveLength(2);
    const { status } = plan(budget(spec), fleet(LIMITS.budgetVersions + 1));
    expect(granted(status)).toEqual([]);
    expect(status.versions).toHaveLength(LIMITS.budgetVersions);
    expect(readyOf(status)).toMatchObject({
      reason: 'TooManyVersions',
      message: expect.stringContaining('limit budgetVersions'),
    });
  });
});
