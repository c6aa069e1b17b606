/** `--wait`: what came of a request on a Rollout. */
import type { Rollout } from '../../api/types.ts';
import { progressSince, type Since } from '../../client/explain/rollout/reached.ts';
import type { Context, Invocation } from '../command/command.ts';
import { EXIT } from '../terminal/exit.ts';
import { timeoutOf, waitFor } from '../view/waitFor.ts';
import type { Made } from './make.ts';

/** `before`: the Rollout as it was when the request was computed. Answers the exit code, those of `status`. */
export async function awaitRollout(
  context: Context,
  { options }: Pick<Invocation, 'options'>,
  made: Made | undefined,
  before: Rollout | undefined,
): Promise<number> {
  const brings = made?.request.brings;
  if (!options.wait || !made || made.isDryRun) return EXIT.ok;
  if (!before || !brings) {
    context.terminal.note('Nothing is waited for: no version of a Rollout is deployed by that alone.');
    return EXIT.ok;
  }
  const timeoutMs = timeoutOf(options.timeout);
  const { namespace = '', name = '' } = before.metadata;
  const { client } = await context.cluster();
  const { version } = brings;
  const code = await waitFor(context, { client, namespace }, name, {
    what: `${version ?? 'the next version'} baked`,
    progress: (app) => progressSince('baked', app, since(before, version), version),
    timeoutMs,
  });
  if (code === EXIT.interrupted) context.terminal.note('The request stays: only the waiting has ended.');
  return code;
}

/** A version that is the newest already is not deployed again. */
function since({ status }: Rollout, version: string | undefined): Since {
  const [head] = status?.history ?? [];
  const isThere = head !== undefined && head.version.tag === version && head.bakeStatus !== 'Failed';
  return { id: (head?.id ?? 0) - (isThere ? 1 : 0), retriedAt: head?.lastRetryTimestamp };
}
