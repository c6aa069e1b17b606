/** The cost of releases that bake on HealthChecks, and its growth with the fleet. */
import { setTimeout as wait } from 'node:timers/promises';
import { logToStderr } from '../local/process/log.ts';
import { applicationFleet } from './fleets/applications.ts';
import { costFigures, costOf, growthFigures, requestsOf } from './measure.ts';
import type { Figure, Scenario } from './scenario.ts';

/** The limit of the growth of processor time per release, from the smallest fleet to the largest. */
const GROWTH = 1.3;
/** The time after a bake in which each HealthCheck is read once more. */
const TAIL_MS = 3_000;

export const bakes: Scenario = {
  about: `releases that bake on HealthChecks of class kustomization; processor time of one may grow ${GROWTH} times with the fleet`,
  rollouts: [25, 100],
  numbers: { checks: 100, objects: 2, namespaces: 1 },
  async measure({ cluster, rollouts, numbers: { checks = 0, objects, namespaces } }) {
    const fleet = await applicationFleet(cluster, { namespaces, bakes: true });
    const figures: Figure[] = [];
    const processor: number[] = [];
    for (const count of rollouts) {
      const size = { rollouts: count, checks: Math.ceil((checks * count) / rollouts.at(-1)!), objects };
      const group = `${size.rollouts} Rollouts, ${size.checks} HealthChecks: a release`;
      logToStderr(`Settling ${size.rollouts} Rollouts and ${size.checks} HealthChecks`);
      const start = performance.now();
      await fleet.growTo(size);
      const seconds = (performance.now() - start) / 1000;
      logToStderr(`They are created and have baked after ${seconds.toFixed(0)} s`);
      await wait(TAIL_MS);
      const cost = await costOf(
        cluster,
        () => fleet.release(),
        () => wait(TAIL_MS),
      );
      const { hooks = 0, [cluster.driver()?.name ?? '']: driver = 0 } = cost.cpu;
      processor.push((hooks + driver) / count);
      figures.push(
        { group, name: 'all that are new: created at once and baked', value: seconds, unit: 's' },
        { group, name: 'all of them', value: cost.seconds, unit: 's' },
        { group, name: 'requests', value: requestsOf(cost) / count, unit: 'requests' },
        ...costFigures(group, cost, count),
      );
    }
    fleet.close();
    return [...figures, ...growthFigures(processor, GROWTH)];
  },
};
