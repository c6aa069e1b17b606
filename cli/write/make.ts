/** Makes a write: asks for confirmation if needed, sends it, and prints the API server's answer. */
import type { AnyObject } from '../../api/kubernetes.ts';
import { unrecordedProblem } from '../../client/actions/writes/approvalChange.ts';
import {
  basisProblem,
  isRequest,
  kubectlOf,
  type PlannedWrite,
  type WriteRequest,
} from '../../client/actions/writes/plannedWrite.ts';
import { isApiError } from '../../tools/kube/kubeClient.ts';
import { structuredText, withoutManagedFields } from '../../tools/kube/objectText.ts';
import { EXIT, Problem } from '../../tools/kube/problem.ts';
import { MAX_WRITE_ATTEMPTS, sendWrite } from '../../tools/kube/sent.ts';
import type { Context, Invocation } from '../command/command.ts';
import { forSameCluster } from '../command/sameCluster.ts';
import { sentenceLines } from '../terminal/style.ts';

export interface Made {
  /** The object that the API server has stored, or would store. */
  object: AnyObject;
  /** The write that was made. */
  request: WriteRequest;
  isDryRun: boolean;
}

/**
 * Makes a write, and plans it again if the object has changed meanwhile. undefined: there was nothing to write, and the
 * cause was printed. @throws Problem for an invalid request, and if the user does not confirm
 */
export async function make(
  context: Context,
  { options }: Pick<Invocation, 'options'>,
  requested: () => Promise<PlannedWrite> | PlannedWrite,
): Promise<Made | undefined> {
  const isDryRun = options.dryRun === 'server';
  let confirmed: string | undefined;
  let basis: string | undefined;
  for (let attempt = 1; ; attempt++) {
    const request = await requested();
    if (!isRequest(request)) {
      if (request.isWrong) throw new Problem(request.none);
      context.terminal.noteText(forSameCluster(request.none, context.flags));
      return undefined;
    }
    basis ??= request.basis;
    const changed = basisProblem(basis, request);
    if (changed) throw new Problem(changed);
    const concerns = request.concerns.join('\n');
    if (!isDryRun && !options.yes && concerns !== '' && concerns !== confirmed)
      await confirm(context, request.concerns);
    confirmed = concerns;
    try {
      return { object: await send(context, options, request, isDryRun), request, isDryRun };
    } catch (error) {
      if (!isApiError(error)) throw error;
      for (const warning of error.warnings) context.terminal.note(warningText(context, warning));
      if (attempt === MAX_WRITE_ATTEMPTS || !isApiError(error, 409) || request.creates) throw error;
    }
  }
}

/** Asks the user to confirm. @throws Problem unless the user does, at a terminal */
async function confirm(context: Context, concerns: readonly string[]): Promise<void> {
  const { terminal, signal } = context;
  for (const line of concerns.flatMap((concern) => sentenceLines(context, concern))) terminal.note(line);
  if (!terminal.isInteractive) throw new Problem('Not a terminal: add --yes to confirm.', EXIT.usage);
  const answer = await terminal.ask('Continue? [y/N] ');
  if (signal.aborted || !/^y(es)?$/i.test(answer.trim())) throw new Problem('Nothing was changed.');
}

async function send(
  context: Context,
  options: Invocation['options'],
  request: WriteRequest,
  isDryRun: boolean,
): Promise<AnyObject> {
  const { terminal } = context;
  const { client } = await context.cluster();
  const { resource, name, group } = request.object;
  if (options.showKubectl) terminal.noteText(forSameCluster(kubectlOf(request), context.flags));
  const answer = await sendWrite(client, request, isDryRun);
  for (const warning of answer.warnings) terminal.note(warningText(context, warning));
  const unrecorded = unrecordedProblem(request, answer.object);
  if (unrecorded) throw new Problem(unrecorded);
  if (options.output === 'name') terminal.print(`${resource.replace(/s$/, '')}.${group}/${name}`);
  else if (options.output)
    terminal.printText(await structuredText(withoutManagedFields(answer.object), options.output));
  else {
    const text = `${request.text}${isDryRun ? ' (server dry run)' : ''}`;
    for (const line of sentenceLines(context, text)) terminal.print(line);
  }
  return answer.object;
}

function warningText({ terminal }: Context, text: string): string {
  return `${terminal.paint.yellow('Warning:')} ${text}`;
}
