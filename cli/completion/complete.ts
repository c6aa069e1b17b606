/**
 * Cobra's completion protocol, which kubectl and flux speak with their plugins: the words typed so far in, candidates out, a line each with a
 * tab before the description, and a line with a directive at the end. Source: the documentation of Cobra's shell completions.
 */

import { KINDS, resourceOf } from '../../api/kinds.ts';
import type {
  ArgumentDefinition,
  Cluster,
  CommandDefinition,
  Completion,
  OptionDefinition,
} from '../command/command.ts';
import { CONNECTION_OPTIONS } from '../command/options.ts';
import { COMMANDS, commandEntry } from '../commands/index.ts';
import type { Collection } from '../kube/kubeClient.ts';
import type { ConnectionFlags, Selected } from '../kube/kubeconfig.ts';

const NO_SPACE = 2;
const NO_FILES = 4;

/** Whoever waits for a completion does not wait long. */
const TIMEOUT = '3s';

/** `connect` opens the cluster that the flags choose. Never fails: what cannot be known is not offered. */
export async function complete(
  words: readonly string[],
  connect: (flags: ConnectionFlags) => Promise<Cluster>,
): Promise<string[]> {
  const found = await candidates(words, connect).catch((): Candidates => ({ words: [] }));
  const word = words.at(-1) ?? '';
  // `--output=js`: shells replace the part after the sign.
  const typed = word.startsWith('--') ? (word.split(/=(.*)/s)[1] ?? word) : word;
  const fitting = found.words.filter(([each]) => each.startsWith(typed));
  const lines = fitting.map(([each, description]) => (description ? `${each}\t${description}` : each));
  return [...lines, `:${NO_FILES + (found.isOpen ? NO_SPACE : 0)}`];
}

async function candidates(
  words: readonly string[],
  connect: (flags: ConnectionFlags) => Promise<Cluster>,
): Promise<Candidates> {
  const at = words.findIndex((word, index) => index < words.length - 1 && commandEntry(word) !== undefined);
  const entry = at < 0 ? undefined : commandEntry(words[at]!);
  if (!entry) {
    const shown = COMMANDS.filter(({ isHidden }) => !isHidden);
    return { words: shown.map(({ name, summary }): [string, string] => [name, summary]) };
  }
  const definition = await entry.load();
  const options = [...(definition.options ?? []), ...(definition.isLocal ? [] : CONNECTION_OPTIONS)];
  const rest = words.slice(at + 1);
  const place = placeOf(rest, definition, options);
  if (place.of === 'option') {
    const flags = options.filter(({ isHidden }) => !isHidden);
    return {
      words: flags.map(({ flags: each, help }): [string, string] => [/--[\w-]+/.exec(each)?.[0] ?? each, help]),
    };
  }
  const flags = valuesOf([...words.slice(0, at), ...rest], options);
  return candidatesFor(place.completes, place.word, () => connect({ ...flags, requestTimeout: TIMEOUT }));
}

// Where on a command line the cursor is: which command, which option or argument, and what is typed of it. Pure.

type Place =
  | { of: 'option'; word: string }
  | { of: 'value'; word: string; completes: Completion | undefined }
  | { of: 'argument'; word: string; completes: Completion | undefined };

/** `words` after the command's name, the last one is being typed and may be empty. */
function placeOf(words: readonly string[], definition: CommandDefinition, options: readonly OptionDefinition[]): Place {
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
function valuesOf(words: readonly string[], options: readonly OptionDefinition[]): Record<string, string> {
  const values: Record<string, string> = {};
  words.forEach((word, index) => {
    const [flag = '', inline] = word.split(/=(.*)/s);
    const option = optionNamed(flag, options);
    const value = inline ?? words[index + 1];
    if (option && takesValue(option) && value !== undefined) values[nameOf(option)] = value;
  });
  return values;
}

function takesValue({ flags }: OptionDefinition): boolean {
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

// What may stand at the cursor: names from the cluster, where it answers in time.

interface Candidates {
  words: readonly (readonly [word: string, description?: string])[];
  /** More of the same word follows: no space after it. */
  isOpen?: true;
}

const NONE: Candidates = { words: [] };

/** `word` is what is typed of it. */
async function candidatesFor(
  completes: Completion | undefined,
  word: string,
  cluster: () => Promise<Cluster>,
): Promise<Candidates> {
  if (completes === undefined) return NONE;
  if (typeof completes !== 'string') return { words: completes.map((each) => [each]) };
  switch (completes) {
    case 'rollouts':
      return names(await cluster(), resourceOf(KINDS.Rollout));
    case 'gates':
      return names(await cluster(), resourceOf(KINDS.Gate));
    case 'budgets':
      return names(await cluster(), resourceOf(KINDS.RolloutBudget));
    case 'namespaces':
      return names(await cluster(), { apiVersion: 'v1', resource: 'namespaces' }, '', false);
    case 'contexts':
      return { words: contextsOf((await cluster()).selected) };
    case 'targets':
      return targets(word, cluster);
    default:
      return NONE;
  }
}

function contextsOf({ config }: Selected): [string, string][] {
  return config.contexts.map(({ name, cluster }) => [name, cluster]);
}

/** `kind/` first, then its names. */
async function targets(word: string, cluster: () => Promise<Cluster>): Promise<Candidates> {
  const slash = word.indexOf('/');
  if (slash < 0) {
    return { words: Object.values(KINDS).map(({ kind }) => [`${kind.toLowerCase()}/`]), isOpen: true };
  }
  const prefix = word.slice(0, slash);
  const row = Object.values(KINDS).find(({ kind, resource }) => kind.toLowerCase() === prefix || resource === prefix);
  return row ? names(await cluster(), resourceOf(row), `${prefix}/`) : NONE;
}

/** So many are enough to choose from; more would be slow. */
const MOST = 500;

async function names(
  { client, namespace }: Cluster,
  of: Pick<Collection, 'apiVersion' | 'resource'>,
  prefix = '',
  isNamespaced = true,
): Promise<Candidates> {
  const words: [string][] = [];
  for await (const { items } of client.pages({
    ...of,
    namespace: isNamespaced ? namespace : undefined,
    pageSize: MOST,
  })) {
    words.push(...items.map(({ metadata }): [string] => [`${prefix}${metadata.name}`]));
    break;
  }
  return { words };
}
