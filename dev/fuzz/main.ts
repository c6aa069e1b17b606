/** `npm run fuzz`: see options.ts. */
import { endRequested } from '../local/process/endRequested.ts';
import { readCommandLine } from '../local/process/options.ts';
import { HELP, type Options, parseFuzzOptions } from './options.ts';
import { type Failure, fuzz, type Progress, replay } from './run.ts';
import { Finding } from './world/finding.ts';

const PROGRESS_MS = 5000;

const say = (text: string) => process.stderr.write(`${text}\n`);

function report({ seed, path, smallest, message }: Failure, { only }: Options): void {
  const family = only ? ` --only ${only}` : '';
  process.stdout.write(`${message}\n\nThe smallest input that shows it (${smallest.family}):\n`);
  process.stdout.write(`${JSON.stringify(smallest.input, undefined, 2)}\n\n`);
  process.stdout.write(`To replay it: npm run fuzz -- --seed ${seed} --replay ${path}${family}\n`);
}

/** Answers the exit code. */
async function run(options: Options): Promise<number> {
  const { runs, seed, only } = options;
  const started = performance.now();
  let ending = false;
  let done: Progress = { runs: 0, perFamily: {} };
  let told = started;
  endRequested().then(() => {
    ending = true;
    say('Ending after this batch');
  });
  say(`${runs} runs, seed ${seed}`);
  const onBatch = async (progress: Progress) => {
    done = progress;
    if (performance.now() - told > PROGRESS_MS) {
      told = performance.now();
      say(`${progress.runs} of ${runs} runs, ${(progress.runs / ((told - started) / 1000)).toFixed(0)} a second`);
    }
    // Signals are heard between batches only.
    await new Promise((resolve) => setImmediate(resolve));
    return !ending;
  };
  const failure = await fuzz({ runs, seed, family: only, onBatch });
  if (failure) {
    report(failure, options);
    return 1;
  }
  const kinds = Object.entries(done.perFamily).map(([family, count]) => `${count} ${family}`);
  process.stdout.write(
    `${done.runs} runs from seed ${seed} in ${((performance.now() - started) / 1000).toFixed(0)} s, nothing found: ${kinds.join(', ')}\n`,
  );
  return ending ? 130 : 0;
}

async function main(): Promise<number> {
  const options = readCommandLine(HELP, (args) => parseFuzzOptions(args, Date.now));
  try {
    if (options.replay === undefined) return await run(options);
    const failure = await replay(options.seed, options.replay, options.only);
    if (failure) report(failure, options);
    else say('This input shows nothing any more.');
    return failure ? 1 : 0;
  } catch (error) {
    say(error instanceof Finding ? error.message : ((error as Error).stack ?? String(error)));
    return 1;
  }
}

process.exit(await main());
