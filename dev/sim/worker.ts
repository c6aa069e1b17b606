/** Plays the seeds or scenarios that main.ts hands out, in a thread of its own. */
import { parentPort, workerData } from 'node:worker_threads';
import { type Plan, planOf } from './plan.ts';
import { type Outcome, play } from './play.ts';
import { faultsOf, playable, replay } from './scenarios.ts';
import { type Shrunk, shrink, withoutNumbers } from './shrink.ts';
import { momentOf, story } from './story.ts';

/** From main.ts: play this one. A scenario is named by its place in the list. */
export type Task = { seed: number } | { scenario: number };

export type News =
  | { is: 'played'; runs: number; virtualMs: number; deployments: number }
  /** A seed fails; a shorter story follows. */
  | { is: 'failing'; seed: number }
  | { is: 'failed'; text: string };

/** A shorter story is looked for no longer than this. */
const SHRINK_MS = 60_000;

const { steps } = workerData as { steps: number };
const tell = (news: News) => parentPort!.postMessage(news);

parentPort!.on('message', async (task: Task) => {
  if ('scenario' in task) return tell(await playScenario(task.scenario));
  const plan = planOf(task.seed, steps);
  const outcome = await play(plan);
  if (outcome.violations.length > 0) return tell(await failure(plan, outcome));
  tell({ is: 'played', runs: 1, virtualMs: outcome.virtualMs * plan.teams.length, deployments: outcome.deployments });
});

/** As it is, and with each fault at each write. */
async function playScenario(index: number): Promise<News> {
  const scenario = playable()[index]!;
  const plain = await replay(scenario);
  let { virtualMs } = plain;
  const faults = faultsOf(plain.writes);
  // The judges know the settings of dev/chaos only: what they object to without a fault is no finding.
  const known = new Set(plain.violations.map(withoutNumbers));
  for (const fault of faults) {
    const { violations, virtualMs: took } = await replay(scenario, fault);
    virtualMs += took;
    const problems = violations.filter((text) => !known.has(withoutNumbers(text)));
    if (problems.length === 0) continue;
    const what = `Scenario ${scenario.id} fails with a ${fault.is} at write ${fault.at} of the driver:`;
    return { is: 'failed', text: [what, ...problems.slice(0, 5), ''].join('\n') };
  }
  return { is: 'played', runs: faults.length + 1, virtualMs, deployments: plain.history.length };
}

async function failure(plan: Plan, outcome: Outcome): Promise<News> {
  tell({ is: 'failing', seed: plan.seed });
  const until = performance.now() + SHRINK_MS;
  return { is: 'failed', text: report(await shrink(plan, outcome, () => performance.now() < until)) };
}

function report({ plan, outcome: { violations, world, begin, restMs } }: Shrunk): string {
  return [
    `Seed ${plan.seed} fails:`,
    ...violations.slice(0, 5),
    '',
    `A story of ${plan.steps.length} steps that fails in the same way:`,
    ...story(world, begin, momentOf(world, violations[0]!) ?? restMs),
    '',
    `To replay it: npm run sim -- --seed ${plan.seed} --steps ${steps}`,
    '',
  ].join('\n');
}
