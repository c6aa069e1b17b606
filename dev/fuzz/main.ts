/** `npm run fuzz`: random inputs, until one fails. */
import { Option } from 'commander';
import { number, program, seedOf } from '../local/process/options.ts';
import { FAMILIES, type Family, fuzz, reportOf } from './fuzz.ts';

const ABOUT = `Sends generated inputs to the hooks and to admission, in this process: damaged requests, which must neither crash nor
hang them, and Rollouts in any state, whose answers it checks against a second implementation of the rules of docs/
(dev/reference). npm run sim tests changes over time. Stops at the first finding and prints the smallest input that
shows it.

Exits with 0 when nothing was found, 1 with a finding, 2 for a wrong option, 130 after Ctrl-C.`;

const PROGRESS_MS = 5000;

const { runs, seed, only, replay } = program('npm run fuzz --', ABOUT)
  .option('--runs <n>', 'how many inputs', number(1, 1e9), 10_000)
  .option('--seed <s>', 'where the generator starts; the same seed gives the same inputs', seedOf, Date.now() % 1e9)
  .addOption(new Option('--only <kind>', 'only this kind of inputs').choices(FAMILIES))
  .option('--replay <path>', 'with the --seed and --only of a finding: that one input again')
  .parse()
  .opts<{ runs: number; seed: number; only?: Family; replay?: string }>();

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
const found = await fuzz({ runs, seed, only, path: replay, onInput });
if (found.failed) {
  process.stdout.write(`${reportOf(found)}\n\n`);
  const family = only ? ` --only ${only}` : '';
  process.stdout.write(
    `To replay it: npm run fuzz -- --seed ${found.seed} --replay ${found.counterexamplePath}${family}\n`,
  );
} else {
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  const kinds = [...done].map(([family, count]) => `${count} ${family}`);
  process.stdout.write(`seed ${seed}, ${seconds} s, nothing found: ${kinds.join(', ')}\n`);
}
process.exit(found.failed ? 1 : 0);
