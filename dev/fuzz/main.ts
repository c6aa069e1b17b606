/** `npm run fuzz`: random inputs, until one fails. */
import { numberOf, parseOptions, readCommandLine, UsageError } from '../local/process/options.ts';
import { FAMILIES, type Family, fuzz } from './fuzz.ts';

const HELP = `Usage: npm run fuzz -- [--runs N] [--seed S] [--only KIND] [--replay PATH]

Sends generated inputs to the hooks and to admission, in this process: damaged requests, which must neither crash nor hang them, and Rollouts and
schedules in any state, whose answers it checks against a second implementation of the rules of docs/ (dev/reference). npm run sim tests changes
over time. Stops at the first finding and prints the smallest input that shows it.

  --runs N       how many inputs (10000)
  --seed S       where the generator starts (from the clock); the same seed gives the same inputs
  --only KIND    only ${FAMILIES.join(', ')}
  --replay PATH  with the --seed and --only of a finding: that one input again
  --help         this text

Exits with 0 when nothing was found, 1 with a finding, 2 for a wrong option, 130 after Ctrl-C.
`;

const PROGRESS_MS = 5000;

const { runs, seed, only, path } = readCommandLine(HELP, (args) => {
  const text = { type: 'string' } as const;
  const { values } = parseOptions({ args, options: { runs: text, seed: text, only: text, replay: text } });
  const { runs = '10000', seed = String(Date.now() % 1e9), only, replay } = values;
  if (only !== undefined && !FAMILIES.includes(only as Family))
    throw new UsageError(`--only ${only} is not one of ${FAMILIES.join(', ')}.`);
  if (replay !== undefined && (values.seed === undefined || !/^\d+(:\d+)*$/.test(replay)))
    throw new UsageError('--replay takes the path of a finding, such as 12:0:1, together with its --seed.');
  return {
    runs: numberOf('--runs', runs, { least: 1, most: 1e9 }),
    seed: numberOf('--seed', seed, { least: 0, most: 2 ** 31 - 1 }),
    only: only as Family | undefined,
    path: replay,
  };
});

const started = performance.now();
const done = new Map<Family, number>();
let reported = started;

function onInput(family: Family): void {
  done.set(family, (done.get(family) ?? 0) + 1);
  if (performance.now() - reported < PROGRESS_MS) return;
  reported = performance.now();
  const count = [...done.values()].reduce((a, b) => a + b, 0);
  const speed = count / ((reported - started) / 1000);
  process.stderr.write(`${count} of ${runs} runs, ${speed.toFixed(0)} a second\n`);
}

process.stderr.write(`${runs} runs, seed ${seed}\n`);
const failure = await fuzz({ runs, seed, only, path, onInput });
if (failure) {
  const { message, smallest } = failure;
  process.stdout.write(`${message}\n\nThe smallest input that shows it (${smallest.family}):\n`);
  process.stdout.write(`${JSON.stringify(smallest.input, undefined, 2)}\n\n`);
  const family = only ? ` --only ${only}` : '';
  process.stdout.write(`To replay it: npm run fuzz -- --seed ${failure.seed} --replay ${failure.path}${family}\n`);
} else {
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  const kinds = [...done].map(([family, count]) => `${count} ${family}`);
  process.stdout.write(`seed ${seed}, ${seconds} s, nothing found: ${kinds.join(', ')}\n`);
}
process.exit(failure ? 1 : 0);
