/** No way around a closed gate: attempts.yaml, tried as the people and controllers that it names. That each is a way: test/long/around.test.ts. */
import { describe, expect, it } from 'vitest';
import { sharedCluster, staysTrue, waitFor } from '../support/cluster.ts';
import { type Attempt, carryOut, partsOf, readAttempts, running, stepsOf } from './attempt.ts';
import { newWorld, type World } from './world.ts';

const view = sharedCluster();
const attempts = readAttempts();
/** What controllers might do about a write, they have done by then. */
const SETTLED_MS = 600;

const stateOf = async (world: World) => ({
  ...(await world.protectedState()),
  running: await running(world, view.admin),
});

async function make(attempt: Attempt, world: World): Promise<string[]> {
  const answers: string[] = [];
  for (const step of stepsOf(attempt)) answers.push(await carryOut(step, world, view));
  return answers;
}

interface FrozenWorld {
  world: World;
  before: Awaited<ReturnType<typeof stateOf>>;
}
/** By their parts, worlds in which everything was refused so far: as good as new, and compared with their beginning again and again. */
const frozenWorlds = new Map<string, FrozenWorld[]>();
const isRefused = (answer: string) => !answer.startsWith('taken');
const leavesNothing = (answer: string) => isRefused(answer) || answer.includes('held, nothing changed');

async function newFrozenWorld(parts: ReturnType<typeof partsOf>): Promise<FrozenWorld> {
  const world = await newWorld(view, { closed: true, parts });
  const before = await stateOf(world);
  expect(before.running).toEqual([]);
  return { world, before };
}

describe.concurrent('behind a closed gate nothing changes by', () => {
  it.each(attempts)('$name', async (attempt) => {
    const parts = partsOf(attempt);
    const frozen = frozenWorlds.get(parts.join())?.pop() ?? (await newFrozenWorld(parts));
    const { world, before } = frozen;
    const answers = await make(attempt, world);
    // A selecting gate marks a new object a moment after it was created.
    await waitFor(async () => (await running(world, view.admin)).length === 0, 'every held object to be suspended');
    await staysTrue(
      async () => {
        expect(await stateOf(world), answers.join('; ')).toEqual(before);
        return true;
      },
      'all that the gate protects',
      // What was refused wakes no controller, and is looked at once more at the end.
      answers.every(isRefused) ? 0 : SETTLED_MS,
    );
    if (!answers.every(leavesNothing)) return;
    frozenWorlds.set(parts.join(), [...(frozenWorlds.get(parts.join()) ?? []), frozen]);
  });
});

it('behind a closed gate nothing has changed by all of that', async () => {
  for (const { world, before } of [...frozenWorlds.values()].flat()) expect(await stateOf(world)).toEqual(before);
});
