/** The time from a Gate's closing until every object is suspended, and from its opening until each is restored. */
import { setTimeout as wait } from 'node:timers/promises';
import { User } from '../actors/user.ts';
import type { AnyObject } from '../client/send.ts';
import { logToStderr } from '../local/process/log.ts';
import { Problem } from '../local/process/problem.ts';
import { fleet } from './fleets/gated.ts';
import { watchObjects } from './fleets/objectWatch.ts';
import { costFigures, costOf, countHookCalls, memoryFigures } from './measure.ts';
import type { ClusterScenario, Figure } from './scenario.ts';

/** Limits for a thousand objects. */
const CLOSE_SECONDS = 10;
const OPEN_SECONDS = 12;
const PATIENCE_MS = 300_000;
const FLIPS = 10;
const FLIP_EVERY_MS = 1500;
/** The time in which a late reaction to an early flip would show. */
const LATE_MS = 3000;

export const freeze: ClusterScenario = {
  about: `one Gate that many Flux objects require; at most ${CLOSE_SECONDS} s to suspend a thousand, ${OPEN_SECONDS} s to restore them`,
  numbers: { objects: 1000, rounds: 3 },
  async measure({ cluster, numbers: { objects = 0, rounds = 1 } }) {
    const admin = cluster.accessOf('admin');
    const all = fleet(admin, 'bench', objects);
    logToStderr(`Creating ${objects} Flux objects that require one Gate`);
    await all.create();
    const watches = (await all.collections()).map(({ path, count }) => ({
      watch: watchObjects(admin, path),
      count,
    }));
    const allReach = async (state: (object: AnyObject) => boolean) => {
      await Promise.all(watches.map(({ watch, count }) => watch.until(count, state, PATIENCE_MS)));
    };
    const timed = async (work: () => Promise<unknown>) => {
      const start = performance.now();
      await work();
      return (performance.now() - start) / 1000;
    };
    const turned = (action: 'open' | 'close') =>
      timed(async () => {
        await all.request(action);
        await allReach(action === 'close' ? all.isHeld : all.isRestored);
      });

    const seconds = { close: [] as number[], open: [] as number[] };
    const calls = await countHookCalls(new User(admin));
    const cost = await costOf(cluster, async () => {
      for (let round = 1; round <= rounds; round++) {
        for (const action of ['close', 'open'] as const) seconds[action].push(await turned(action));
        const [close, open] = [seconds.close.at(-1)!, seconds.open.at(-1)!];
        logToStderr(`Round ${round}: closed in ${close.toFixed(1)} s, opened in ${open.toFixed(1)} s`);
      }
    });
    const callFigures = await calls('calls of hooks in one closing and opening of one object', objects * rounds);

    for (let flip = 0; flip < FLIPS; flip++) {
      await all.request(flip % 2 === 0 ? 'close' : 'open');
      if (flip < FLIPS - 1) await wait(FLIP_EVERY_MS);
    }
    const afterFlips = await timed(() => allReach(all.isRestored));
    await wait(LATE_MS);
    const changed = objects - (await all.countRestored());
    if (changed > 0) throw new Problem(`${changed} objects changed after the last flip.`);
    for (const { watch } of watches) watch.close();

    const group = `${objects} objects behind one Gate`;
    const best = (name: string, times: number[], limit: number): Figure => {
      return { group, name, value: Math.min(...times), unit: 's', limit: (limit * objects) / 1000 };
    };
    return [
      best('until all are suspended', seconds.close, CLOSE_SECONDS),
      best('until all are restored', seconds.open, OPEN_SECONDS),
      { group, name: 'until all are restored after ten flips in fifteen seconds', value: afterFlips, unit: 's' },
      ...costFigures('one closing and opening of one object', cost, objects * rounds),
      ...callFigures,
      ...memoryFigures(cluster, 'at its peak', 'VmHWM'),
    ];
  },
};
