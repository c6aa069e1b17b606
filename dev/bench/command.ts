/** What the benches share as commands: options, a cluster of their own, text or JSON, an exit code. */
import { parseArgs } from 'node:util';
import type { LocalCluster } from '../local/cluster.ts';
import { logToStderr } from '../local/process/log.ts';
import { Problem } from '../local/process/problem.ts';
import { onTemporaryCluster } from '../local/temporaryCluster.ts';

export interface BudgetLine {
  name: string;
  value: number;
  limit: number;
}

export interface Bench<Counts extends Record<string, number>, Result> {
  help: string;
  /** The options that take a number, with their defaults. */
  counts: Counts;
  /** An option that takes several numbers: its name. */
  list?: string;
  measure(cluster: LocalCluster, counts: Counts, list: readonly number[]): Promise<Result>;
  asText(result: Result): string;
  /** Above a limit it ends with 1. */
  budget?(result: Result): BudgetLine[];
  /** False: nothing calls hooks, and statuses stay as they are written. */
  hooks?: false;
}

/** Ends the process: 0 after a measurement, 1 above the budget, or with a sentence without a measurement, 130 after Ctrl-C. Leaves nothing behind. */
export async function runBench<Counts extends Record<string, number>, Result>(
  bench: Bench<Counts, Result>,
): Promise<never> {
  const { values, counts, list } = readOptions(bench.counts, bench.list);
  if (values.help) {
    process.stdout.write(bench.help);
    process.exit(0);
  }
  const options = {
    prefix: 'rollout-hooks-bench-',
    metacontroller: values.metacontroller,
    plain: true,
    ...(bench.hooks === false && { hooks: false }),
  };
  const code = await onTemporaryCluster(options, async (cluster, interrupt) => {
    const result = await Promise.race([bench.measure(cluster, counts, list), interrupt, cluster.died]);
    if (!result) return 130;
    if (result instanceof Problem) throw result;
    const budget = bench.budget?.(result);
    const whole = budget ? { ...result, budget } : result;
    const text = () => bench.asText(result) + (budget ? asBudgetText(budget) : '');
    process.stdout.write(values.json ? `${JSON.stringify(whole, undefined, 2)}\n` : text());
    return budget?.some(isAbove) ? 1 : 0;
  });
  process.exit(code);
}

/** Ends the process with a sentence where the command line is wrong. */
function readOptions<Counts extends Record<string, number>>(defaults: Counts, listed?: string) {
  try {
    return parse(defaults, listed);
  } catch (error) {
    logToStderr((error as Error).message.split('. ')[0] ?? '');
    process.exit(1);
  }
}

function parse<Counts extends Record<string, number>>(defaults: Counts, listed?: string) {
  const names = [...Object.keys(defaults), ...(listed ? [listed] : [])];
  const numbers = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  const { values } = parseArgs({
    options: {
      ...numbers,
      json: { type: 'boolean' },
      metacontroller: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const given = values as Record<string, string | undefined>;
  const counts = Object.entries(defaults).map(([name, fallback]) => [name, countOf(name, given[name], fallback)]);
  const several = (listed && given[listed]?.split(',')) || [];
  const list = several.map((text) => countOf(listed ?? '', text, 0));
  return { values, counts: Object.fromEntries(counts) as Counts, list };
}

function countOf(option: string, text: string | undefined, fallback: number): number {
  const value = Number(text ?? fallback);
  if (!Number.isInteger(value) || value < 1 || value > 10_000)
    throw new Problem(`--${option} ${text} is not a number from 1 to 10000.`);
  return value;
}

// What is no number is above it, too.
const isAbove = ({ value, limit }: BudgetLine) => !(value <= limit);

function asBudgetText(budget: readonly BudgetLine[]): string {
  const lines = budget.map((line) => {
    const { name, value, limit } = line;
    return `  ${name.padEnd(48)} ${value.toFixed(2)} of ${limit.toFixed(2)}${isAbove(line) ? '   above it' : ''}`;
  });
  return `${['budget', ...lines].join('\n')}\n`;
}

/** Lines of a table: a name, a value. */
export function memoryLines(peakMemoryMiB: Record<string, number | undefined>): string[] {
  return [
    'peak memory',
    ...Object.entries(peakMemoryMiB).map(([process, mib]) => `  ${process.padEnd(24)} ${mib ?? '?'} MiB`),
  ];
}
