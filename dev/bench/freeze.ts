/** `node dev/bench/freeze.ts`: how long closing one Gate takes to suspend every object that requires it, and opening to restore each. */
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { User } from '../actors/user.ts';
import type { AnyObject } from '../client/send.ts';
import type { LocalCluster } from '../local/cluster.ts';
import { hooksHost } from '../local/monitoring/prometheus.ts';
import { logToStderr } from '../local/process/log.ts';
import { Problem } from '../local/process/problem.ts';
import { type BudgetLine, memoryLines, runBench } from './command.ts';
import { type Arrivals, watchArrivals } from './fleets/arrivals.ts';
import { type Fleet, fleet } from './fleets/gated.ts';
import { cpuOf, hookCalls, peakMemoryMiB } from './measure.ts';
import { endOf, ours, requestsSince } from './requests.ts';

/** Of a thousand objects. */
const CLOSE_SECONDS = 10;
const OPEN_SECONDS = 12;

const HELP = `Usage: node dev/bench/freeze.ts [--objects N] [--rounds N] [--json] [--metacontroller PATH]

Closes one Gate that N Flux objects require, and opens it again. Prints the time until the last of them is suspended, the time until each
is exactly what it was, processor time and requests for each object, the same after ten flips in fifteen seconds, and the peak memory of each process. Ends with 1
above its budget: ${CLOSE_SECONDS} s to suspend a thousand, ${OPEN_SECONDS} s to restore them, and in proportion.

  --objects N            how many objects (1000)
  --rounds N             how often (3)
  --json                 print JSON instead of text
  --metacontroller PATH  drive the hooks with this Metacontroller instead of the engine (default: $METACONTROLLER)
  --help                 this text
`;

const PATIENCE_MS = 300_000;
const FLIPS = 10;
const FLIP_EVERY_MS = 1500;

interface Result {
  objects: number;
  driver: string;
  rounds: { closeSeconds: number; openSeconds: number }[];
  /** Of each process, for one closing and one opening of one object. */
  cpuMilliseconds: Record<string, number>;
  /** Of hooks and webhooks, by route, for one closing and one opening. */
  hookCalls: Record<string, number>;
  /** By who asked for what, for one closing and one opening. */
  requests: { user: string; verb: string; resource: string; perObject: number }[];
  /** From the last of ten flips in fifteen seconds until each object is what it was. */
  afterFlipsSeconds: number;
  peakMemoryMiB: Record<string, number | undefined>;
}

/** One collection with objects of the fleet, and how many are in it. */
interface Watched {
  arrivals: Arrivals;
  count: number;
}

async function timed(all: Fleet, watches: Watched[], action: 'open' | 'close'): Promise<number> {
  const start = performance.now();
  await all.ask(action);
  await allReach(watches, action === 'close' ? all.isHeld : all.isAsBefore);
  return (performance.now() - start) / 1000;
}

async function allReach(watches: Watched[], state: (object: AnyObject) => boolean): Promise<void> {
  await Promise.all(watches.map(({ arrivals, count }) => arrivals.all(count, state, PATIENCE_MS)));
}

async function flipped(all: Fleet, watches: Watched[]): Promise<number> {
  for (let flip = 0; flip < FLIPS; flip++) {
    await all.ask(flip % 2 === 0 ? 'close' : 'open');
    if (flip < FLIPS - 1) await wait(FLIP_EVERY_MS);
  }
  const start = performance.now();
  await allReach(watches, all.isAsBefore);
  const seconds = (performance.now() - start) / 1000;
  // A late answer to an early flip would show now.
  await wait(3000);
  const still = await all.asBefore();
  if (still !== all.objects.length)
    throw new Problem(`${all.objects.length - still} objects changed after the last flip.`);
  return seconds;
}

async function measure(cluster: LocalCluster, objects: number, rounds: number): Promise<Result> {
  const all = fleet(cluster.accessOf('admin'), 'bench', objects);
  logToStderr(`Creating ${objects} Flux objects that require one Gate`);
  await all.create();
  const watches = await Promise.all(
    (await all.collections()).map(async ({ path, count }) => ({
      arrivals: watchArrivals(cluster.accessOf('admin'), path),
      count,
    })),
  );
  const results: Result['rounds'] = [];
  const log = join(cluster.dir, 'audit.log');
  const from = endOf(log);
  const host = await hooksHost(new User(cluster.accessOf('admin')));
  const callsBefore = await hookCalls(host);
  const cpuBefore = cpuOf(cluster);
  for (let round = 1; round <= rounds; round++) {
    const closeSeconds = await timed(all, watches, 'close');
    const openSeconds = await timed(all, watches, 'open');
    results.push({ closeSeconds, openSeconds });
    logToStderr(`Round ${round}: closed in ${closeSeconds.toFixed(1)} s, opened in ${openSeconds.toFixed(1)} s`);
  }
  const used = Object.entries(cpuOf(cluster)).map(
    ([process, cpu]) => [process, cpu - (cpuBefore[process] ?? 0)] as const,
  );
  const counted = ours(await requestsSince(log, from));
  const requests = counted.map(({ count, ...what }) => ({ ...what, perObject: count / objects / rounds }));
  const calls = [...(await hookCalls(host))].map(
    ([route, count]) => [route, (count - (callsBefore.get(route) ?? 0)) / objects / rounds] as const,
  );
  const afterFlipsSeconds = await flipped(all, watches);
  logToStderr(`After ten flips: ${afterFlipsSeconds.toFixed(1)} s`);
  for (const { arrivals } of watches) arrivals.close();
  const memory = Object.fromEntries(cluster.children().map((child) => [child.name, peakMemoryMiB(child.pid)]));
  return {
    objects,
    driver: cluster.driver()?.name ?? '',
    rounds: results,
    cpuMilliseconds: Object.fromEntries(used.map(([process, cpu]) => [process, (cpu * 1000) / objects / rounds])),
    hookCalls: Object.fromEntries(calls.filter(([, perObject]) => perObject >= 0.05)),
    requests: requests.filter(({ perObject }) => perObject >= 0.05),
    afterFlipsSeconds,
    peakMemoryMiB: memory,
  };
}

function budget({ objects, rounds }: Result): BudgetLine[] {
  const best = (seconds: (round: Result['rounds'][number]) => number) => Math.min(...rounds.map(seconds));
  const limit = (seconds: number) => (seconds * objects) / 1000;
  return [
    { name: 'seconds until all are suspended', value: best((r) => r.closeSeconds), limit: limit(CLOSE_SECONDS) },
    { name: 'seconds until all are restored', value: best((r) => r.openSeconds), limit: limit(OPEN_SECONDS) },
  ];
}

function asText(result: Result): string {
  const lines = [`${result.objects} objects behind one gate, driven by ${result.driver}`];
  result.rounds.forEach(({ closeSeconds, openSeconds }, i) => {
    lines.push(
      `  round ${i + 1}: all suspended in ${closeSeconds.toFixed(1)} s, all restored in ${openSeconds.toFixed(1)} s`,
    );
  });
  lines.push(`  after ten flips in fifteen seconds: all as they were in ${result.afterFlipsSeconds.toFixed(1)} s`);
  lines.push('processor time of one closing and one opening, for each object');
  for (const [process, ms] of Object.entries(result.cpuMilliseconds))
    lines.push(`  ${process.padEnd(24)} ${ms.toFixed(1)} ms`);
  lines.push('calls of hooks in one closing and one opening, for each object');
  for (const [route, calls] of Object.entries(result.hookCalls))
    lines.push(`  ${route.padEnd(24)} ${calls.toFixed(2)}`);
  lines.push('requests of one closing and one opening, for each object');
  for (const { user, verb, resource, perObject } of result.requests) {
    lines.push(`  ${user.padEnd(15)} ${verb.padEnd(7)} ${resource.padEnd(28)} ${perObject.toFixed(2)}`);
  }
  lines.push(...memoryLines(result.peakMemoryMiB));
  return `${lines.join('\n')}\n`;
}

await runBench({
  help: HELP,
  counts: { objects: 1000, rounds: 3 },
  measure: (cluster, { objects, rounds }) => measure(cluster, objects, rounds),
  asText,
  budget,
});
