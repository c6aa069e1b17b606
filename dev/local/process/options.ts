/** The command line of every program of dev/. */
import { Command, InvalidArgumentError, Option } from 'commander';

/** A program with `--help`, whose lines are wrapped. An invalid command line ends the process with 2. */
export function program(name: string, about: string): Command {
  return new Command(name)
    .description(about.replaceAll(/(?<=\S)\n(?=\S)/g, ' '))
    .helpOption('--help', 'this text')
    .helpCommand(false)
    .exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : 2));
}

/** Parses a number in a range. */
export const number =
  (least: number, most: number, { isWhole = true } = {}) =>
  (text: string): number => {
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
    if (value >= least && value <= most && (!isWhole || Number.isInteger(value))) return value;
    throw new InvalidArgumentError(`It must be a ${isWhole ? 'whole ' : ''}number from ${least} to ${most}.`);
  };

/** Parses a seed. */
export const seedOf = number(0, 2 ** 31 - 1);

export const metacontrollerOption = (): Option =>
  new Option('--metacontroller <path>', 'drive the hooks with this Metacontroller instead of the engine').env(
    'METACONTROLLER',
  );
