/** The command line of the fuzzer. */
import { numberOf, parseOptions, UsageError } from '../local/process/options.ts';
import { FAMILIES, type Family } from './cases.ts';

export const HELP = `Usage: npm run fuzz -- [--runs N] [--seed S] [--only KIND] [--replay PATH]

Sends generated inputs to the hooks and to admission, in this process: requests with anything wrong in them, which must neither crash nor hang
them, and Rollouts and schedules in any state, whose answers it checks against a second, naive implementation of the rules of docs/
(dev/reference). What happens to objects over time is for npm run sim. Stops at the first finding and prints the smallest input that shows it.

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
}

export function parseFuzzOptions(args: string[], clock: () => number): Options {
  const text = { type: 'string' } as const;
  const { values } = parseOptions({ args, options: { runs: text, seed: text, only: text, replay: text } });
  const { runs = '10000', seed, only, replay } = values;
  if (only !== undefined && !FAMILIES.includes(only as Family))
    throw new UsageError(`--only ${only} is not one of ${FAMILIES.join(', ')}.`);
  if (replay !== undefined && (seed === undefined || !/^\d+(:\d+)*$/.test(replay)))
    throw new UsageError('--replay takes the path of a finding, such as 12:0:1, and its --seed beside it.');
  return {
    runs: numberOf('--runs', runs, { least: 1, most: 1e9 }),
    seed: numberOf('--seed', seed ?? String(clock() % 1e9), { least: 0, most: 2 ** 31 - 1 }),
    only: only as Family | undefined,
    replay,
  };
}
