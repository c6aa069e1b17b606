/** Plays the seeds or scenarios that main.ts hands out, in a thread of its own. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Outcome } from './findings.ts';
import { type Plan, planOf } from './plan.ts';
import { play } from './play.ts';
import { faultsOf, playable, replay } from './scenarios.ts';
import { type Shrunk, shrink, withoutNumbers } from './shrink.ts';
import { timeline, timeOf } from './timeline.ts';

/** A message of main.ts: the seed to play, or the index of the scenario. */
export type Task = { seed: number } | { scenario: number };

export type Result =
  | { is: 'played'; runs: number; virtualMs: number; deployments: number }
  /** The seed fails; `failed` follows, with a shorter run. */
  | { is: 'failing'; seed: number }
  | { is: 'failed'; text: string };

/** The longest time spent on shortening a failing run. */
const SHRINK_MS = 60_000;

const { steps } = workerData as { steps: number };
const report = (result: Result) => parentPort!.postMessage(result);

parentPort!.on('message', async (task: Task) => {
  if ('scenario' in task) return report(await playScenario(task.scenario));
  const plan = planOf(task.seed, steps);
  const outcome = await play(plan);
  if (outcome.violations.length > 0) return report(await failure(plan, outcome));
  report({ is: 'played', runs: 1, virtualMs: outcome.virtualMs * plan.teams.length, deployments: outcome.deployments });
});

/** Plays a scenario unchanged, and with each fault at each write. */
async function playScenario(index: number): Promise<Result> {
  const scenario = playable()[index]!;
  const plain = await replay(scenario);
  let { virtualMs } = plain;
  const faults = faultsOf(plain.writes);
  // The oracle covers the settings of dev/chaos only: what it reports without a fault is no finding.
  const known = new Set(plain.violations.map(withoutNumbers));
  for (const fault of faults) {
    const { violations, virtualMs: took } = await replay(scenario, fault);
    virtualMs += took;
    const problems = violations.filter((text) => !known.has(withoutNumbers(text)));
    if (problems.length === 0) continue;
    const what = `Scenario '${scenario.id ?? scenario.title}' fails with a ${fault.is} at write ${fault.at} of the driver:`;
    return { is: 'failed', text: [what, ...problems.slice(0, 5), ''].join('\n') };
  }
  return { is: 'played', runs: faults.length + 1, virtualMs, deployments: plain.history.length };
}

async function failure(plan: Plan, outcome: Outcome): Promise<Result> {
  report({ is: 'failing', seed: plan.seed });
  const until = performance.now() + SHRINK_MS;
  return { is: 'failed', text: textOf(await shrink(plan, outcome, () => performance.now() < until)) };
}

function textOf({ plan, outcome: { violations, cluster, begin, convergedMs } }: Shrunk): string {
  return [
    `Seed ${plan.seed} fails:`,
    ...violations.slice(0, 5),
    '',
    `A run of ${plan.steps.length} steps that fails in the same way:`,
    ...timeline(cluster, begin, timeOf(cluster, violations[0]!) ?? convergedMs),
    '',
    `To replay it: npm run sim -- --seed ${plan.seed} --steps ${steps}`,
    '',
  ].join('\n');
}
