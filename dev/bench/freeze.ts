/** The time from a Gate's closing until every object is suspended, and from its opening until each is restored. */
import { logToStderr } from '../local/process/log.ts';
import { type Fleet, fleet } from './fleets/gated.ts';
import { watchObjects } from './fleets/objectWatch.ts';
import { costFigures, costOf, memoryFigures } from './measure.ts';
import type { Figure, Scenario } from './scenario.ts';

/** Limits for a thousand objects. */
const CLOSE_SECONDS = 10;
const OPEN_SECONDS = 12;
const PATIENCE_MS = 300_000;

export const freeze: Scenario = {
  about: `one Gate that many Flux objects require; at most ${CLOSE_SECONDS} s to suspend a thousand, ${OPEN_SECONDS} s to restore them`,
  numbers: { objects: 1000, rounds: 3, namespaces: 1 },
  async measure({ cluster, numbers: { objects = 0, rounds = 1, namespaces = 1 } }) {
    const admin = cluster.accessOf('admin');
    const share = Math.ceil(objects / namespaces);
    const fleets = Array.from({ length: namespaces }, (_, i) => fleet(admin, `bench-${i}`, share));
    logToStderr(`Creating ${share} Flux objects that require one Gate, in each of ${namespaces} namespaces`);
    for (const each of fleets) await each.create();
    const watches: { of: Fleet; watch: ReturnType<typeof watchObjects>; count: number }[] = [];
    for (const each of fleets) {
      for (const { path, count } of await each.collections()) {
        watches.push({ of: each, watch: watchObjects(admin, path), count });
      }
    }
    const allReach = async (state: 'isHeld' | 'isRestored') => {
      await Promise.all(watches.map(({ of, watch, count }) => watch.until(count, of[state], PATIENCE_MS)));
    };
    const turned = async (action: 'open' | 'close') => {
      const start = performance.now();
      await Promise.all(fleets.map((each) => each.request(action)));
      await allReach(action === 'close' ? 'isHeld' : 'isRestored');
      return (performance.now() - start) / 1000;
    };

    const seconds = { close: [] as number[], open: [] as number[] };
    const cost = await costOf(cluster, async () => {
      for (let round = 1; round <= rounds; round++) {
        for (const action of ['close', 'open'] as const) seconds[action].push(await turned(action));
        const [close, open] = [seconds.close.at(-1)!, seconds.open.at(-1)!];
        logToStderr(`Round ${round}: closed in ${close.toFixed(1)} s, opened in ${open.toFixed(1)} s`);
      }
    });
    for (const { watch } of watches) watch.close();

    const group =
      namespaces === 1 ? `${objects} objects behind one Gate` : `${objects} objects behind ${namespaces} Gates`;
    const best = (name: string, times: number[], limit: number): Figure => {
      return { group, name, value: Math.min(...times), unit: 's', limit: (limit * objects) / 1000 };
    };
    return [
      best('until all are suspended', seconds.close, CLOSE_SECONDS),
      best('until all are restored', seconds.open, OPEN_SECONDS),
      ...costFigures('one closing and opening of one object', cost, objects * rounds),
      ...memoryFigures(cluster, 'at its peak', 'VmHWM'),
    ];
  },
};
