/** The time of one release in a settled fleet, from the ImagePolicy's status to the field in the Kustomization. */
import { setTimeout as wait } from 'node:timers/promises';
import { logToStderr } from '../local/process/log.ts';
import { applicationFleet } from './fleets/applications.ts';
import { quantile, untilSettled } from './measure.ts';
import type { Figure, Scenario } from './scenario.ts';

const P99_MS = 300;
/** The time in which the release before is finished, with its Events and second sync. */
const PAUSE_MS = 100;
/** Releases from one line of progress to the next. */
const PROGRESS = 50;

export const latency: Scenario = {
  about: `one release at a time among settled Rollouts; p99 at most ${P99_MS} ms`,
  rollouts: [1000],
  numbers: { releases: 200, namespaces: 1 },
  async measure({ cluster, rollouts, numbers: { releases = 1, namespaces } }) {
    const fleet = await applicationFleet(cluster, { namespaces });
    const figures: Figure[] = [];
    for (const [index, count] of rollouts.entries()) {
      // growTo waits for one version everywhere.
      if (index > 0) await fleet.release();
      logToStderr(`Creating ${count} Rollouts`);
      await fleet.growTo({ rollouts: count });
      logToStderr(`Settling ${count} Rollouts`);
      await untilSettled(cluster);
      const times: number[] = [];
      for (let i = 0; i < releases; i++) {
        await wait(PAUSE_MS);
        const start = performance.now();
        await fleet.release([i % count]);
        times.push(performance.now() - start);
        if (times.length % PROGRESS === 0) logToStderr(`Release ${times.length} of ${releases}`);
      }
      const group = `${releases} releases, one at a time, among ${count} Rollouts`;
      figures.push(
        { group, name: 'p50', value: quantile(times, 0.5), unit: 'ms' },
        { group, name: 'p99', value: quantile(times, 0.99), unit: 'ms', limit: P99_MS },
      );
    }
    fleet.close();
    return figures;
  },
};
