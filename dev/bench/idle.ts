/** `node dev/bench/idle.ts`: what a settled fleet costs while Flux goes on writing its statuses, and how that grows with the fleet. */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { LocalCluster } from '../local/cluster.ts';
import { logToStderr } from '../local/process/log.ts';
import { type BudgetLine, runBench } from './command.ts';
import { type HealthFleet, healthFleet } from './fleets/health.ts';
import { cpuOf, residentMiB } from './measure.ts';
import { endOf, ours, type RequestCount, requestsSince, untilQuiet } from './requests.ts';

const HELP = `Usage: node dev/bench/idle.ts [--rollouts N] [--checks N] [--objects N] [--part N] [--seconds N] [--json] [--metacontroller PATH]

Settles a fleet of N Rollouts, each with a Kustomization, and HealthChecks of class kustomization on them; then lets Flux reconcile each
Kustomization once in ten minutes, finding nothing to do, and counts what that costs: requests by who asked for what, processor cores,
memory. Once with a part of the fleet and once with all of it: the factor between the two is the growth. Ends with 1 above its budget.

  --rollouts N           how many Rollouts (300)
  --checks N             how many HealthChecks (300)
  --objects N            ConfigMaps of each Kustomization (10)
  --part N               measure first with one Nth of Rollouts and HealthChecks; 1: with all of them only (3)
  --seconds N            how long each is measured; in less than 600 not every timer comes once (120)
  --json                 print JSON instead of text
  --metacontroller PATH  drive the hooks with this Metacontroller instead of the engine (default: $METACONTROLLER)
  --help                 this text
`;

const FLUX_INTERVAL_S = 600;
/** A second; what 300 checks may cost, and in proportion what others may. */
const REQUESTS_OF_300_CHECKS = 5;
/** Of driver and hook server together, of 2,000 Rollouts; a small fleet may use what the processes use by themselves. */
const CORES_OF_2000 = 0.15;
const CORES_OF_NONE = 0.04;
const LAST_LOOK_MS = 70_000;
/** Of requests, against that of the checks. */
const GROWTH = 1.2;

interface Counts extends Record<string, number> {
  rollouts: number;
  checks: number;
  objects: number;
  part: number;
  seconds: number;
}

interface Measured {
  rollouts: number;
  checks: number;
  requestsPerSecond: number;
  /** Of driver and hook server; the others are Flux's and the bench's own. */
  requests: { user: string; verb: string; resource: string; perSecond: number }[];
  /** By process. */
  cores: Record<string, number>;
  residentMiB: Record<string, number | undefined>;
}

interface Result {
  driver: string;
  objects: number;
  seconds: number;
  sizes: Measured[];
  /** Of driver and hook server, from the first size to the last, for each object of the fleet; undefined where /proc is not there. */
  kibPerObject: number | undefined;
}

async function measure(cluster: LocalCluster, counts: Counts): Promise<Result> {
  const { rollouts, checks, objects, part, seconds } = counts;
  const fleet = await healthFleet(cluster.accessOf('admin'), cluster.accessOf('flux'));
  const empty = ourMiB(cluster);
  const sizes: Measured[] = [];
  for (const share of part > 1 ? [part, 1] : [1]) {
    const size = { rollouts: Math.ceil(rollouts / share), checks: Math.ceil(checks / share), objects };
    logToStderr(`Settling ${size.rollouts} Rollouts and ${size.checks} HealthChecks`);
    await fleet.growTo(size);
    // What the last deployments have set off ends first: a HealthCheck is looked at once more after its change, and the registry asked again a minute later.
    await wait(LAST_LOOK_MS);
    await untilQuiet(join(cluster.dir, 'audit.log'));
    logToStderr(`Measuring for ${seconds} s`);
    sizes.push({ ...size, ...(await atRest(cluster, fleet, size.rollouts, seconds)) });
  }
  fleet.close();
  const now = ourMiB(cluster);
  const count = 3 * rollouts + checks;
  return {
    driver: cluster.driver()?.name ?? '',
    objects,
    seconds,
    sizes,
    kibPerObject: now === undefined || empty === undefined ? undefined : ((now - empty) * 1024) / count,
  };
}

/** The applications with HealthChecks come first: in that order, a short measurement would see hardly any others. A prime beyond the largest fleet: each has its turn. */
const STRIDE = 10_007;

/** Flux takes its Kustomizations evenly over its interval. */
async function atRest(cluster: LocalCluster, fleet: HealthFleet, rollouts: number, seconds: number) {
  const log = join(cluster.dir, 'audit.log');
  const from = endOf(log);
  const cpuBefore = cpuOf(cluster);
  const start = performance.now();
  const elapsed = () => (performance.now() - start) / 1000;
  for (let i = 0; elapsed() < seconds; i++) {
    await fleet.reconcile((i * STRIDE) % rollouts);
    const next = ((i + 1) * FLUX_INTERVAL_S) / rollouts;
    await wait(Math.max(0, Math.min(next, seconds) - elapsed()) * 1000);
  }
  const took = elapsed();
  const cores = Object.entries(cpuOf(cluster)).map(([name, cpu]) => [name, (cpu - (cpuBefore[name] ?? 0)) / took]);
  const requests = ours(await requestsSince(log, from));
  const perSecond = (count: number) => count / took;
  return {
    requestsPerSecond: perSecond(requests.reduce((sum, { count }) => sum + count, 0)),
    requests: requests.map(({ count, ...what }: RequestCount) => ({ ...what, perSecond: perSecond(count) })),
    cores: Object.fromEntries(cores) as Record<string, number>,
    residentMiB: Object.fromEntries(cluster.children().map(({ name, pid }) => [name, residentMiB(pid)])),
  };
}

/** Of driver and hook server together. */
function ourMiB(cluster: LocalCluster): number | undefined {
  const pids = [cluster.driver(), cluster.hooks()].flatMap((child) => child?.pid ?? []);
  const sizes = pids.map((pid) => residentMiB(pid));
  return sizes.some((size) => size === undefined) ? undefined : sizes.reduce((a, b) => a! + b!, 0);
}

function budget({ sizes }: Result): BudgetLine[] {
  const [first, last] = [sizes[0]!, sizes.at(-1)!];
  const lines = [
    {
      name: `requests a second of ${last.checks} checks`,
      value: last.requestsPerSecond,
      limit: (REQUESTS_OF_300_CHECKS * last.checks) / 300,
    },
  ];
  lines.push({
    name: `cores of driver and hook server, ${last.rollouts} Rollouts`,
    value: Object.entries(last.cores).reduce((sum, [name, of]) => sum + (isOurs(name) ? of : 0), 0),
    limit: Math.max(CORES_OF_NONE, (CORES_OF_2000 * last.rollouts) / 2000),
  });
  if (first === last) return lines;
  const growth = last.requestsPerSecond / first.requestsPerSecond / (last.checks / first.checks);
  return [...lines, { name: 'growth of requests, in growths of the checks', value: growth, limit: GROWTH }];
}

/** Names of processes of the cluster. */
const isOurs = (name: string): boolean => ['engine', 'metacontroller', 'hooks'].includes(name);

function asText(result: Result): string {
  const lines = [
    `A fleet at rest, driven by ${result.driver}, ${result.objects} objects a Kustomization, ${result.seconds} s`,
  ];
  for (const { rollouts, checks, requestsPerSecond, requests, cores, residentMiB: memory } of result.sizes) {
    lines.push(`${rollouts} Rollouts, ${checks} HealthChecks: ${requestsPerSecond.toFixed(2)} requests a second`);
    for (const { user, verb, resource, perSecond } of requests) {
      lines.push(`  ${user.padEnd(15)} ${verb.padEnd(7)} ${resource.padEnd(28)} ${perSecond.toFixed(2)}`);
    }
    for (const [name, value] of Object.entries(cores)) {
      lines.push(`  ${name.padEnd(24)} ${value.toFixed(3)} cores, ${memory[name] ?? '?'} MiB`);
    }
  }
  const perObject = result.kibPerObject?.toFixed(0) ?? '?';
  lines.push(`driver and hook server: ${perObject} KiB for each Rollout, ImagePolicy, Kustomization and HealthCheck`);
  return `${lines.join('\n')}\n`;
}

await runBench({
  help: HELP,
  counts: { rollouts: 300, checks: 300, objects: 10, part: 3, seconds: 120 },
  measure,
  asText,
  budget,
});
