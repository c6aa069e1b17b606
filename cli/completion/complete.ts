/**
 * Cobra's completion protocol, which kubectl and flux speak with their plugins: the words typed so far in, candidates out, a line each with a
 * tab before the description, and a line with a directive at the end. Source: the documentation of Cobra's shell completions.
 */
import type { Cluster } from '../command/command.ts';
import { CONNECTION_OPTIONS } from '../command/options.ts';
import { COMMANDS, commandEntry } from '../commands/index.ts';
import type { ConnectionFlags } from '../kube/kubeconfig.ts';
import { type Candidates, candidatesFor } from './candidates.ts';
import { placeOf, valuesOf } from './line.ts';

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
