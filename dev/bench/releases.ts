/** The time in which a new version reaches every Kustomization, and its cost. */

import { User } from '../actors/user.ts';
import { logToStderr } from '../local/process/log.ts';
import { applicationFleet } from './fleets/applications.ts';
import {
  auditLog,
  type Cost,
  costFigures,
  costOf,
  countHookCalls,
  growthFigures,
  memoryFigures,
  requestsOf,
  totalOf,
} from './measure.ts';
import { untilQuiet } from './requests.ts';
import type { Figure, Scenario } from './scenario.ts';

/** The limit of the growth of processor time per release, from the smallest fleet to the largest. */
const GROWTH = 1.5;

export const releases: Scenario = {
  about: `a new version for all Rollouts at once: time, requests and processor time, which may grow ${GROWTH} times with the fleet`,
  rollouts: [500],
  numbers: { rounds: 3, namespaces: 1 },
  async measure({ cluster, rollouts, numbers: { rounds = 1, namespaces } }) {
    const quiet = () => untilQuiet(auditLog(cluster));
    const fleet = await applicationFleet(cluster, { namespaces });
    const figures: Figure[] = [];
    const processor: number[] = [];
    for (const count of rollouts) {
      const group = `${count} Rollouts`;
      logToStderr(`Creating ${group}`);
      await fleet.growTo({ rollouts: count });
      const costs: Cost[] = [];
      const calls = await countHookCalls(new User(cluster.accessOf('admin')));
      for (let round = 1; round <= rounds; round++) {
        await quiet();
        // Work after the last Kustomization has the version counts too.
        const cost = await costOf(cluster, () => fleet.release(), quiet);
        costs.push(cost);
        logToStderr(`Round ${round}: ${cost.seconds.toFixed(1)} s`);
      }
      const best = Math.min(...costs.map(({ cpu }) => totalOf(cpu)));
      const last = costs.at(-1)!;
      processor.push((best * 1000) / count);
      figures.push(
        { group, name: 'best round', value: Math.min(...costs.map(({ seconds }) => seconds)), unit: 's' },
        { group, name: 'processor time of a release', value: processor.at(-1)!, unit: 'ms' },
        { group, name: 'requests of a release', value: requestsOf(last) / count, unit: 'requests' },
        ...costFigures(`${group}: a release of the last round`, last, count),
        ...(await calls(`${group}: calls of hooks in a release`, rounds * count)),
        ...memoryFigures(cluster, `${group}: at its peak`, 'VmHWM'),
      );
    }
    fleet.close();
    return [...figures, ...growthFigures(processor, GROWTH)];
  },
};
