/** Times and spans on the command line. */
import type { EpochMs } from '../../api/kubernetes.ts';
import { parseSpan, parseWhen, SPAN_FORMS, TIME_FORMS } from '../../client/actions/userInput.ts';
import { EXIT, Problem } from '../../tools/kube/problem.ts';
import type { Context } from './command.ts';

/** The time of an option. @throws Problem for another text */
export function timeOf(context: Context, option: string, text: string | undefined): EpochMs | undefined {
  if (text === undefined) return undefined;
  const at = parseWhen(text, context.now(), context.timeZone);
  if (at !== undefined) return at;
  throw new Problem(`${option}: '${text}' is not a time such as ${TIME_FORMS}.`, EXIT.usage);
}

/** The milliseconds of an option. @throws Problem for another text */
export function spanOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const span = parseSpan(text);
  if (span !== undefined) return span;
  throw new Problem(`${option}: '${text}' is not a time such as ${SPAN_FORMS}.`, EXIT.usage);
}

/** The end by --for or --until. */
export function endOf(context: Context, options: Readonly<Record<string, any>>): EpochMs | undefined {
  if (options.for !== undefined && options.until !== undefined) {
    throw new Problem('--for and --until both set the end: give one of them.', EXIT.usage);
  }
  const span = spanOf('--for', options.for);
  return span === undefined ? timeOf(context, '--until', options.until) : context.now() + span;
}
