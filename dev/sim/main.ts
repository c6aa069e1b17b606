/** `npm run sim`: see options.ts. */
import { endRequested } from '../local/process/endRequested.ts';
import { readCommandLine } from '../local/process/options.ts';
import { HELP, type Options, parseSimOptions } from './options.ts';
import { planOf } from './plan.ts';
import { play } from './play.ts';
import { type Shrunk, shrink } from './shrink.ts';
import { story } from './story.ts';

const PROGRESS_MS = 5000;
/** A shorter story is looked for no longer than this. */
const SHRINK_MS = 120_000;
const HOUR_MS = 3_600_000;
const LONGEST_STORY = 80;

const say = (text: string) => process.stderr.write(`${text}\n`);

function report({ plan, outcome }: Shrunk, { minutes }: Options): void {
  const { violations, world, begin, restMs } = outcome;
  const lines = story(world, begin, restMs);
  process.stdout.write(`Seed ${plan.seed} fails:\n${violations.slice(0, 5).join('\n')}\n\n`);
  process.stdout.write(`A story of ${plan.steps.length} steps that fails in the same way:\n`);
  process.stdout.write(`${lines.slice(0, LONGEST_STORY).join('\n')}\n\n`);
  process.stdout.write(`To replay it: npm run sim -- --seed ${plan.seed} --minutes ${minutes}\n`);
}

/** Answers the exit code. */
async function run(options: Options): Promise<number> {
  const { seeds, seed, minutes } = options;
  const started = performance.now();
  let ending = false;
  endRequested().then(() => {
    ending = true;
  });
  let told = started;
  let virtualMs = 0;
  let deployments = 0;
  let done = 0;
  const speed = () => {
    const seconds = (performance.now() - started) / 1000;
    const hours = virtualMs / HOUR_MS;
    return `${(done / seconds).toFixed(1)} seeds a second, ${((hours / seconds) * 60).toFixed(0)} fleet-hours a minute`;
  };
  for (; done < seeds && !ending; done++) {
    const plan = planOf(seed + done, minutes);
    const outcome = await play(plan);
    if (outcome.violations.length > 0) {
      say(`Seed ${plan.seed} fails: looking for a shorter story`);
      const until = performance.now() + SHRINK_MS;
      report(await shrink(plan, outcome, () => performance.now() < until && !ending), options);
      return 1;
    }
    virtualMs += outcome.virtualMs * plan.teams.length;
    deployments += outcome.deployments;
    if (performance.now() - told > PROGRESS_MS) {
      told = performance.now();
      say(`${done + 1} of ${seeds} seeds, ${speed()}`);
    }
  }
  process.stdout.write(`${done} seeds from ${seed}, ${deployments} deployments, nothing found: ${speed()}\n`);
  return ending ? 130 : 0;
}

process.exit(await run(readCommandLine(HELP, (args) => parseSimOptions(args, Date.now))));
