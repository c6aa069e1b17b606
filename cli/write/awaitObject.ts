/** `--wait` of what was asked of one object, until that says itself that it has come true. */
import { setTimeout as pause } from 'node:timers/promises';
import { KINDS, type KindName, resourceOf } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import { named, type Reached } from '../../client/requests/request.ts';
import type { Context, Invocation } from '../command/command.ts';
import { EXIT, Problem } from '../terminal/exit.ts';
import { lookOf } from '../view/look.ts';
import { timeoutOf } from '../view/waitFor.ts';
import type { Made } from './make.ts';

const LOOK_MS = 1000;

/** Answers the exit code, those of `status`. */
export async function awaitObject<T extends KubeObject<any, any>>(
  context: Context,
  { options }: Pick<Invocation, 'options'>,
  made: Made | undefined,
  progress: (object: T) => Reached,
): Promise<number> {
  if (!options.wait || !made || made.isDryRun) return EXIT.ok;
  const { terminal, signal } = context;
  const { client } = await context.cluster();
  const kind = made.object.kind as KindName;
  const { namespace, name = '' } = made.object.metadata;
  const title = named(kind, { namespace: namespace ?? '', name });
  const timeoutMs = timeoutOf(options.timeout);
  const endsAt = timeoutMs > 0 ? context.now() + timeoutMs : Number.POSITIVE_INFINITY;
  const say = (text: string) => lookOf(context).text(`${title}: ${text}`);
  for (let last = ''; ; ) {
    const object = await client.get<T>({ ...resourceOf(KINDS[kind]), ...(namespace && { namespace }), name });
    if (!object) throw new Problem(`${title} has been deleted.`);
    const { is, text } = progress(object);
    const isLate = context.now() >= endsAt;
    if (is !== 'under way' || isLate) {
      terminal.print(say(is === 'under way' ? `not in time; ${text}` : text));
      return is === 'reached' ? EXIT.ok : is === 'failed' ? EXIT.failed : EXIT.timeout;
    }
    if (text !== last) terminal.note(say(text));
    last = text;
    await pause(Math.min(LOOK_MS, endsAt - context.now()), undefined, { signal }).catch(() => {});
    if (!signal.aborted) continue;
    terminal.note('The request stays: only the waiting has ended.');
    return EXIT.interrupted;
  }
}
