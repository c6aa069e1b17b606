/** Times and spans on the command line. */
import type { EpochMs } from '../../api/kubernetes.ts';
import { parseSpan, parseWhen, SPAN_FORMS, TIME_FORMS } from '../../client/actions/userInput.ts';
import type { ClosedSpan } from '../../client/actions/writes/gateWrites.ts';
import { EXIT, Problem } from '../../client/problem.ts';
import type { Context } from './command.ts';

/** The time of an option, the next one after `from` or now. @throws Problem for another text, or a past time */
export function timeOf(
  context: Context,
  option: string,
  text: string | undefined,
  from?: EpochMs,
): EpochMs | undefined {
  if (text === undefined) return undefined;
  const at = parseWhen(text, context.now(), context.timeZone, from);
  if (at === undefined) throw new Problem(`${option}: '${text}' is not a time such as ${TIME_FORMS}.`, EXIT.usage);
  if (at <= context.now()) throw new Problem(`${option}: '${text}' is in the past.`, EXIT.usage);
  return at;
}

/** The milliseconds of an option. @throws Problem for another text */
export function spanOf(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const span = parseSpan(text);
  if (span !== undefined) return span;
  throw new Problem(`${option}: '${text}' is not a time such as ${SPAN_FORMS}.`, EXIT.usage);
}

/** The span of SPAN_OPTIONS. @throws Problem for invalid ones */
export function closedSpanOf(context: Context, options: Readonly<Record<string, any>>): ClosedSpan {
  if (options.for !== undefined && options.until !== undefined) {
    throw new Problem('--for and --until both set the end: give one of them.', EXIT.usage);
  }
  const at = timeOf(context, '--at', options.at);
  return { at, lasts: spanOf('--for', options.for), until: timeOf(context, '--until', options.until, at) };
}
