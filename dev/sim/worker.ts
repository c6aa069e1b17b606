/** Plays the seeds that main.ts hands out, in a thread of its own. */
import { parentPort, workerData } from 'node:worker_threads';
import { type Plan, planOf } from './plan.ts';
import { type Outcome, play } from './play.ts';
import { type Shrunk, shrink } from './shrink.ts';
import { momentOf, story } from './story.ts';

/** From main.ts: play this one. */
export type Task = { seed: number };

export type News =
  | { is: 'played'; virtualMs: number; deployments: number }
  /** A seed fails; a shorter story follows. */
  | { is: 'failing'; seed: number }
  | { is: 'failed'; text: string };

/** A shorter story is looked for no longer than this. */
const SHRINK_MS = 120_000;

const { steps } = workerData as { steps: number };
const tell = (news: News) => parentPort!.postMessage(news);

parentPort!.on('message', async ({ seed }: Task) => {
  const plan = planOf(seed, steps);
  const outcome = await play(plan);
  if (outcome.violations.length > 0) return tell(await failure(plan, outcome));
  tell({ is: 'played', virtualMs: outcome.virtualMs * plan.teams.length, deployments: outcome.deployments });
});

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
