/** Parses the command line. All commands are listed by name; only the called one is loaded. */
import { Command, CommanderError, Option } from 'commander';
import { EXIT } from '../client/problem.ts';
import { firstFew } from '../core/text/firstFew.ts';
import {
  COMMON_EXIT_CODES,
  type CommandDefinition,
  type Invocation,
  type OptionDefinition,
} from './command/command.ts';
import { CONNECTION_OPTIONS, isNamed, optionsOf, takesValue } from './command/options.ts';
import { COMMANDS, commandEntry } from './commands/index.ts';

/** Runs the called command. */
type Runner = (name: string, definition: CommandDefinition, invocation: Invocation) => Promise<void>;

interface ProgramOptions {
  /** `kubectl rollouts`. */
  name: string;
  version: string;
  run: Runner;
  print(text: string): void;
  note(text: string): void;
  columns: number;
}

const DESCRIPTION = `Show and control Rollouts and Gates: what runs, what waits, why, and until when.
The command does nothing that kubectl could not do with the same rights.`;

/** The program. `loaded`: the commands to load; the others have only a name and a summary. */
export async function createProgram(options: ProgramOptions, loaded: ReadonlySet<string>): Promise<Command> {
  const program = new Command(options.name)
    .description(DESCRIPTION)
    .version(options.version, '--version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => options.print(text.trimEnd()),
      writeErr: (text) => options.note(text.trimEnd()),
      getOutHelpWidth: () => options.columns,
      getErrHelpWidth: () => options.columns,
      outputError: (text, write) => write(text.replace(/^error: /, '')),
    });
  for (const { name, group, summary, load } of COMMANDS) {
    const command = program.command(name).helpGroup(`${group}:`).summary(summary);
    if (loaded.has(name)) define(command, name, await load(), options);
  }
  program.addHelpText('after', `\n${options.name} COMMAND --help has details and examples.`);
  return program;
}

/**
 * The arguments with the command's name before its options: `-n shop get` becomes `get -n shop`. Connection options
 * without a command are left out, so that the help is printed.
 */
export function commandFirst(args: readonly string[]): readonly string[] {
  // The value of an option may be the name of a command.
  const withValue = CONNECTION_OPTIONS.filter(takesValue);
  const isValue = (index: number) => withValue.some((option) => isNamed(option, args[index - 1] ?? ''));
  const at = args.findIndex((arg, index) => commandEntry(arg) !== undefined && !isValue(index));
  const isConnection = (arg: string, index: number) =>
    isValue(index) || CONNECTION_OPTIONS.some((option) => isNamed(option, arg.split('=')[0]!));
  if (at < 0 && args.every(isConnection)) return [];
  if (at <= 0 || !args[0]?.startsWith('-')) return args;
  return [args[at]!, ...args.slice(0, at), ...args.slice(at + 1)];
}

function define(command: Command, name: string, definition: CommandDefinition, options: ProgramOptions): void {
  command.description(definition.description);
  for (const { syntax, help } of definition.arguments ?? []) command.argument(syntax, help);
  const { own, connection } = optionsOf(definition);
  for (const option of own) command.addOption(optionOf(option));
  if (connection.length > 0) command.optionsGroup('Connection options:');
  for (const option of connection) command.addOption(optionOf(option));
  command.addHelpText('after', helpAfter(definition, options.name));
  command.action(async (...args: unknown[]) => {
    const given = args.slice(0, definition.arguments?.length ?? 0) as Invocation['arguments'];
    await options.run(name, definition, { arguments: given, options: command.opts() });
  });
}

function optionOf({ flags, help, choices, isRepeated, ...rest }: OptionDefinition): Option {
  const option = new Option(flags, help);
  if (rest.default !== undefined) option.default(rest.default);
  if (choices) option.choices([...choices]);
  if (isRepeated) option.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value]);
  return option;
}

function helpAfter({ examples, exitCodes = [] }: CommandDefinition, program: string): string {
  const shown = examples.map(([what, line]) => `  # ${what}\n  ${program} ${line}`);
  const meanings = [...new Map([...COMMON_EXIT_CODES, ...exitCodes])].sort(([a], [b]) => a - b);
  const codes = meanings.map(([code, meaning]) => `  ${String(code).padEnd(3)} ${meaning}`);
  return `\nExamples:\n${shown.join('\n\n')}\n\nExit codes:\n${codes.join('\n')}`;
}

/** The next step after an error in the command line; undefined if the error itself has it. */
export async function usageHint(
  error: unknown,
  [called = '', ...words]: readonly string[],
  program: string,
): Promise<string | undefined> {
  if (!(error instanceof CommanderError) || error.exitCode === 0) return undefined;
  if (commandEntry(called) === undefined) return called && `To list the commands: ${program} --help`;
  const help = `${program} ${called} --help`;
  if (/^commander\.(missing|excess)Argument/.test(error.code)) return `To list its arguments: ${help}`;
  if (error.code === 'commander.optionMissingArgument') return `To list its options: ${help}`;
  if (error.code !== 'commander.unknownOption') return undefined;
  const commands = await Promise.all(COMMANDS.map(async ({ name, load }) => ({ name, has: hasFlag(await load()) })));
  const own = commands.find(({ name }) => name === called)!;
  const flag = words.map((word) => word.split('=')[0]!).find((word) => word.startsWith('-') && !own.has(word))!;
  const owners = commands.filter(({ has }) => has(flag)).map(({ name }) => name);
  return owners.length > 0 ? `Commands with ${flag}: ${firstFew(owners, 4)}.` : `To list its options: ${help}`;
}

function hasFlag(definition: CommandDefinition): (flag: string) => boolean {
  const { own, connection } = optionsOf(definition);
  return (flag) => [...own, ...connection].some((option) => isNamed(option, flag));
}

/** The exit code of an error of commander, which throws for help and version too; undefined for another error. */
export function exitCodeOf(error: unknown): number | undefined {
  if (!(error instanceof CommanderError)) return undefined;
  return error.exitCode === 0 ? EXIT.ok : EXIT.usage;
}
