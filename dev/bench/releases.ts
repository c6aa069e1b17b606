/** The time in which a new version reaches every Kustomization, or has baked there, and its cost. */
import { logToStderr } from '../local/process/log.ts';
import { applicationFleet } from './fleets/applications.ts';
import { auditLog, type Cost, costFigures, costOf, memoryFigures, requestsOf, totalOf } from './measure.ts';
import { untilQuiet } from './requests.ts';
import type { Figure, Scenario } from './scenario.ts';

/** The limit of the growth of processor time per release, from the smallest fleet to the largest. */
const GROWTH = 1.5;

export const releases: Scenario = {
  about: `a new version for all Rollouts at once: time, requests and processor time, which may grow ${GROWTH} times with the fleet; with checks, until all have baked`,
  rollouts: [500],
  numbers: { rounds: 3, checks: 0, objects: 2, namespaces: 1 },
  async measure({ cluster, rollouts, numbers: { rounds = 1, checks = 0, objects, namespaces } }) {
    const quiet = () => untilQuiet(auditLog(cluster));
    const fleet = await applicationFleet(cluster, { namespaces, bakes: checks > 0 });
    const figures: Figure[] = [];
    const processor: number[] = [];
    for (const count of rollouts) {
      const group = `${count} Rollouts`;
      logToStderr(`Creating ${group}`);
      const start = performance.now();
      const baked = checks > 0 && { checks: Math.ceil((checks * count) / rollouts.at(-1)!), objects };
      await fleet.growTo({ rollouts: count, ...baked });
      const created = (performance.now() - start) / 1000;
      const costs: Cost[] = [];
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
        { group, name: 'all that are new, created at once', value: created, unit: 's' },
        { group, name: 'best round', value: Math.min(...costs.map(({ seconds }) => seconds)), unit: 's' },
        { group, name: 'processor time of a release', value: processor.at(-1)!, unit: 'ms' },
        { group, name: 'requests of a release', value: requestsOf(last) / count, unit: 'requests' },
        ...costFigures(`${group}: a release of the last round`, last, count),
        ...memoryFigures(cluster, `${group}: at its peak`, 'VmHWM'),
      );
    }
    fleet.close();
    if (processor.length < 2) return figures;
    const value = processor.at(-1)! / processor[0]!;
    return [...figures, { group: 'growth', name: 'of processor time of a release', value, unit: '×', limit: GROWTH }];
  },
};
