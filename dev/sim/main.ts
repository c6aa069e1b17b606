/** `npm run sim`: see options.ts. */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { endRequested } from '../local/process/endRequested.ts';
import { logToStderr } from '../local/process/log.ts';
import { readCommandLine } from '../local/process/options.ts';
import { HELP, type Options, parseSimOptions } from './options.ts';
import { playable } from './scenarios.ts';
import type { Result, Task } from './worker.ts';

const PROGRESS_MS = 5000;
const HOUR_MS = 3_600_000;

/** Plays everything on all processors. Resolves with the exit code. */
async function run({ seeds: asked, seed, steps, scenarios }: Options): Promise<number> {
  const seeds = scenarios ? playable().length : asked;
  const what = scenarios ? 'scenarios' : 'seeds';
  const started = performance.now();
  let reported = started;
  let next = 0;
  let done = 0;
  let runs = 0;
  let virtualMs = 0;
  let deployments = 0;
  const speed = () => {
    const seconds = (performance.now() - started) / 1000;
    const hours = virtualMs / HOUR_MS;
    return `${(runs / seconds).toFixed(1)} runs a second, ${((hours / seconds) * 60).toFixed(0)} fleet-hours a minute`;
  };
  const ended = Promise.withResolvers<number>();
  endRequested().then(() => {
    process.stdout.write(`Ended after ${done} ${what}, nothing found: ${speed()}\n`);
    ended.resolve(130);
  });

  const take = (worker: Worker, result: Result) => {
    if (result.is === 'failing') logToStderr(`Seed ${result.seed} fails: looking for a shorter run`);
    if (result.is === 'failed') {
      process.stdout.write(result.text);
      ended.resolve(1);
    }
    if (result.is !== 'played') return;
    done += 1;
    runs += result.runs;
    virtualMs += result.virtualMs;
    deployments += result.deployments;
    if (performance.now() - reported > PROGRESS_MS) {
      reported = performance.now();
      logToStderr(`${done} of ${seeds} ${what}, ${speed()}`);
    }
    if (done === seeds) {
      process.stdout.write(
        `${done} ${what}${scenarios ? '' : ` from ${seed}`}, ${runs} runs, ${deployments} deployments, nothing found: ${speed()}\n`,
      );
      ended.resolve(0);
    }
    handOut(worker);
  };
  const handOut = (worker: Worker) => {
    if (next >= seeds) return;
    worker.postMessage((scenarios ? { scenario: next } : { seed: seed + next }) satisfies Task);
    next++;
  };
  const workers = Array.from({ length: Math.min(availableParallelism(), seeds) }, () => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: { steps } });
    worker.on('message', (result: Result) => take(worker, result));
    worker.on('error', ended.reject);
    handOut(worker);
    return worker;
  });
  const code = await ended.promise;
  await Promise.all(workers.map((worker) => worker.terminate()));
  return code;
}

process.exit(await run(readCommandLine(HELP, (args) => parseSimOptions(args, Date.now))));
