/** The cost of a settled fleet while Flux keeps writing statuses, and its growth with the fleet. */
import { setTimeout as wait } from 'node:timers/promises';
import type { LocalCluster } from '../local/cluster.ts';
import { logToStderr } from '../local/process/log.ts';
import { applicationFleet } from './fleets/applications.ts';
import { costOf, memoryFigures, requestFigures, requestsOf, residentMiB, untilSettled } from './measure.ts';
import type { Figure, Scenario } from './scenario.ts';

const FLUX_INTERVAL_S = 600;
/** The limit of requests per second for 300 HealthChecks, in proportion for other numbers. */
const REQUESTS_OF_300_CHECKS = 5;
/**
 * Limits of driver and hook server together: for 2,000 Rollouts in proportion, and at least the idle load of the
 * processes.
 */
const CORES_OF_2000 = 0.15;
const CORES_OF_NONE = 0.04;
/** The limit of the growth of requests, divided by the growth of HealthChecks. */
const GROWTH = 1.2;
/**
 * The step between reconciled applications, a prime beyond the largest fleet. In order, a short run would see only
 * applications with HealthChecks.
 */
const STRIDE = 10_007;

export const idle: Scenario = {
  about: `a settled fleet, each Kustomization reconciled once in ten minutes; at most ${REQUESTS_OF_300_CHECKS} requests a second of 300 checks`,
  rollouts: [100, 300],
  numbers: { checks: 300, objects: 10, seconds: 120, namespaces: 1 },
  async measure({ cluster, rollouts, numbers: { checks: most = 0, objects, seconds = 0, namespaces } }) {
    const fleet = await applicationFleet(cluster, { namespaces, bakes: true });
    const empty = ourMiB(cluster);
    const figures: Figure[] = [];
    const sizes: { checks: number; requests: number }[] = [];

    /** Reconciles Kustomizations evenly over Flux's interval. */
    async function reconcileFor(count: number): Promise<void> {
      const start = performance.now();
      const elapsed = () => (performance.now() - start) / 1000;
      for (let i = 0; elapsed() < seconds; i++) {
        await fleet.reconcile((i * STRIDE) % count);
        const next = ((i + 1) * FLUX_INTERVAL_S) / count;
        await wait(Math.max(0, Math.min(next, seconds) - elapsed()) * 1000);
      }
    }

    for (const count of rollouts) {
      const checks = Math.ceil((most * count) / rollouts.at(-1)!);
      const group = `${count} Rollouts, ${checks} HealthChecks at rest`;
      logToStderr(`Settling ${count} Rollouts and ${checks} HealthChecks`);
      await fleet.growTo({ rollouts: count, checks, objects });
      await untilSettled(cluster);
      logToStderr(`Measuring for ${seconds} s`);
      const cost = await costOf(cluster, () => reconcileFor(count));
      const cores = Object.entries(cost.cpu).map(([name, used]) => ({ name, value: used / cost.seconds }));
      const requests = requestsOf(cost) / cost.seconds;
      sizes.push({ checks, requests });
      const ours = cores.reduce((sum, { name, value }) => sum + (isOurs(name) ? value : 0), 0);
      const limits = [(REQUESTS_OF_300_CHECKS * checks) / 300, Math.max(CORES_OF_NONE, (CORES_OF_2000 * count) / 2000)];
      figures.push(
        { group, name: 'requests a second', value: requests, unit: 'requests', limit: limits[0]! },
        { group, name: 'driver and hook server', value: ours, unit: 'cores', limit: limits[1]! },
        ...cores.map(({ name, value }) => ({ group, name, value, unit: 'cores' })),
        ...memoryFigures(cluster, group, 'VmRSS'),
        ...requestFigures(`${group}: a second`, cost.requests, cost.seconds),
      );
    }
    fleet.close();
    const [first, last] = [sizes[0]!, sizes.at(-1)!];
    const objectsOfOurs = 3 * rollouts.at(-1)! + most;
    const group = 'growth';
    const perObject = ((ourMiB(cluster) - empty) * 1024) / objectsOfOurs;
    figures.push({ group, name: 'memory of driver and hook server for each object', value: perObject, unit: 'KiB' });
    if (first === last) return figures;
    const value = last.requests / first.requests / (last.checks / first.checks);
    return [...figures, { group, name: 'requests, in growths of the checks', value, unit: '×', limit: GROWTH }];
  },
};

const isOurs = (name: string): boolean => ['engine', 'metacontroller', 'hooks'].includes(name);

/** Memory of driver and hook server together; NaN without /proc. */
function ourMiB(cluster: LocalCluster): number {
  const ours = cluster.children().filter(({ name }) => isOurs(name));
  return ours.reduce((sum, { pid }) => sum + (residentMiB(pid) ?? Number.NaN), 0);
}
