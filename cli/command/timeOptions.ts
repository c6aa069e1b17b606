/** Times and spans of the command line. */
import type { EpochMs } from '../../api/kubernetes.ts';
import { parseSpan, parseWhen, SPAN_FORMS, TIME_FORMS } from '../../client/actions/userInput.ts';
import { EXIT, Problem } from '../../tools/kube/problem.ts';
import type { Context } from './command.ts';

/** @throws Problem for what is no time. */
export function timeOf(context: Context, option: string, text: string | undefined): EpochMs | undefined {
  if (text === undefined) return undefined;
  const at = parseWhen(text, context.now(), context.timeZone);
  if (at !== undefined) return at;
  throw new Problem(`${option}: '${text}' is no time such as ${TIME_FORMS}.`, EXIT.usage);
}

/** Milliseconds. @throws Problem for what is no span. */
export function spanOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const span = parseSpan(text);
  if (span !== undefined) return span;
  throw new Problem(`${option}: '${text}' is not a time such as ${SPAN_FORMS}.`, EXIT.usage);
}

/** The end that --for or --until name. */
export function endOf(context: Context, options: Readonly<Record<string, any>>): EpochMs | undefined {
  if (options.for !== undefined && options.until !== undefined) {
    throw new Problem('--for and --until both say when it ends: give one of them.', EXIT.usage);
  }
  const span = spanOf('--for', options.for);
  return span === undefined ? timeOf(context, '--until', options.until) : context.now() + span;
}
