/** A short run of the simulation; that a seed decides everything; and that it finds what is broken, and tells it in few steps. */
import { describe, expect, it } from 'vitest';
import { planOf } from '../../../dev/sim/plan.ts';
import { play } from '../../../dev/sim/play.ts';

const STEPS = 15;
const SEEDS = 5;

describe('the simulation', { timeout: 240_000 }, () => {
  it(`finds nothing in ${SEEDS} seeds`, async () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      const { violations } = await play(planOf(seed, STEPS));
      expect(violations, `npm run sim -- --seed ${seed} --steps ${STEPS}`).toEqual([]);
    }
  });

  it('is the same again for the same seed', async () => {
    const stored = async () => {
      const { world } = await play(planOf(7, STEPS));
      return world.server.storage.events.map(({ at, resource, object }) => [at, resource, object.metadata]);
    };
    expect(await stored()).toEqual(await stored());
  });
});
