/** `npm run sim`: plays seeds or scenarios on all processors. */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { endRequested } from '../local/process/endRequested.ts';
import { logToStderr } from '../local/process/log.ts';
import { number, program, seedOf } from '../local/process/options.ts';
import { playable } from './scenarios.ts';
import type { Result, Task } from './worker.ts';

const ABOUT = `Runs hooks, admission, a driver with Metacontroller's semantics and an API server in this process, on virtual time.
A seed decides everything: what users, Git syncs, pipelines and Flux do, how long each message takes, which events are
late, and when hook servers, driver and API server die. Checks everything that was stored with dev/oracle: closed Gates
hold, histories only grow, budgets and approvals are kept, outcomes of bakes have a cause. In a fifth of the seeds Pods
run, and the outcome of each deployment must be that of its version. At the end every Gate opens,
every object must get its newest version, and then nothing may be written. Stops at the first seed that fails, and
prints a shorter run that fails in the same way.

Exits with 0 when nothing was found, 1 with a finding, 2 for a wrong option, 130 after Ctrl-C.`;

const PROGRESS_MS = 5000;
const HOUR_MS = 3_600_000;

interface Options {
  seeds: number;
  seed: number;
  steps: number;
  scenarios?: true;
}

function read(): Options {
  const { seed, scenarios, ...options } = program('npm run sim --', ABOUT)
    .option('--seeds <n>', 'how many seeds (1000; with --seed 1)', number(1, 1e9))
    .option('--seed <s>', 'the first of them (from the clock); alone it replays one seed', seedOf)
    .option('--steps <n>', 'how many steps each has: user actions and faults', number(1, 10_000), 60)
    .option(
      '--scenarios',
      'play the scenarios of test/scenario/rollout instead: each as it is, then with a crash and with a stale cache at every write',
    )
    .parse()
    .opts<Partial<Options> & Pick<Options, 'steps'>>();
  const { steps, seeds = seed === undefined ? 1000 : 1 } = options;
  return {
    seeds: scenarios ? playable().length : seeds,
    seed: seed ?? Date.now() % 1e9,
    steps,
    ...(scenarios && { scenarios }),
  };
}

/** Plays everything on all processors. Resolves with the exit code. */
async function run({ seeds, seed, steps, scenarios }: Options): Promise<number> {
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

process.exit(await run(read()));
