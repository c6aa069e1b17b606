/** A freeze suspends each object, and its end restores each exactly, whatever process is killed meanwhile. */
import { beforeAll, describe, it } from 'vitest';
import { type Fleet, fleet } from '../../dev/bench/fleets/gated.ts';
import { staysTrue, waitFor } from '../cluster/support/cluster.ts';
import { cluster, kill, startHooks, view } from './cluster.ts';

/** A small number for CI; `FREEZE_OBJECTS=300` for more. */
const COUNT = Number(process.env.FREEZE_OBJECTS ?? 30);

const moment = (at: number) => waitFor(() => Date.now() >= at, 'the moment', 60_000);

export function freeze(): void {
  describe(`${COUNT} objects behind one gate`, () => {
    let all: Fleet;

    beforeAll(async () => {
      all = fleet(cluster.accessOf('admin'), 'fleet', COUNT);
      await all.create();
    });

    const everyOne = (what: 'countHeld' | 'countRestored', patience = 120_000) =>
      waitFor(
        async () => {
          const reached = await all[what]();
          if (reached !== COUNT) throw new Error(`${reached} of ${COUNT}`);
          return true;
        },
        `every object in ${what}`,
        patience,
      );
    const some = (what: 'countHeld' | 'countRestored') =>
      waitFor(async () => (await all[what]()) > COUNT / 10, `the first objects in ${what}`);

    it('are suspended and restored exactly, though hook server and driver are killed in the middle of both', async () => {
      for (const [action, what] of [
        ['close', 'countHeld'],
        ['open', 'countRestored'],
      ] as const) {
        await all.request(action);
        await some(what);
        for (const victim of ['hooks', 'driver'] as const) await kill(victim);
        await startHooks();
        await cluster.startDriver();
        await everyOne(what);
      }
    });

    it('are restored exactly after six flips in nine seconds, while others write them', async () => {
      let flipping = true;
      const noise = async () => {
        for (let i = 0; flipping; i++) {
          const object = all.objects[(i * 7) % COUNT]!;
          await view.developer.mergePatch(object as never, { metadata: { labels: { noise: String(i) } } });
        }
      };
      const writers = [noise(), noise()];
      const start = Date.now();
      for (let flip = 0; flip < 6; flip++) {
        await moment(start + flip * 1500);
        await all.request(flip % 2 === 0 ? 'close' : 'open');
      }
      flipping = false;
      await Promise.all(writers);
      await everyOne('countRestored');
      await staysTrue(async () => (await all.countRestored()) === COUNT, 'every object is what it was', 1500);
    });
  });
}
