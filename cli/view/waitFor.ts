/** Waits until a Rollout has come as far as somebody wants: progress on standard error, one line at the end, an exit code. */
import type { Rollout } from '../../api/types.ts';
import type { Application } from '../../client/explain/application.ts';
import { explainRollout } from '../../client/explain/rollout/explainRollout.ts';
import type { Progress } from '../../client/explain/rollout/reached.ts';
import { parseDuration } from '../../core/kube/duration.ts';
import type { Cluster, CommandDefinition, Context } from '../command/command.ts';
import { Live } from '../read/live.ts';
import { EXIT, Problem } from '../terminal/exit.ts';
import { changeLines } from './changes.ts';
import { type Style, styleOf } from './style.ts';

export const WAIT_CODES: NonNullable<CommandDefinition['exitCodes']> = [
  [EXIT.failed, 'the deployment has failed'],
  [EXIT.timeout, 'not reached in time: the line says what it waits for'],
];

export interface Wanted {
  /** `1.2.0 baked`. */
  what: string;
  progress(app: Application, rollout: Rollout): Progress;
  /** 0: no limit. */
  timeoutMs: number;
}

export async function waitFor(
  context: Context,
  { client, namespace }: Pick<Cluster, 'client' | 'namespace'>,
  name: string,
  { what, progress, timeoutMs }: Wanted,
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
      const look = styleOf(context);
      for (const line of changeLines(last, app)) terminal.note(look.text(line));
      last = app;
      const seen = progress(app, rollout);
      if (seen === 'under way') continue;
      terminal.print(lineOf(app, look));
      return seen === 'reached' ? EXIT.ok : EXIT.failed;
    }
    if (signal.aborted) return EXIT.interrupted;
    terminal.print(last ? `${what}: not in time; ${lineOf(last, styleOf(context))}` : `${what}: not in time`);
    return EXIT.timeout;
  } finally {
    clearTimeout(timer);
    ended.abort();
  }
}

/** `shop/my-app: 1.1.0 waits, 1.0.0 runs: Gate shop/freeze is closed by sre: INC-7` */
export function lineOf({ namespace, name, headline, state, causes }: Application, look: Style): string {
  const why = state === 'done' ? undefined : causes[0]?.text;
  return look.text(`${namespace}/${name}: ${headline}${why ? `: ${why}` : ''}`);
}

export function timeoutOf(text: string): number {
  const ms = text === '0' ? 0 : parseDuration(text);
  if (ms !== undefined) return ms;
  throw new Problem(`--timeout: '${text}' is not a time such as 90s, 10m or 1h.`, EXIT.usage);
}
