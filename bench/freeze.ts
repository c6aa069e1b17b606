/** `node bench/freeze.ts`: how long closing one Gate takes to suspend every object that requires it, and opening to restore each. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { AnyObject } from '../local/client.ts';
import { type LocalCluster, startCluster } from '../local/cluster.ts';
import { logToStderr } from '../local/log.ts';
import { asProblem, Problem } from '../local/problem.ts';
import { type Arrivals, watchArrivals } from './arrivals.ts';
import { type Fleet, fleet } from './fleet.ts';
import { peakMemoryMiB } from './measure.ts';

const HELP = `Usage: node bench/freeze.ts [--objects N] [--rounds N] [--json] [--metacontroller PATH]

Closes one Gate that N Flux objects require, and opens it again. Prints the time until the last of them is suspended, the time until each
is exactly what it was, the same after ten flips in fifteen seconds, and the peak memory of each process.

  --objects N            how many objects (1000)
  --rounds N             how often (3)
  --json                 print JSON instead of text
  --metacontroller PATH  drive the hooks with this Metacontroller instead of the engine (default: $METACONTROLLER)
`;

const PATIENCE_MS = 300_000;
const FLIPS = 10;
const FLIP_EVERY_MS = 1500;

interface Result {
  objects: number;
  driver: string;
  rounds: { closeSeconds: number; openSeconds: number }[];
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
      arrivals: await watchArrivals(cluster.accessOf('admin'), path),
      count,
    })),
  );
  const results: Result['rounds'] = [];
  for (let round = 1; round <= rounds; round++) {
    const closeSeconds = await timed(all, watches, 'close');
    const openSeconds = await timed(all, watches, 'open');
    results.push({ closeSeconds, openSeconds });
    logToStderr(`Round ${round}: closed in ${closeSeconds.toFixed(1)} s, opened in ${openSeconds.toFixed(1)} s`);
  }
  const afterFlipsSeconds = await flipped(all, watches);
  logToStderr(`After ten flips: ${afterFlipsSeconds.toFixed(1)} s`);
  for (const { arrivals } of watches) arrivals.close();
  const memory = Object.fromEntries(cluster.children().map((child) => [child.name, peakMemoryMiB(child.pid)]));
  return { objects, driver: cluster.driver()?.name ?? '', rounds: results, afterFlipsSeconds, peakMemoryMiB: memory };
}

function asText(result: Result): string {
  const lines = [`${result.objects} objects behind one gate, driven by ${result.driver}`];
  result.rounds.forEach(({ closeSeconds, openSeconds }, i) => {
    lines.push(
      `  round ${i + 1}: all suspended in ${closeSeconds.toFixed(1)} s, all restored in ${openSeconds.toFixed(1)} s`,
    );
  });
  lines.push(`  after ten flips in fifteen seconds: all as they were in ${result.afterFlipsSeconds.toFixed(1)} s`);
  lines.push('peak memory');
  for (const [process, mib] of Object.entries(result.peakMemoryMiB))
    lines.push(`  ${process.padEnd(24)} ${mib ?? '?'} MiB`);
  return `${lines.join('\n')}\n`;
}

function count(text: string | undefined, fallback: number, option: string): number {
  const value = Number(text ?? fallback);
  if (!Number.isInteger(value) || value < 1 || value > 10_000)
    throw new Problem(`${option} ${text} is not a number from 1 to 10000.`);
  return value;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      objects: { type: 'string' },
      rounds: { type: 'string' },
      json: { type: 'boolean' },
      metacontroller: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const dir = mkdtempSync(join(tmpdir(), 'rollout-hooks-bench-'));
  let cluster: LocalCluster | undefined;
  const interrupt = new Promise<undefined>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve(undefined));
  });
  try {
    const objects = count(values.objects, 1000, '--objects');
    const rounds = count(values.rounds, 3, '--rounds');
    cluster = await startCluster({
      dir,
      metacontroller: values.metacontroller ?? process.env.METACONTROLLER,
      log: logToStderr,
    });
    const end = await Promise.race([measure(cluster, objects, rounds), interrupt, cluster.died]);
    if (!end) return 130;
    if (end instanceof Problem) throw end;
    process.stdout.write(values.json ? `${JSON.stringify(end, undefined, 2)}\n` : asText(end));
    return 0;
  } catch (error) {
    const problem = asProblem(error, dir);
    logToStderr(problem.message);
    for (const detail of problem.details) logToStderr(`  ${detail}`);
    return 1;
  } finally {
    await cluster?.stop();
    rmSync(dir, { recursive: true, force: true });
  }
}

process.exit(await main());
