/** `npm run bench`: how long a new version takes to reach every Kustomization, and what it costs. */
import { join } from 'node:path';
import type { LocalCluster } from '../local/cluster.ts';
import { logToStderr } from '../local/process/log.ts';
import { type BudgetLine, memoryLines, runBench } from './command.ts';
import { populate, populateApplier, release, watchKustomizations } from './fleets/releases.ts';
import { cpuOf, peakMemoryMiB } from './measure.ts';
import { endOf, ours, requestsSince, untilQuiet } from './requests.ts';

/** Of the processor time per release, from the smallest fleet to the largest. */
const GROWTH = 1.5;

const HELP = `Usage: npm run bench -- [--rollouts N] [--scale N,N…] [--rounds N] [--json] [--metacontroller PATH]

Releases a new version to N Rollouts at once, each with an ImagePolicy and a Kustomization of its own, and prints the time until the last
Kustomization has it, what a release costs in requests and processor time, and the memory of each process. With --scale for several N,
growing, and ends with 1 where a release of the largest fleet costs more than ${GROWTH} times what one of the smallest does.

  --rollouts N           how many Rollouts (500)
  --scale N,N…           how many, one after the other: 500,1500,5000
  --rounds N             how many versions, one after the other; the first deployment is not counted (3)
  --json                 print JSON instead of text
  --metacontroller PATH  drive the hooks with this Metacontroller instead of the engine (default: $METACONTROLLER)
  --help                 this text
`;

interface Round {
  seconds: number;
  requestsPerRelease: number;
  /** By process: what a busy machine falsifies least. */
  cpuSeconds: Record<string, number>;
}

interface Size {
  rollouts: number;
  rounds: Round[];
  bestSeconds: number;
  /** Of all processes, in the best round. */
  cpuMillisecondsPerRelease: number;
  /** By who asked for what, in the last round. */
  requests: { user: string; verb: string; resource: string; perRelease: number }[];
  peakMemoryMiB: Record<string, number | undefined>;
}

interface Result {
  driver: string;
  sizes: Size[];
}

async function measure(cluster: LocalCluster, scale: readonly number[], rounds: number): Promise<Result> {
  const admin = cluster.accessOf('admin');
  await populateApplier(admin);
  const sizes: Size[] = [];
  for (const rollouts of scale) sizes.push(await sized(cluster, rollouts, sizes.at(-1)?.rollouts ?? 0, rounds));
  return { driver: cluster.driver()?.name ?? '', sizes };
}

async function sized(cluster: LocalCluster, rollouts: number, before: number, rounds: number): Promise<Size> {
  const admin = cluster.accessOf('admin');
  const log = join(cluster.dir, 'audit.log');
  const indexes = Array.from({ length: rollouts }, (_, i) => i);
  logToStderr(`Creating ${rollouts - before} Rollouts, each with an ImagePolicy and a Kustomization`);
  await populate(admin, indexes.slice(before));
  const kustomizations = watchKustomizations(admin);
  const version = (round: number) => `${rollouts}.${round}.0`;
  logToStderr(`First deployment: ${(await release(admin, kustomizations, indexes, version(0))).toFixed(1)} s`);
  const results: Round[] = [];
  let requests: Size['requests'] = [];
  for (let round = 1; round <= rounds; round++) {
    await untilQuiet(log);
    const from = endOf(log);
    const cpuBefore = cpuOf(cluster);
    const seconds = await release(admin, kustomizations, indexes, version(round));
    // Work after the last arrival counts too.
    await untilQuiet(log);
    const used = Object.entries(cpuOf(cluster)).map(([process, cpu]) => [process, cpu - (cpuBefore[process] ?? 0)]);
    const counted = ours(await requestsSince(log, from));
    requests = counted.map(({ count, ...what }) => ({ ...what, perRelease: count / rollouts }));
    const requestsPerRelease = requests.reduce((sum, { perRelease }) => sum + perRelease, 0);
    results.push({ seconds, requestsPerRelease, cpuSeconds: Object.fromEntries(used) });
    logToStderr(`Round ${round}: ${seconds.toFixed(1)} s`);
  }
  kustomizations.close();
  const cpuOfRound = (round: Round) => Object.values(round.cpuSeconds).reduce((a, b) => a + b, 0);
  return {
    rollouts,
    rounds: results,
    bestSeconds: Math.min(...results.map(({ seconds }) => seconds)),
    cpuMillisecondsPerRelease: (Math.min(...results.map(cpuOfRound)) / rollouts) * 1000,
    requests: requests.filter(({ perRelease }) => perRelease >= 0.05),
    peakMemoryMiB: Object.fromEntries(cluster.children().map((child) => [child.name, peakMemoryMiB(child.pid)])),
  };
}

function budget({ sizes }: Result): BudgetLine[] {
  const [first, last] = [sizes[0], sizes.at(-1)];
  if (!first || !last || first === last) return [];
  const value = last.cpuMillisecondsPerRelease / first.cpuMillisecondsPerRelease;
  return [{ name: `processor time per release, ${last.rollouts} to ${first.rollouts}`, value, limit: GROWTH }];
}

function asText({ driver, sizes }: Result): string {
  return `${sizes.flatMap((size) => sizeLines(size, driver)).join('\n')}\n`;
}

function sizeLines({ rollouts, rounds, requests, ...size }: Size, driver: string): string[] {
  const last = rounds.at(-1);
  const perRelease = (seconds: number) => `${((seconds / rollouts) * 1000).toFixed(1)} ms per release`;
  return [
    `${rollouts} releases at once, driven by ${driver}: ${size.cpuMillisecondsPerRelease.toFixed(1)} ms of processor time per release`,
    ...rounds.map(({ seconds, requestsPerRelease }, i) => {
      const rate = (rollouts / seconds).toFixed(0);
      return `  round ${i + 1}: ${seconds.toFixed(1)} s (${rate} per second), ${requestsPerRelease.toFixed(1)} requests per release`;
    }),
    'processor time of the last round',
    ...Object.entries(last?.cpuSeconds ?? {}).map(
      ([process, cpu]) => `  ${process.padEnd(24)} ${cpu.toFixed(1)} s, ${perRelease(cpu)}`,
    ),
    'requests per release of the last round',
    ...requests.map(
      ({ user, verb, resource, perRelease }) =>
        `  ${user.padEnd(15)} ${verb.padEnd(7)} ${resource.padEnd(28)} ${perRelease.toFixed(2)}`,
    ),
    ...memoryLines(size.peakMemoryMiB),
  ];
}

await runBench({
  help: HELP,
  counts: { rollouts: 500, rounds: 3 },
  list: 'scale',
  measure: (cluster, { rollouts, rounds }, scale) => measure(cluster, scale.length > 0 ? scale : [rollouts], rounds),
  asText,
  budget,
});
