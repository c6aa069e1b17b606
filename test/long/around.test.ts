/** test/cluster/around/attempts.yaml where the gates are open: each attempt is a way to change something, so that its refusal means something. */
import { describe, expect, it } from 'vitest';
import { carryOut, partsOf, readAttempts, running, stepsOf } from '../cluster/around/attempt.ts';
import { newWorld, type World } from '../cluster/around/world.ts';
import { waitFor } from '../cluster/support/cluster.ts';
import { ownCluster } from '../cluster/support/ownCluster.ts';

const { view } = await ownCluster();

const stateOf = async (world: World) => ({
  ...(await world.protectedState()),
  running: await running(world, view.admin),
});

describe.concurrent('where the gates are open the attempt gets through:', () => {
  it.each(readAttempts().filter(({ never }) => !never))('$name', async (attempt) => {
    const world = await newWorld(view, { closed: false, parts: partsOf(attempt) });
    const before = await stateOf(world);
    const answers: string[] = [];
    for (const step of stepsOf(attempt)) answers.push(await carryOut(step, world, view));
    await waitFor(
      async () => {
        expect(await stateOf(world), answers.join('; ')).not.toEqual(before);
        return true;
      },
      'a change',
      10_000,
    );
  });
});
