/**
 * A freeze holds on time without Metacontroller, and its end restores each object exactly, whatever process is killed.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { type Fleet, fleet } from '../../dev/bench/fleets/gated.ts';
import { type AnyObject, gate, staysTrue, waitFor } from '../cluster/support/cluster.ts';
import { gated, isFree, isHeld, requestGate, timestamp } from '../cluster/support/gates.ts';
import { cluster, kill, view } from './cluster.ts';

const HOUR = 3_600_000;
/** A small number for CI; `FREEZE_OBJECTS=300` for more. */
const COUNT = Number(process.env.FREEZE_OBJECTS ?? 30);

const moment = (at: number) => waitFor(() => Date.now() >= at, 'the moment', 60_000);

export function freeze(): void {
  describe('the edge of a window takes effect in admission at that second, with Metacontroller stopped', () => {
    interface Write {
      began: number;
      ended: number;
      taken: boolean;
    }

    /** Edits the object repeatedly until after the Gate's change. */
    async function writesAround(edge: number, object: AnyObject): Promise<Write[]> {
      const writes: Write[] = [];
      for (let i = 0; Date.now() < edge + 1000; i++) {
        const began = Date.now();
        const taken = await view.developer.mergePatch(object as never, { spec: { path: `./edit-${i}` } }).then(
          () => true,
          (error) => {
            expect(error).toMatchObject({ code: 403, message: expect.stringContaining('/freeze') });
            return false;
          },
        );
        writes.push({ began, ended: Date.now(), taken });
      }
      return writes;
    }

    const EDGES = [
      { default: 'closed', action: 'open', isFreeBefore: true },
      { default: 'opened', action: 'close', isFreeBefore: false },
    ] as const;

    it('the end of an approval, and of a maintenance', async () => {
      const at = timestamp(Date.now() - HOUR + 6000);
      const edge = Date.parse(at) + HOUR;
      const cases = await Promise.all(
        EDGES.map(async ({ default: byDefault, action, isFreeBefore }) => {
          const ns = await view.newNamespace();
          await view.sre.create(gate(ns, 'freeze', { spec: { default: byDefault, window: '1h' } }));
          const object = gated('Kustomization', ns, 'app', 'freeze');
          await view.developer.create(object);
          await requestGate(view.sre, ns, 'freeze', action, { at });
          await (isFreeBefore ? isFree(view.admin, object) : isHeld(view.admin, object));
          return { object, isFreeBefore };
        }),
      );
      await kill('driver');
      await moment(edge - 1000);
      const writes = await Promise.all(cases.map(({ object }) => writesAround(edge, object)));
      await cluster.startDriver();
      for (const [i, { object, isFreeBefore }] of cases.entries()) {
        const early = writes[i]!.filter(({ ended }) => ended < edge);
        const late = writes[i]!.filter(({ began }) => began >= edge);
        expect(Math.min(early.length, late.length)).toBeGreaterThan(3);
        expect(early.map(({ taken }) => taken)).toEqual(early.map(() => isFreeBefore));
        expect(late.map(({ taken }) => taken)).toEqual(late.map(() => !isFreeBefore));
        // The restarted driver brings the object into the Gate's state.
        await (isFreeBefore ? isHeld(view.admin, object) : isFree(view.admin, object));
      }
    });
  });

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

    it('closing suspends all, opening restores each exactly', async () => {
      await all.request('close');
      await everyOne('countHeld');
      await all.request('open');
      await everyOne('countRestored');
    });

    it('also when the hook server and the driver are killed in the middle of both', async () => {
      for (const [action, what] of [
        ['close', 'countHeld'],
        ['open', 'countRestored'],
      ] as const) {
        await all.request(action);
        await some(what);
        for (const victim of ['hooks', 'driver'] as const) await kill(victim);
        await cluster.startHooks();
        await cluster.startDriver();
        await everyOne(what);
      }
    });

    it('also when the gate flips six times in nine seconds while others write the objects', async () => {
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
