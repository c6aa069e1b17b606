/** Makes a write: asks for confirmation if needed, sends it, and prints the API server's answer. */
import type { AnyObject } from '../../api/kubernetes.ts';
import { kubectlOf, type PlannedWrite, type WriteRequest } from '../../client/actions/writes/plannedWrite.ts';
import { EXIT, Problem } from '../../client/problem.ts';
import { isApiError } from '../../connection/kube/kubeClient.ts';
import { structuredText, withoutManagedFields } from '../../connection/kube/objectText.ts';
import { makeWrite } from '../../connection/kube/sent.ts';
import { groupOf } from '../../core/kube/names.ts';
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
  const { terminal } = context;
  const { client } = await context.cluster();
  const dryRun = options.dryRun === 'server';
  let confirmed = '';
  const before = async (request: WriteRequest) => {
    const concerns = request.concerns.join('\n');
    if (!dryRun && !options.yes && concerns !== '' && concerns !== confirmed) await confirm(context, request.concerns);
    confirmed = concerns;
    if (options.showKubectl) terminal.noteText(forSameCluster(kubectlOf(request), context.flags));
  };
  const sent = await makeWrite(client, requested, { dryRun, before }).catch((error) => {
    if (isApiError(error)) printWarnings(context, error.warnings);
    throw error;
  });
  if ('none' in sent) {
    if (sent.isWrong) throw new Problem(sent.none);
    terminal.noteText(forSameCluster(sent.none, context.flags));
    return undefined;
  }
  printWarnings(context, sent.warnings);
  if (sent.unrecorded) throw new Problem(sent.unrecorded);
  const { request, object } = sent;
  if (!(await printObject(context, options, object))) {
    const text = `${request.text}${dryRun ? ' (server dry run)' : ''}`;
    for (const line of sentenceLines(context, text)) terminal.print(line);
  }
  return { object, request, isDryRun: dryRun };
}

/** Prints the object in the format of -o, without which it returns false. */
export async function printObject(
  { terminal }: Context,
  { output }: Invocation['options'],
  object: AnyObject,
): Promise<boolean> {
  if (output === 'name')
    terminal.print(`${object.kind.toLowerCase()}.${groupOf(object.apiVersion)}/${object.metadata.name}`);
  else if (output) terminal.printText(await structuredText(withoutManagedFields(object), output));
  return output !== undefined;
}

export function printWarnings({ terminal }: Context, warnings: readonly string[]): void {
  for (const warning of warnings) terminal.note(`${terminal.paint.yellow('Warning:')} ${warning}`);
}

/** Asks the user to confirm. @throws Problem unless the user does, at a terminal */
async function confirm(context: Context, concerns: readonly string[]): Promise<void> {
  const { terminal, signal } = context;
  for (const line of concerns.flatMap((concern) => sentenceLines(context, concern))) terminal.note(line);
  if (!terminal.isInteractive) throw new Problem('Not a terminal: add --yes to confirm.', EXIT.usage);
  const answer = await terminal.ask('Continue? [y/N] ');
  if (signal.aborted || !/^y(es)?$/i.test(answer.trim())) throw new Problem('Nothing was changed.');
}
