/** The command line of the fuzzer. */
import { parseArgs } from 'node:util';
import { FAMILIES, type Family } from './cases.ts';

export const HELP = `Usage: npm run fuzz -- [--runs N] [--seed S] [--only KIND] [--replay PATH]

Sends generated inputs to the hooks, to admission and to the receiver, in this process, and checks the answers against a second, naive
implementation of the rules of docs/ (dev/fuzz/naive). Looks for crashes, hangs, writes that should have been refused, and memory that grows.
Stops at the first finding and prints the smallest input that shows it.

  --runs N       how many inputs (10000)
  --seed S       where the generator starts (from the clock); the same seed gives the same inputs
  --only KIND    only ${FAMILIES.join(', ')}
  --replay PATH  with the --seed and --only of a finding: that one input again
  --help         this text

Exits with 0 when nothing was found, 1 with a finding, 2 for a wrong option, 130 after Ctrl-C.
`;

export interface Options {
  runs: number;
  seed: number;
  only: Family | undefined;
  replay: string | undefined;
  help: boolean;
}

export class UsageError extends Error {}

export function parseOptions(args: string[], clock: () => number): Options {
  const { runs, seed, only, replay, help = false } = parse(args);
  if (only !== undefined && !FAMILIES.includes(only as Family))
    throw new UsageError(`--only ${only} is not one of ${FAMILIES.join(', ')}`);
  if (replay !== undefined && (seed === undefined || !/^\d+(:\d+)*$/.test(replay)))
    throw new UsageError('--replay takes the path of a finding, such as 12:0:1, and its --seed beside it');
  return {
    runs: numberOf('--runs', runs ?? '10000', 1, 1e9),
    seed: numberOf('--seed', seed ?? String(clock() % 1e9), 0, 2 ** 31 - 1),
    only: only as Family | undefined,
    replay,
    help,
  };
}

function parse(args: string[]) {
  const text = { type: 'string' } as const;
  try {
    const options = {
      runs: text,
      seed: text,
      only: text,
      replay: text,
      help: { type: 'boolean', short: 'h' },
    } as const;
    return parseArgs({ args, options }).values;
  } catch (error) {
    throw new UsageError((error as Error).message.split('. ')[0]);
  }
}

function numberOf(option: string, text: string, least: number, most: number): number {
  const value = /^\d{1,12}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new UsageError(`${option} ${text} is not a whole number from ${least} to ${most}`);
}
