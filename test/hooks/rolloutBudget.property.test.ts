/**
 * What holds for RolloutBudgets whatever happens: caches that are behind on both sides, answers that are lost or come late, two Metacontrollers,
 * people, deletions, a clock that is set back.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Budget, Rollout } from '../../api/types.ts';
import { counts } from '../../core/budget/slots.ts';
import { isBaking } from '../../core/rollout/deployment/bake.ts';
import { ABSENT, BudgetWorld, type Seen } from './budgetWorld.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e'].map((name, i) => ({ name, ring: i === 0 ? 'canary' : i < 3 ? 'eu' : 'us' }));

const index = fc.nat(11);
const lag = fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(4) });
const action = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant('round' as const), index }) },
  { weight: 10, arbitrary: fc.record({ do: fc.constant('settleRollout' as const), index }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('settleBudget' as const), index }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('syncRollout' as const), index, lag }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('syncBudget' as const),
      index,
      lag,
      lags: fc.array(lag, { minLength: 5, maxLength: 5 }),
    }),
  },
  { weight: 12, arbitrary: fc.record({ do: fc.constant('write' as const), index }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('staleBudget' as const),
      index,
      lags: fc.array(fc.nat(ABSENT), { minLength: 5, maxLength: 5 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('lose' as const), index }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('pass' as const), seconds: fc.constantFrom(1, 20, 61, 400, 590) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('setBack' as const), seconds: fc.constantFrom(30, 600) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('publish' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('endBake' as const),
      index,
      result: fc.constantFrom('Succeeded' as const, 'Failed' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('forceDeploy' as const), index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('callOff' as const), index }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('deleteOrCreate' as const), index }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('toggleGate' as const), index }) },
);
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never;

const life = fc.record({
  max: fc.integer({ min: 1, max: 3 }),
  second: fc.option(fc.integer({ min: 1, max: 2 })),
  maxFailures: fc.option(fc.integer({ min: 1, max: 2 })),
  ordered: fc.boolean(),
  cooldown: fc.constantFrom('0s', '90s'),
  slotTimeout: fc.option(fc.constant('10m')),
  actions: fc.array(action, { minLength: 40, maxLength: 160, size: 'max' }),
});
type Life = typeof life extends fc.Arbitrary<infer L> ? L : never;

function worldOf(
  { max, second, maxFailures, ordered, cooldown, slotTimeout }: Life,
  onWrite: (world: BudgetWorld, seen: Seen) => void,
) {
  const spec = {
    selector: {},
    maxConcurrent: max,
    cooldown,
    ...(maxFailures !== null && { maxFailures }),
    ...(slotTimeout !== null && { slotTimeout }),
    ...(ordered && { order: { label: 'ring', values: ['canary', 'eu'] } }),
  };
  const fleet = { name: 'fleet', cluster: false, spec };
  const all = { name: 'all', cluster: true, spec: { selector: {}, namespaceSelector: {}, maxConcurrent: second ?? 1 } };
  return new BudgetWorld(NAMES, second === null ? [fleet] : [fleet, all], onWrite);
}

async function live(input: Life, onWrite: (world: BudgetWorld, seen: Seen) => void): Promise<BudgetWorld> {
  const world = worldOf(input, onWrite);
  for (let i = 0; i < NAMES.length; i++) await world.syncRollout(i);
  world.writeAll();
  for (const step of input.actions) await act(world, step);
  return world;
}

async function act(world: BudgetWorld, step: Action): Promise<void> {
  switch (step.do) {
    case 'round':
      for (let i = 0; i < world.budgets.length; i++) await act(world, { do: 'settleBudget', index: i });
      for (let i = 0; i < NAMES.length; i++) await act(world, { do: 'settleRollout', index: i + step.index });
      return;
    case 'staleBudget':
      await world.syncBudget(step.index, 0, step.lags);
      return world.writeLast();
    case 'settleRollout':
      await world.syncRollout(step.index);
      return world.writeLast();
    case 'settleBudget':
      await world.syncBudget(step.index);
      return world.writeLast();
    case 'syncRollout':
      return world.syncRollout(step.index, step.lag);
    case 'syncBudget':
      return world.syncBudget(step.index, step.lag, step.lags);
    case 'pass':
      return world.pass(step.seconds);
    case 'setBack':
      return world.setBack(step.seconds);
    case 'publish':
      return world.publish();
    case 'endBake':
      return world.endBake(step.index, step.result);
    default:
      return world[step.do](step.index);
  }
}

const check = { numRuns: Number(process.env.BUDGET_RUNS ?? 40) };

/** Deployments that automation began. */
const begunBy = ({ before, after }: Seen) => {
  const [head] = (after as Rollout).status?.history ?? [];
  const [known] = (before as Rollout).status?.history ?? [];
  const isNew = head !== undefined && head.id !== known?.id;
  return isNew && head.message?.startsWith('Automatic deployment') ? `${after.metadata.uid}/${head.id}` : undefined;
};

describe('of the Rollouts of a budget', () => {
  it('never one more is on its way by a slot than maxConcurrent says, and none by a slot that is not its own', {
    timeout: 600_000,
  }, async () => {
    let begun = 0;
    await fc.assert(
      fc.asyncProperty(life, async (input) => {
        const byGrant = new Set<string>();
        await live(input, (world, seen) => {
          const key = seen.kind === 'rollout' ? begunBy(seen) : undefined;
          if (key === undefined) return;
          begun++;
          byGrant.add(key);
          const { rollouts, budgets } = world.live();
          for (const { spec, status } of budgets) {
            const overdue = new Set(status?.slots?.flatMap((slot) => (counts(slot) ? [] : [slot.uid])));
            const onTheirWay = rollouts.filter(({ metadata, status }) => {
              const [head] = status?.history ?? [];
              return (
                head && isBaking(head) && byGrant.has(`${metadata.uid}/${head.id}`) && !overdue.has(metadata.uid ?? '')
              );
            });
            expect(onTheirWay.length).toBeLessThanOrEqual(Number(spec.maxConcurrent));
            const slot = status?.slots?.find(({ uid }) => uid === seen.after.metadata.uid);
            expect(slot?.version).toBe((seen.after as Rollout).status!.history![0]!.version.tag);
            expect(slot?.request).toBe((seen.before as Rollout).status!.slotRequest!.id);
          }
        });
      }),
      check,
    );
    expect(begun).toBeGreaterThan(check.numRuns);
  });

  it('none gets a slot for a version that failures hold, nor one more slot than there are', {
    timeout: 600_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(life, async (input) => {
        await live(input, (_, seen) => {
          if (seen.kind !== 'budget') return;
          const [before, after] = [seen.before as Budget, seen.after as Budget];
          const known = new Set(before.status?.slots?.map(({ uid, request }) => `${uid}/${request}`));
          const granted = (after.status?.slots ?? []).filter(
            ({ uid, request, state }) => state === 'Granted' && !known.has(`${uid}/${request}`),
          );
          const { slots = [], cooling = [], versions = [] } = after.status ?? {};
          if (granted.length > 0)
            expect(slots.filter(counts).length + cooling.length).toBeLessThanOrEqual(Number(after.spec.maxConcurrent));
          for (const { version } of granted) {
            const entry = versions.find((each) => each.version === version);
            const failures = new Set(entry?.failures?.map(({ uid }) => uid)).size - (entry?.failuresExcused ?? 0);
            expect(failures).toBeLessThan(Number(after.spec.maxFailures ?? 1000));
          }
          const holders = slots.map(({ uid }) => uid);
          expect(new Set(holders).size).toBe(holders.length);
        });
      }),
      check,
    );
  });

  it('none begins before those of earlier waves have had its version Succeeded, also while these have not been synced', {
    timeout: 600_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(life, fc.nat(NAMES.length), async (input, synced) => {
        const world = worldOf({ ...input, ordered: true }, (at, seen) => {
          if (seen.kind !== 'rollout' || begunBy(seen) === undefined) return;
          const { tag } = (seen.after as Rollout).status!.history![0]!.version;
          const place = (rollout: Rollout | Budget) =>
            ['canary', 'eu', 'us'].indexOf(rollout.metadata.labels?.ring ?? '');
          for (const kept of at.rollouts as Rollout[][]) {
            const hadIt = kept.some(({ status }) =>
              status?.history?.some(({ version, bakeStatus }) => version.tag === tag && bakeStatus === 'Succeeded'),
            );
            if (place(kept[0]!) < place(seen.after)) expect(hadIt).toBe(true);
          }
        });
        for (let i = 0; i < synced; i++) await act(world, { do: 'settleRollout', index: NAMES.length - 1 - i });
        for (const step of input.actions) {
          if (step.do === 'deleteOrCreate') continue;
          // A cache that does not have a Rollout at all cannot know of its wave.
          if (step.do === 'staleBudget')
            await act(world, { ...step, lags: step.lags.map((each) => Math.min(each, ABSENT - 1)) });
          else await act(world, step);
        }
      }),
      check,
    );
  });

  it('everyone gets the newest version in the end, once nothing is in the way', { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(life, async (input) => {
        const world = await live(input, () => {});
        world.closed.clear();
        world.callOff();
        for (const [i, kept] of world.rollouts.entries()) if (world.gone.has(kept)) world.deleteOrCreate(i);
        world.publish();
        const isDone = () =>
          world.live().rollouts.every(({ status }) => {
            const head = status?.history?.[0];
            return head?.version.tag === world.newest && head.bakeStatus === 'Succeeded';
          });
        for (let round = 0; round < 200 && !isDone(); round++) {
          for (let i = 0; i < world.budgets.length; i++) await world.syncBudget(i);
          world.writeAll();
          for (let i = 0; i < NAMES.length; i++) await world.syncRollout(i);
          world.writeAll();
          world.pass(61);
        }
        const heads = world.live().rollouts.map(({ status }) => status?.history?.[0]);
        expect(heads.map((head) => `${head?.version.tag} ${head?.bakeStatus}`)).toEqual(
          NAMES.map(() => `${world.newest} Succeeded`),
        );
        // Nothing is left behind.
        for (let i = 0; i < world.budgets.length; i++) await world.syncBudget(i);
        world.writeAll();
        expect(world.live().budgets.flatMap(({ status }) => status?.slots ?? [])).toEqual([]);
      }),
      { ...check, numRuns: Math.ceil(check.numRuns / 3) },
    );
  });
});
