import type { Application } from '../../core/explain/application.ts';
import { explainRollout } from '../../core/explain/rollout/explainRollout.ts';
import { GOALS, type Goal, progressTo } from '../../core/explain/rollout/reached.ts';
import { parseDuration } from '../../core/kube/duration.ts';
import type { Cluster, CommandDefinition, Context } from '../command/command.ts';
import { RELEASE } from '../command/options.ts';
import { Live } from '../read/live.ts';
import { readRollout } from '../read/rollouts.ts';
import { readSurroundings } from '../read/surroundings.ts';
import { EXIT, Problem } from '../terminal/exit.ts';
import { changeLines } from '../view/changes.ts';
import { type Look, lookOf } from '../view/look.ts';

export const status: CommandDefinition = {
  description: `One line on how far a Rollout has come. With --until it waits for that, for pipelines: progress goes to standard error, the line to standard output,
and the exit code says what came of it.`,
  arguments: [{ syntax: '<rollout>', help: 'its name', completes: 'rollouts' }],
  options: [
    { flags: '--until <state>', help: 'wait until it has come so far', choices: GOALS, completes: GOALS },
    RELEASE,
    { flags: '--timeout <time>', help: 'with --until: how long to wait; 0 for no limit', default: '10m' },
  ],
  examples: [
    ['has it baked?', 'status my-app -n shop'],
    ['in a pipeline, after the image was pushed', 'status my-app -n shop --until baked --release 1.2.0 --timeout 30m'],
  ],
  exitCodes: [
    [EXIT.failed, 'the deployment has failed'],
    [EXIT.timeout, 'not reached in time: the line says what it waits for'],
    [EXIT.waiting, 'without --until: a version waits, or is on its way'],
  ],
  async run(context, { arguments: [name], options }) {
    const cluster = await context.cluster();
    const rollout = await readRollout(cluster, name as string);
    if (options.until) {
      const wanted = { goal: options.until as Goal, release: options.release as string | undefined };
      return waitFor(context, cluster, rollout.metadata.name ?? '', wanted, timeoutOf(options.timeout));
    }
    const around = await readSurroundings(cluster.client, [rollout]);
    const app = explainRollout(rollout, around, context.now());
    context.terminal.print(lineOf(app, lookOf(context)));
    if (app.state === 'done') return EXIT.ok;
    return app.state === 'failed' || app.state === 'problem' ? EXIT.failed : EXIT.waiting;
  },
};

async function waitFor(
  context: Context,
  { client, namespace }: Cluster,
  name: string,
  { goal, release }: { goal: Goal; release: string | undefined },
  timeoutMs: number,
): Promise<number> {
  const { terminal, signal } = context;
  const ended = new AbortController();
  const timer = timeoutMs > 0 ? setTimeout(() => ended.abort(), timeoutMs) : undefined;
  const live = new Live({ client, namespace, names: [name], signal: AbortSignal.any([signal, ended.signal]) });
  let last: Application | undefined;
  try {
    for await (const _ of live.looks(60_000)) {
      const [rollout] = live.rollouts;
      if (!rollout) throw new Problem(`Rollout '${name}' in namespace '${namespace}' has been deleted.`);
      const app = explainRollout(rollout, live.around, context.now());
      const look = lookOf(context);
      for (const line of changeLines(last, app)) terminal.note(look.text(line));
      last = app;
      const progress = progressTo(goal, app, release);
      if (progress === 'under way') continue;
      terminal.print(lineOf(app, look));
      return progress === 'reached' ? EXIT.ok : EXIT.failed;
    }
    if (signal.aborted) return EXIT.interrupted;
    const what = `${release ?? 'the newest version'} ${goal}`;
    terminal.print(last ? `${what}: not in time; ${lineOf(last, lookOf(context))}` : `${what}: not in time`);
    return EXIT.timeout;
  } finally {
    clearTimeout(timer);
    ended.abort();
  }
}

/** `shop/my-app: 1.1.0 waits, 1.0.0 runs: Version 1.1.0 is waiting approval, …` */
function lineOf({ namespace, name, headline, state, causes }: Application, look: Look): string {
  const why = state === 'done' ? undefined : causes[0]?.text;
  return look.text(`${namespace}/${name}: ${headline}${why ? `: ${why}` : ''}`);
}

function timeoutOf(text: string): number {
  const ms = text === '0' ? 0 : parseDuration(text);
  if (ms !== undefined) return ms;
  throw new Problem(`--timeout: '${text}' is not a time such as 90s, 10m or 1h.`, EXIT.usage);
}
