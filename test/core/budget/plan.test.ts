/** What a budget grants, remembers and says. */
import { describe, expect, it } from 'vitest';
import type { Budget, BudgetStatus, HistoryEntry, Rollout, Slot } from '../../../api/types.ts';
import { planBudget } from '../../../core/budget/plan.ts';
import { UNUSED_MS } from '../../../core/budget/slots.ts';
import { formatTime } from '../../../core/kube/time.ts';
import { LIMITS } from '../../../core/limits.ts';
import { objectOf } from '../../support/objects.ts';
import { NOW } from '../rollout/observedFixture.ts';

const AT = formatTime(NOW);

const budget = (spec: object = {}, status?: BudgetStatus, annotations: Record<string, string> = {}): Budget =>
  objectOf('RolloutBudget', {
    metadata: { name: 'fleet', namespace: 'team-a', uid: 'uid-of-fleet', generation: 1, annotations },
    spec: { selector: {}, maxConcurrent: 2, ...spec },
    ...(status && { status }),
  });

interface Told {
  /** Newest first; asks `fleet` where there are any. */
  asks?: string[];
  since?: number;
  /** `1.0.0 Succeeded`, newest first. */
  history?: string[];
  ring?: string;
  image?: string;
  revision?: number;
}

const rollout = (
  name: string,
  { asks, since = 0, history = [], ring, image = 'shop', revision = 5 }: Told = {},
): Rollout =>
  objectOf('Rollout', {
    metadata: { name, namespace: 'team-a', uid: `uid-of-${name}`, labels: ring ? { ring } : {} },
    spec: { releasesImagePolicy: { name: 'shop' } },
    status: {
      revision,
      image,
      ...(asks && {
        slotRequest: {
          id: 5,
          since: formatTime(NOW + since),
          versions: asks.map((tag) => ({ tag })),
          budgets: ['RolloutBudget/fleet'],
        },
      }),
      history: history.map((text, i): HistoryEntry => {
        const [tag = '', bakeStatus = ''] = text.split(' ');
        return { id: history.length - i, version: { tag }, timestamp: AT, bakeStatus };
      }),
    },
  });
const plan = (of: Budget, rollouts: Rollout[], now = NOW, others: [string, Rollout | 'gone'][] = []) =>
  planBudget(of, { rollouts, others: new Map(others) }, now);
const granted = (status: BudgetStatus) =>
  (status.slots ?? []).filter(({ state }) => state === 'Granted').map(({ name, version }) => `${name} ${version}`);
const readyOf = ({ conditions }: BudgetStatus) => conditions?.find(({ type }) => type === 'Ready');

describe('slots', () => {
  it('go to those who asked first, as many as there are', () => {
    const fleet = ['c', 'a', 'b'].map((name, since) => rollout(name, { asks: ['1.0.0'], since: since * 1000 }));
    const { status, requeueAt } = plan(budget(), fleet);
    expect(granted(status)).toEqual(['c 1.0.0', 'a 1.0.0']);
    expect(status).toMatchObject({ revision: 1, selected: 3, maxConcurrent: 2, underWay: 2, waiting: 1 });
    expect(status.slots![0]).toMatchObject({ uid: 'uid-of-c', request: 5, rolloutRevision: 5, grantedTime: AT });
    expect(readyOf(status)).toMatchObject({
      status: 'True',
      reason: 'Full',
      message: '2 of 2 slots are taken, 1 Rollout waits',
    });
    expect(requeueAt).toEqual([NOW + UNUSED_MS]);
  });

  it('stay as they are when nothing changes', () => {
    const fleet = ['a', 'b', 'c'].map((name) => rollout(name, { asks: ['1.0.0'] }));
    const { status } = plan(budget(), fleet);
    const again = plan(budget({}, status), fleet, NOW + 1000);
    expect(again.status).toBe(status);
    expect(again.events).toEqual([]);
  });

  it.each([
    ['0', { maxConcurrent: 0 }, 'Closed', 'spec.maxConcurrent is 0: no Rollout begins'],
    ['0%', { maxConcurrent: '0%' }, 'Closed', 'spec.maxConcurrent is 0%: no Rollout begins'],
  ])('are none at %s', (_, spec, reason, message) => {
    const { status } = plan(budget(spec), [rollout('a', { asks: ['1.0.0'] })]);
    expect(granted(status)).toEqual([]);
    expect(readyOf(status)).toMatchObject({ status: 'False', reason, message });
  });

  it('are taken by who is on the way without having asked, and nobody is stopped', () => {
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

  it('are not granted to who asks another budget, or nobody', () => {
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
    expect(readyOf(status)).toMatchObject({ reason: 'Idle', message: '1 Rollout, and none asks for a slot' });
  });

  it('are nobody’s where nothing is selected, and none are granted beyond the limit', () => {
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

  it('are free when their holder is gone, and an Event says so; a holder that is selected no longer keeps its own', () => {
    const slot = { ...plan(budget(), [rollout('a', { asks: ['1.0.0'] })]).status.slots![0]!, state: 'Baking' as const };
    const waiting = rollout('b', { asks: ['1.0.0'] });
    const freed = plan(budget({ maxConcurrent: 1 }, { slots: [slot] }), [waiting], NOW, [['uid-of-a', 'gone']]);
    expect(granted(freed.status)).toEqual(['b 1.0.0']);
    expect(freed.events).toMatchObject([
      { reason: 'SlotFreed', message: "Rollout 'team-a/a' is gone: its slot is free" },
    ]);
    const relabelled = rollout('a', { revision: 7, history: ['1.0.0 InProgress'] });
    const kept = plan(budget({ maxConcurrent: 1 }, { slots: [slot] }), [waiting], NOW, [['uid-of-a', relabelled]]);
    expect(kept.status.slots).toEqual([slot]);
  });

  it('of the old spec stay where the new one does not parse, and none is granted', () => {
    const { status } = plan(budget(), [rollout('a', { asks: ['1.0.0'] })]);
    const broken = plan(budget({ maxConcurrent: 'many' }, status), [], NOW);
    expect(broken.status.slots).toEqual(status.slots);
    expect(readyOf(broken.status)).toMatchObject({
      status: 'False',
      reason: 'InvalidBudget',
      message: expect.stringContaining('"many"'),
    });
  });
});

describe('waves', () => {
  const spec = { maxConcurrent: 10, order: { label: 'ring', values: ['canary', 'eu'] } };
  const asking = (name: string, ring: string, asks = ['1.1.0', '1.0.0'], history: string[] = []) =>
    rollout(name, { ring, asks, history });

  it.each<[string, Rollout[], string[]]>([
    ['the first one alone, to begin with', [asking('c', 'canary'), asking('e', 'eu'), asking('u', 'us')], ['c 1.1.0']],
    [
      'the next one with the newest version that all of the one before have',
      [
        rollout('c', { ring: 'canary', history: ['1.1.0 InProgress', '1.0.0 Succeeded'] }),
        asking('e', 'eu'),
        asking('u', 'us'),
      ],
      ['e 1.0.0'],
    ],
    [
      'everyone, where the waves before have the version',
      [
        rollout('c', { ring: 'canary', history: ['1.1.0 Succeeded'] }),
        rollout('e', { ring: 'eu', history: ['1.1.0 Succeeded'] }),
        asking('u', 'us'),
      ],
      ['u 1.1.0'],
    ],
    ['a wave after one in which nobody is', [asking('e', 'eu'), asking('u', 'us')], ['e 1.1.0']],
    [
      'nobody after one that has failed',
      [rollout('c', { ring: 'canary', history: ['1.1.0 Failed', '1.0.0 Failed'] }), asking('e', 'eu')],
      [],
    ],
    [
      'nobody after one that is cancelled in its retry',
      [rollout('c', { ring: 'canary', history: ['1.1.0 Cancelled'] }), asking('e', 'eu', ['1.1.0'])],
      [],
    ],
    [
      'those of another image by its own Rollouts',
      [asking('c', 'canary', ['1.1.0']), rollout('x', { ring: 'eu', asks: ['1.1.0'], image: 'cart' })],
      ['c 1.1.0', 'x 1.1.0'],
    ],
  ])('let begin %s', (_, fleet, expected) => {
    expect(granted(plan(budget(spec), fleet).status)).toEqual(expected);
  });

  it('let nobody of a later one begin while an earlier one may be of the same image, and the budget says who', () => {
    const silent = objectOf('Rollout', {
      metadata: { name: 'c', namespace: 'team-a', uid: 'uid-of-c', labels: { ring: 'canary' } },
      spec: { releasesImagePolicy: { name: 'shop' } },
    });
    const { status } = plan(budget(spec), [silent, asking('e', 'eu', ['1.1.0'])]);
    expect(granted(status)).toEqual([]);
    expect(readyOf(status)).toMatchObject({
      reason: 'ImageUnknown',
      message:
        '0 of 10 slots are taken, 1 Rollout waits: of earlier waves, team-a/c have not said which image they follow',
    });
    const spoken = { ...silent, status: { image: 'cart' } };
    expect(granted(plan(budget(spec), [spoken, asking('e', 'eu', ['1.1.0'])]).status)).toEqual(['e 1.1.0']);
    const later = { ...silent, metadata: { ...silent.metadata, labels: { ring: 'us' } } };
    expect(granted(plan(budget(spec), [later, asking('e', 'eu', ['1.1.0'])]).status)).toEqual(['e 1.1.0']);
  });

  it('go on past a failure that somebody has excused, until it is tried once more', () => {
    const annotations = {
      'rollout.kuberik.com/continue': '1.1.0',
      'rollout.kuberik.com/continue-request': `uid-1 ${AT} alice`,
    };
    const canary = (...history: string[]) => rollout('c', { ring: 'canary', history });
    const waits = asking('e', 'eu', ['1.1.0']);
    expect(granted(plan(budget(spec), [canary('1.1.0 Failed'), waits]).status)).toEqual([]);
    const { status } = plan(budget(spec, undefined, annotations), [canary('1.1.0 Failed'), waits]);
    expect(granted(status)).toEqual(['e 1.1.0']);
    expect(status.versions).toMatchObject([
      { wave: 'eu 0/1', waves: [{ value: 'canary', total: 1, failed: 1, excused: 1 }, {}] },
    ]);
    const again = plan(budget(spec, { ...status, slots: [] }, annotations), [canary('1.1.0 Deploying'), waits]).status;
    expect(granted(again)).toEqual([]);
  });

  it('are shown with how many are done, under way, waiting and failed', () => {
    const fleet = [
      rollout('c', { ring: 'canary', history: ['1.1.0 Succeeded'] }),
      rollout('e1', { ring: 'eu', history: ['1.1.0 Succeeded'] }),
      rollout('e2', { ring: 'eu', history: ['1.1.0 Failed'] }),
      rollout('e3', { ring: 'eu', history: ['1.1.0 Deploying'] }),
      asking('e4', 'eu'),
      asking('u', 'us'),
    ];
    const { status } = plan(budget({ ...spec, maxConcurrent: 1 }), fleet);
    expect(status.versions).toMatchObject([
      {
        version: '1.1.0',
        wave: 'eu 1/4',
        failed: 1,
        waves: [
          { value: 'canary', total: 1, done: 1, underWay: 0, waiting: 0, failed: 0 },
          { value: 'eu', total: 4, done: 1, underWay: 1, waiting: 1, failed: 1 },
          { value: '', total: 1, done: 0, underWay: 0, waiting: 1, failed: 0 },
        ],
      },
    ]);
  });

  it('that are done have an Event, once', () => {
    const before = plan(budget(spec), [asking('c', 'canary', ['1.1.0']), asking('e', 'eu', ['1.1.0'])]).status;
    const fleet = [
      rollout('c', { ring: 'canary', revision: 6, history: ['1.1.0 Succeeded'] }),
      asking('e', 'eu', ['1.1.0']),
    ];
    const after = plan(budget(spec, before), fleet);
    expect(after.events).toMatchObject([
      { reason: 'WaveDone', message: 'Version 1.1.0 has Succeeded in all 1 Rollout of the wave canary' },
    ]);
    expect(plan(budget(spec, after.status), fleet).events).toEqual([]);
  });
});

describe('failures', () => {
  const spec = { maxFailures: 2 };
  const failed = (name: string, tag = '1.1.0') => rollout(name, { history: [`${tag} Failed`, '1.0.0 Succeeded'] });
  const waits = rollout('w', { asks: ['1.1.0', '1.0.1'] });

  it('hold a version at maxFailures, and another one may begin', () => {
    expect(granted(plan(budget(spec), [failed('a'), waits]).status)).toEqual(['w 1.1.0']);
    const { status, events } = plan(budget(spec), [failed('a'), failed('b'), waits]);
    expect(granted(status)).toEqual(['w 1.0.1']);
    expect(status.versions).toMatchObject([{ version: '1.0.1' }, { version: '1.1.0', failed: 2, held: true }]);
    expect(events).toMatchObject([{ type: 'Warning', reason: 'VersionHeld' }]);
    expect(events[0]!.message).toContain(
      'kubectl annotate -n team-a rolloutbudget/fleet rollout.kuberik.com/continue=1.1.0',
    );
  });

  it.each<[string, object, Rollout[]]>([
    ['of another image', {}, [rollout('a', { image: 'cart', history: ['1.1.0 Failed'] }), failed('b')]],
    ['of another version', {}, [failed('a', '1.0.9'), failed('b')]],
    ['twice in one Rollout', {}, [rollout('a', { history: ['1.1.0 Failed', '1.0.0 Succeeded', '1.1.0 Failed'] })]],
    ['without maxFailures', { maxFailures: undefined }, [failed('a'), failed('b'), failed('c')]],
  ])('%s do not', (_, more, fleet) => {
    expect(granted(plan(budget({ ...spec, ...more }), [...fleet, waits]).status)).toEqual(['w 1.1.0']);
  });

  it('are not forgotten when their Rollout is deleted, or has succeeded in a retry, or is seen as it was before', () => {
    const before = plan(budget(spec), [failed('a'), failed('b'), waits]).status;
    const fleet = [rollout('b', { history: ['1.1.0 Succeeded'] }), waits];
    expect(plan(budget(spec, before), fleet).status.versions).toMatchObject([
      { version: '1.0.1' },
      { version: '1.1.0', failed: 2, held: true },
    ]);
  });

  it('take grants back that nobody has used', () => {
    const { status } = plan(budget(spec), [failed('a'), waits]);
    const { status: after } = plan(budget(spec, status), [failed('a'), failed('b'), waits]);
    expect(after.slots).toMatchObject([{ name: 'w', state: 'Revoking', revokedTime: AT }]);
  });

  it('count a deployment that is overdue, whose slot is free then', () => {
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
    expect(events.map(({ reason }) => reason)).toEqual(['SlotOverdue', 'VersionHeld']);
    expect(readyOf(status)).toMatchObject({
      reason: 'Overdue',
      message: 'on the way for longer than spec.slotTimeout, and not counted: team-a/a (1.1.0)',
    });
  });

  it('are excused by who continues, once; so many new ones hold again', () => {
    const annotations = {
      'rollout.kuberik.com/continue': '1.1.0',
      'rollout.kuberik.com/continue-request': `uid-1 ${AT} alice`,
    };
    const before = plan(budget(spec), [failed('a'), failed('b'), waits]).status;
    const said = plan(budget(spec, { ...before, slots: [] }, annotations), [failed('a'), failed('b'), waits]);
    expect(said.status).toMatchObject({
      handledRequest: 'uid-1',
      versions: [{ version: '1.1.0', failed: 2, failuresExcused: 2, continuedBy: 'alice', continuedAt: AT }],
    });
    expect(said.status.versions![0]).not.toHaveProperty('held');
    expect(granted(said.status)).toEqual(['w 1.1.0']);
    expect(said.events).toMatchObject([
      { reason: 'VersionContinued', message: 'alice lets version 1.1.0 go on: its failures so far are excused' },
    ]);
    const more = (...names: string[]) =>
      plan(budget(spec, said.status, annotations), [...['a', 'b', ...names].map((name) => failed(name)), waits]).status;
    expect(more('c').versions![0]).not.toHaveProperty('held');
    expect(more('c', 'd').versions![0]).toMatchObject({ failed: 4, held: true, failuresExcused: 2 });
  });

  it('that nobody knows are not excused', () => {
    const annotations = {
      'rollout.kuberik.com/continue': '9.9.9',
      'rollout.kuberik.com/continue-request': `uid-1 ${AT} alice`,
    };
    const { status, events } = plan(budget(spec, undefined, annotations), [waits]);
    expect(status.handledRequest).toBe('uid-1');
    expect(events).toMatchObject([{ reason: 'ContinueIgnored' }]);
  });

  it('of more versions than can be remembered, where somebody asks for each, let nobody begin', () => {
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
