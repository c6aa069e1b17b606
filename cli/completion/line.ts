/** Where on a command line the cursor is: which command, which option or argument, and what is typed of it. Pure. */
import type { ArgumentDefinition, CommandDefinition, Completion, OptionDefinition } from '../command/command.ts';

export type Place =
  | { of: 'option'; word: string }
  | { of: 'value'; word: string; completes: Completion | undefined }
  | { of: 'argument'; word: string; completes: Completion | undefined };

/** `words` after the command's name, the last one is being typed and may be empty. */
export function placeOf(
  words: readonly string[],
  definition: CommandDefinition,
  options: readonly OptionDefinition[],
): Place {
  const word = words.at(-1) ?? '';
  const before = words.slice(0, -1);
  const inline = /^(--[\w-]+)=(.*)$/.exec(word);
  if (inline) return { of: 'value', word: inline[2]!, completes: completionOf(optionNamed(inline[1]!, options)) };
  const open = openOption(before, options);
  if (open) return { of: 'value', word, completes: completionOf(open) };
  if (word.startsWith('-')) return { of: 'option', word };
  const at = positionals(before, options).length;
  return { of: 'argument', word, completes: argumentAt(definition.arguments ?? [], at)?.completes };
}

/** The values that the words give to options: `-n shop`, `--namespace=shop`. The last one counts. */
export function valuesOf(words: readonly string[], options: readonly OptionDefinition[]): Record<string, string> {
  const values: Record<string, string> = {};
  words.forEach((word, index) => {
    const [flag = '', inline] = word.split(/=(.*)/s);
    const option = optionNamed(flag, options);
    const value = inline ?? words[index + 1];
    if (option && takesValue(option) && value !== undefined) values[nameOf(option)] = value;
  });
  return values;
}

export function takesValue({ flags }: OptionDefinition): boolean {
  return flags.includes('<');
}

/** `allNamespaces` for `-A, --all-namespaces`. */
function nameOf({ flags }: OptionDefinition): string {
  const [, long = ''] = /--([\w-]+)/.exec(flags) ?? [];
  return long.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

function optionNamed(flag: string, options: readonly OptionDefinition[]): OptionDefinition | undefined {
  return flag.startsWith('-') ? options.find(({ flags }) => flags.split(/[ ,]+/).includes(flag)) : undefined;
}

function completionOf(option: OptionDefinition | undefined): Completion | undefined {
  return option?.completes ?? option?.choices;
}

/** The option whose value comes next. */
function openOption(before: readonly string[], options: readonly OptionDefinition[]): OptionDefinition | undefined {
  const last = optionNamed(before.at(-1) ?? '', options);
  return last && takesValue(last) ? last : undefined;
}

function positionals(before: readonly string[], options: readonly OptionDefinition[]): string[] {
  return before.filter((word, index) => !word.startsWith('-') && !openOption(before.slice(0, index), options));
}

/** The last one may be a list. */
function argumentAt(all: readonly ArgumentDefinition[], at: number): ArgumentDefinition | undefined {
  const last = all.at(-1);
  return all[at] ?? (last?.syntax.includes('...') ? last : undefined);
}
