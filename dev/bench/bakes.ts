/** `node dev/bench/bakes.ts`: what releases cost that bake on HealthChecks, all Rollouts and checks in one namespace, and how that grows. */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { LocalCluster } from '../local/cluster.ts';
import { logToStderr } from '../local/process/log.ts';
import { type BudgetLine, runBench } from './command.ts';
import { type HealthFleet, healthFleet } from './fleets/health.ts';
import { cpuOf } from './measure.ts';
import { endOf, ours, type RequestCount, requestsSince } from './requests.ts';

const HELP = `Usage: node dev/bench/bakes.ts [--rollouts N] [--checks N] [--objects N] [--part N] [--json] [--metacontroller PATH]

Releases a version to N Rollouts at once, in one namespace with as many HealthChecks of class kustomization, which they bake on; Flux is
played. Prints requests and processor seconds for each release, once with a part of the fleet and once with all of it: the factor between
the two is the growth. Ends with 1 above its budget.

  --rollouts N           how many Rollouts (100)
  --checks N             how many HealthChecks, dealt out to them in turn (100)
  --objects N            ConfigMaps of each Kustomization (2)
  --part N               measure first with one Nth of Rollouts and HealthChecks; 1: with all of them only (4)
  --json                 print JSON instead of text
  --metacontroller PATH  drive the hooks with this Metacontroller instead of the engine (default: $METACONTROLLER)
  --help                 this text
`;

/** Of Metacontroller's and the hook server's processor time for each release, from the part to all of it. */
const GROWTH = 1.3;
/** Once everything is Healthy and baked, a check is looked at once more after its change. */
const TAIL_MS = 3_000;

interface Counts extends Record<string, number> {
  rollouts: number;
  checks: number;
  objects: number;
  part: number;
}

interface Measured {
  rollouts: number;
  checks: number;
  seconds: number;
  /** By whom, of driver and hook server. */
  requestsPerRelease: Record<string, number>;
  /** By process. */
  cpuPerRelease: Record<string, number>;
}

interface Result {
  driver: string;
  sizes: Measured[];
}

async function measure(cluster: LocalCluster, { rollouts, checks, objects, part }: Counts): Promise<Result> {
  const fleet = await healthFleet(cluster.accessOf('admin'), cluster.accessOf('flux'));
  const sizes: Measured[] = [];
  for (const share of part > 1 ? [part, 1] : [1]) {
    const size = { rollouts: Math.ceil(rollouts / share), checks: Math.ceil(checks / share), objects };
    logToStderr(`Settling ${size.rollouts} Rollouts and ${size.checks} HealthChecks`);
    await fleet.growTo(size);
    await wait(TAIL_MS);
    sizes.push({ ...size, ...(await released(cluster, fleet, size.rollouts, `1.${sizes.length + 1}.0`)) });
    logToStderr(`Released in ${sizes.at(-1)!.seconds.toFixed(1)} s`);
  }
  fleet.close();
  return { driver: cluster.driver()?.name ?? '', sizes };
}

async function released(cluster: LocalCluster, fleet: HealthFleet, rollouts: number, tag: string) {
  const log = join(cluster.dir, 'audit.log');
  const from = endOf(log);
  const before = cpuOf(cluster);
  const start = performance.now();
  await fleet.release(tag);
  const seconds = (performance.now() - start) / 1000;
  await wait(TAIL_MS);
  const requests = ours(await requestsSince(log, from));
  const byUser = Map.groupBy(requests, ({ user }) => user);
  const perRelease = (counts: RequestCount[]) => counts.reduce((sum, { count }) => sum + count, 0) / rollouts;
  const cpu = Object.entries(cpuOf(cluster)).map(([name, used]) => [name, (used - (before[name] ?? 0)) / rollouts]);
  return {
    seconds,
    requestsPerRelease: Object.fromEntries([...byUser].map(([user, counts]) => [user, perRelease(counts)])),
    cpuPerRelease: Object.fromEntries(cpu) as Record<string, number>,
  };
}

function budget({ driver, sizes }: Result): BudgetLine[] {
  const [first, last] = [sizes[0]!, sizes.at(-1)!];
  if (first === last) return [];
  const cost = ({ cpuPerRelease }: Measured) => (cpuPerRelease[driver] ?? 0) + (cpuPerRelease.hooks ?? 0);
  return [{ name: 'growth of processor time for each release', value: cost(last) / cost(first), limit: GROWTH }];
}

function asText({ driver, sizes }: Result): string {
  const lines = [`Releases that bake on HealthChecks, driven by ${driver}`];
  for (const { rollouts, checks, seconds, requestsPerRelease, cpuPerRelease } of sizes) {
    lines.push(`${rollouts} Rollouts, ${checks} HealthChecks: ${seconds.toFixed(1)} s; for each release`);
    for (const [user, count] of Object.entries(requestsPerRelease)) {
      lines.push(`  ${user.padEnd(24)} ${count.toFixed(1)} requests`);
    }
    for (const [name, cpu] of Object.entries(cpuPerRelease)) {
      lines.push(`  ${name.padEnd(24)} ${(cpu * 1000).toFixed(0)} ms of processor time`);
    }
  }
  return `${lines.join('\n')}\n`;
}

await runBench({
  help: HELP,
  counts: { rollouts: 100, checks: 100, objects: 2, part: 4 },
  measure,
  asText,
  budget,
});
