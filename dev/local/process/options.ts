/** The command line of a long run: each option takes a value, but for `--help`. What is wrong ends the process with 1 and a sentence. */
import { parseArgs } from 'node:util';
import { logToStderr } from './log.ts';

export interface RunOptions {
  text(option: string): string | undefined;
  number(option: string, fallback: number): number;
}

/** With `--help` it prints that and ends the process with 0. */
export function readRunOptions(names: readonly string[], help: string): RunOptions {
  const values = parsed(names);
  if (values.help) {
    process.stdout.write(help);
    process.exit(0);
  }
  const text = (option: string) => values[option] as string | undefined;
  return {
    text,
    number(option, fallback) {
      const given = text(option);
      const value = Number(given ?? fallback);
      if (value >= 0 && value < 2 ** 31 && given !== '') return value;
      return refuse(`--${option} ${given} is not a number.`);
    },
  };
}

function parsed(names: readonly string[]): Record<string, string | boolean | undefined> {
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  try {
    return parseArgs({ options: { ...options, help: { type: 'boolean', short: 'h' } } }).values;
  } catch (error) {
    return refuse((error as Error).message.split('. ')[0] ?? '');
  }
}

function refuse(sentence: string): never {
  logToStderr(sentence);
  process.exit(1);
}
