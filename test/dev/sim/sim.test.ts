/** A short run of the simulation: the seed decides everything, and a failure is reported with few steps. */
import { describe, expect, it } from 'vitest';
import { planOf } from '../../../dev/sim/plan.ts';
import { play } from '../../../dev/sim/play.ts';
import { faultsOf, playable, replay } from '../../../dev/sim/scenarios.ts';
import { timeline } from '../../../dev/sim/timeline.ts';

const STEPS = 15;
const SEEDS = 4;

describe('the simulation', () => {
  let last: Awaited<ReturnType<typeof play>>;

  it(`finds nothing in ${SEEDS} seeds`, async () => {
    for (let seed = 1; seed <= SEEDS; seed++) {
      last = await play(planOf(seed, STEPS));
      expect(last.violations, `npm run sim -- --seed ${seed} --steps ${STEPS}`).toEqual([]);
    }
  });

  it('is the same again for the same seed, in whole milliseconds', async () => {
    const stored = ({ cluster }: typeof last) =>
      cluster.server.storage.events.map(({ at, resource, object }) => ({ at, resource, ...object.metadata }));
    const events = stored(last);
    expect(stored(await play(planOf(SEEDS, STEPS)))).toEqual(events);
    expect(events.every(({ at }) => Number.isInteger(at))).toBe(true);
  });

  it('blames no version for Helm, which fails an upgrade whose Pods are moved', async () => {
    const steps = [
      { at: 60, what: 'publish', team: 1, seed: 663_077_712 } as const,
      { at: 277, what: 'drain', team: 1, seed: 1_638_648_494 } as const,
    ];
    const { violations, cluster } = await play({ ...planOf(90_100, 60), steps });
    expect(cluster.server.storage.list('helm.toolkit.fluxcd.io/helmreleases')).toHaveLength(1);
    expect(violations).toEqual([]);
  });

  it('plays a scenario with a crash and a stale cache at every write, to the same end', async () => {
    const scenario = playable().find(({ id }) => id === 'after-by-hand')!;
    const { writes, history } = await replay(scenario);
    expect(history).toEqual(['1.1.0 Succeeded', '1.0.0 Succeeded']);
    for (const fault of faultsOf(writes))
      expect(await replay(scenario, fault), JSON.stringify(fault)).toMatchObject({ violations: [], history });
  });

  it.each(['approval-withdrawn', 'story 1, a gate that closes an hour after it was opened'])(
    'plays the Gate scenario %s',
    async (id) => {
      const scenario = playable().find((each) => each.id === id)!;
      const { writes, violations } = await replay(scenario);
      expect({ isPlayed: writes > 5, violations }).toEqual({ isPlayed: true, violations: [] });
    },
  );

  it('describes the events as sentences', async () => {
    const { cluster, begin, convergedMs } = last;
    const lines = timeline(cluster, begin, convergedMs);
    expect(lines.length).toBeLessThanOrEqual(20);
    expect(lines.join('\n')).toMatch(/Rollout team-\d\/app deploys 1\.\d\.0|Flux updates the status of \w+ team-\d/);
  });
});
