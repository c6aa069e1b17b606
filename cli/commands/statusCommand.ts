import { explainRollout } from '../../client/explain/rollout/explainRollout.ts';
import { GOALS, type Goal, progressTo } from '../../client/explain/rollout/reached.ts';
import { EXIT, Problem } from '../../client/problem.ts';
import { readRollout } from '../../connection/read/namedObjects.ts';
import { readRelated } from '../../connection/read/readRelated.ts';
import type { CommandDefinition } from '../command/command.ts';
import { RELEASE } from '../command/options.ts';
import { styleOf } from '../terminal/style.ts';
import { lineOf, timeoutOf, waitFor } from '../write/wait.ts';

export const status: CommandDefinition = {
  description: `Prints the progress of a Rollout in one line; the exit code is the result.

With --until it waits for a state, for pipelines: progress goes to standard error, the line to standard output.`,
  arguments: [{ syntax: '<rollout>', help: 'its name', completes: { names: 'Rollout' } }],
  options: [
    { flags: '--until <state>', help: 'wait until it reaches this state', choices: GOALS },
    RELEASE,
    { flags: '--timeout <time>', help: 'with --until: how long to wait; 0 for no limit', default: '10m' },
  ],
  examples: [
    ['has it baked?', 'status my-app -n shop'],
    ['in a pipeline, after the image was pushed', 'status my-app -n shop --until baked --release 1.2.0 --timeout 30m'],
  ],
  exitCodes: [
    [EXIT.failed, 'the deployment has failed; without --until also a problem, such as a missing ImagePolicy'],
    [EXIT.timeout, 'with --until: timed out; the output has the cause'],
    [EXIT.waiting, 'without --until: a version is waiting or rolling out, or there is none yet'],
  ],
  async run(context, { arguments: [name], options }) {
    const cluster = await context.cluster();
    const rollout = await readRollout(cluster, name as string);
    if (options.until) {
      const [goal, release] = [options.until as Goal, options.release as string | undefined];
      return waitFor(context, cluster, rollout.metadata.name ?? '', {
        what: `${release ?? 'the newest version'} ${goal}`,
        release,
        progress: (app) => progressTo(goal, app, release),
        timeoutMs: timeoutOf(options.timeout),
      });
    }
    if (options.release) throw new Problem('--release needs --until.', EXIT.usage);
    const related = await readRelated(cluster.client, [rollout]);
    const app = explainRollout(rollout, related, context.now());
    context.terminal.print(lineOf(app, styleOf(context)));
    if (app.state === 'done') return EXIT.ok;
    return app.state === 'failed' || app.state === 'problem' ? EXIT.failed : EXIT.waiting;
  },
};
