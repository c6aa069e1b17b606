/** The command line of every program of dev/: `--help`, options, and what is wrong with them. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { logToStderr } from './log.ts';

/** A command line that is wrong. The message is a sentence that says what to change. */
export class UsageError extends Error {}

/**
 * Returns what `read` makes of the command line. `--help` prints `help` and ends the process with 0. A UsageError ends it with 2, and prints its sentence
 * and the first line of `help`, which is the usage.
 */
export function readCommandLine<T>(help: string, read: (args: string[]) => T): T {
  const args = process.argv.slice(2);
  if (args.includes('--help') || args.includes('-h')) {
    process.stdout.write(help);
    process.exit(0);
  }
  try {
    return read(args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    logToStderr(error.message);
    logToStderr(help.split('\n')[0] ?? '');
    process.exit(2);
  }
}

/** `parseArgs` of Node, which throws a UsageError for what it does not know. */
export function parseOptions<const T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config);
  } catch (error) {
    throw new UsageError(`${(error as Error).message.split('. ')[0]}.`);
  }
}

interface Range {
  least: number;
  most: number;
  /** True by default. */
  whole?: boolean;
}

/** The number that an option was given. */
export function numberOf(option: string, text: string, { least, most, whole = true }: Range): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most && (!whole || Number.isInteger(value))) return value;
  throw new UsageError(`${option} ${text} is not a ${whole ? 'whole ' : ''}number from ${least} to ${most}.`);
}
