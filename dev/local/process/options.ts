/** The command line of every program of dev/: `--help`, options and their errors. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { logToStderr } from './log.ts';

/** An error in the command line. The message says what to change. */
export class UsageError extends Error {}

/**
 * The options that `read` parses. `--help` prints `help` and ends the process with 0. A UsageError ends it with 2, and
 * prints its message and the first line of `help`, which is the usage.
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

/** Node's `parseArgs`, with a UsageError for an invalid command line. */
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

/** The numeric value of an option. */
export function numberOf(option: string, text: string, { least, most, whole = true }: Range): number {
  const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most && (!whole || Number.isInteger(value))) return value;
  throw new UsageError(`${option} ${text} is not a ${whole ? 'whole ' : ''}number from ${least} to ${most}.`);
}
