/** What the benches share as commands: options, a cluster of their own, text or JSON, an exit code. */
import type { LocalCluster } from '../local/cluster.ts';
import { numberOf, parseOptions, readCommandLine } from '../local/process/options.ts';
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

/** Ends the process: 0 after a measurement, 1 above the budget, or with a sentence without a measurement, 2 for a wrong option, 130 after Ctrl-C. Leaves nothing behind. */
export async function runBench<Counts extends Record<string, number>, Result>(
  bench: Bench<Counts, Result>,
): Promise<never> {
  const { values, counts, list } = readCommandLine(bench.help, (args) => read(args, bench.counts, bench.list));
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

function read<Counts extends Record<string, number>>(args: string[], defaults: Counts, listed?: string) {
  const names = [...Object.keys(defaults), ...(listed ? [listed] : [])];
  const numbers = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  const { values } = parseOptions({
    args,
    options: { ...numbers, json: { type: 'boolean' }, metacontroller: { type: 'string' } },
  });
  const given = values as Record<string, string | undefined>;
  const counts = Object.entries(defaults).map(([name, fallback]) => [
    name,
    countOf(name, given[name] ?? `${fallback}`),
  ]);
  const several = (listed && given[listed]?.split(',')) || [];
  const list = several.map((text) => countOf(listed ?? '', text));
  return { values, counts: Object.fromEntries(counts) as Counts, list };
}

const countOf = (name: string, text: string) => numberOf(`--${name}`, text, { least: 1, most: 10_000 });

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
