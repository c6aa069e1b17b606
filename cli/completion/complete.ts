/**
 * Cobra's completion protocol, which kubectl and flux use with their plugins. Input: the words typed so far. Output: a
 * line for each candidate, with a tab before its description, and a line with a directive. Source: Cobra's
 * documentation.
 */
import { Option } from 'commander';
import { KINDS, type KindName, NAMESPACES, ROLLOUT_GATES, ROLLOUTS, resourceOf } from '../../api/kinds.ts';
import type { Rollout, RolloutGate } from '../../api/types.ts';
import type { Cluster } from '../../connection/kube/cluster.ts';
import type { Collection, KubeClient } from '../../connection/kube/kubeClient.ts';
import type { ConnectionFlags } from '../../connection/kube/kubeconfig.ts';
import { kindRow } from '../../connection/read/namedObjects.ts';
import { quote } from '../../core/text/shell.ts';
import type { ArgumentDefinition, Completion, OptionDefinition } from '../command/command.ts';
import { isNamed, optionsOf, takesValue } from '../command/options.ts';
import { COMMANDS, commandEntry } from '../commands/index.ts';

const NO_SPACE = 2;
const NO_FILES = 4;

/** The request timeout: a user waits for completions. */
const TIMEOUT = '3s';

/** The lines of the completions. Never fails: without a cluster there are fewer candidates. */
export async function complete(
  words: readonly string[],
  connect: (flags: ConnectionFlags) => Promise<Cluster>,
): Promise<string[]> {
  const found = await candidates(words, connect).catch(() => NO_CANDIDATES);
  const word = words.at(-1) ?? '';
  // In `--output=js` shells replace only the part after the equals sign.
  const typed = word.startsWith('--') ? (word.split(/=(.*)/s)[1] ?? word) : word;
  // The shell puts a candidate on the command line without quotes, and any user can write a tag into a history.
  const matching = found.words.filter(([each]) => each.startsWith(typed) && quote(each) === each);
  const lines = matching.map(([each, description]) => (description ? `${each}\t${description}` : each));
  return [...lines, `:${NO_FILES + (found.isOpen ? NO_SPACE : 0)}`];
}

async function candidates(
  words: readonly string[],
  connect: (flags: ConnectionFlags) => Promise<Cluster>,
): Promise<Candidates> {
  const at = words.findIndex((word, index) => index < words.length - 1 && commandEntry(word) !== undefined);
  const entry = at < 0 ? undefined : commandEntry(words[at]!);
  if (!entry) return { words: COMMANDS.map(({ name, summary }): [string, string] => [name, summary]) };
  const definition = await entry.load();
  const { own, connection } = optionsOf(definition);
  const options = [...own, ...connection];
  const rest = words.slice(at + 1);
  const word = rest.at(-1) ?? '';
  const before = rest.slice(0, -1);
  const inline = /^(--[\w-]+)=(.*)$/.exec(word);
  const option = inline ? optionNamed(inline[1]!, options) : optionBeforeValue(before, options);
  if (!inline && !option && word.startsWith('-')) {
    return { words: options.map(({ flags, help }) => [new Option(flags).long!, help] as const) };
  }
  const isValue = inline !== null || option !== undefined;
  const completes = isValue
    ? (option?.completes ?? option?.choices)
    : argumentAt(definition.arguments ?? [], positionals(before, options).length)?.completes;
  const flags = valuesOf([...words.slice(0, at), ...rest], options);
  const typed = { word: inline?.[2] ?? word, first: positionals(before, options)[0] };
  return candidatesFor(completes, typed, () => connect({ ...flags, requestTimeout: TIMEOUT }));
}

/** The values of options in the words, `-n shop` or `--namespace=shop`; of several the last one. */
function valuesOf(words: readonly string[], options: readonly OptionDefinition[]): Record<string, string> {
  const values: Record<string, string> = {};
  words.forEach((word, index) => {
    const [flag = '', inline] = word.split(/=(.*)/s);
    const option = optionNamed(flag, options);
    const value = inline ?? words[index + 1];
    if (option && takesValue(option) && value !== undefined) values[new Option(option.flags).attributeName()] = value;
  });
  return values;
}

const optionNamed = (flag: string, options: readonly OptionDefinition[]) =>
  options.find((option) => isNamed(option, flag));

/** The option whose value the next word is. */
function optionBeforeValue(before: readonly string[], options: readonly OptionDefinition[]) {
  const last = optionNamed(before.at(-1) ?? '', options);
  return last && takesValue(last) ? last : undefined;
}

function positionals(before: readonly string[], options: readonly OptionDefinition[]): string[] {
  return before.filter((word, index) => !word.startsWith('-') && !optionBeforeValue(before.slice(0, index), options));
}

/** The definition of the argument at a position; the last one may be a list. */
function argumentAt(all: readonly ArgumentDefinition[], at: number): ArgumentDefinition | undefined {
  const last = all.at(-1);
  return all[at] ?? (last?.syntax.includes('...') ? last : undefined);
}

interface Candidates {
  words: readonly (readonly [word: string, description?: string])[];
  /** Set if the candidates are only the beginning of a word: the shell adds no space. */
  isOpen?: true;
}

const NO_CANDIDATES: Candidates = { words: [] };

/** The candidates. `word`: the part that is typed already. `first`: the first argument, if it is complete. */
async function candidatesFor(
  completes: Completion | undefined,
  { word, first = '' }: { word: string; first?: string | undefined },
  cluster: () => Promise<Cluster>,
): Promise<Candidates> {
  if (completes === undefined) return NO_CANDIDATES;
  if (typeof completes !== 'string' && !('names' in completes)) {
    return 'kinds' in completes
      ? targets(word, cluster, completes)
      : { words: completes.map((each): [string] => [each]) };
  }
  const { client, namespace, selected } = await cluster();
  const namesOf = (kind: KindName, prefix?: string) => names(client, { ...resourceOf(KINDS[kind]), namespace }, prefix);
  if (typeof completes !== 'string') return { words: await namesOf(completes.names) };
  switch (completes) {
    case 'versions':
      return { words: await versions(client, namespace, first) };
    case 'gates':
      return { words: (await Promise.all([namesOf('Gate'), namesOf('RolloutGate', 'rolloutgate/')])).flat() };
    case 'budgets':
      return { words: await budgets(client, namespace) };
    case 'namespaces':
      return { words: await names(client, NAMESPACES) };
    case 'contexts':
      return { words: selected.config.contexts.map(({ name, cluster: of }): [string, string] => [name, of]) };
  }
}

/** The candidates for `kind/name`: names of Rollouts and kinds, and after a slash the names of the kind. */
async function targets(
  word: string,
  cluster: () => Promise<Cluster>,
  { kinds, orRollout }: { kinds: readonly KindName[]; orRollout: boolean },
): Promise<Candidates> {
  const slash = word.indexOf('/');
  if (slash < 0) {
    const prefixes = kinds.map((kind): [string] => [`${kind.toLowerCase()}/`]);
    const rollouts = orRollout
      ? cluster().then(({ client, namespace }) => names(client, { ...resourceOf(KINDS.Rollout), namespace }))
      : [];
    // The kinds are offered even if the cluster does not answer.
    const found = await Promise.resolve(rollouts).catch(() => []);
    return { words: [...found, ...prefixes], isOpen: true };
  }
  const prefix = word.slice(0, slash);
  const row = kindRow(prefix);
  if (!row) return NO_CANDIDATES;
  const { client, namespace } = await cluster();
  return { words: await names(client, { ...resourceOf(row), namespace }, `${prefix}/`) };
}

/** The versions of a Rollout, newest first. `target`: the Rollout, or its RolloutGate as `rolloutgate/name`. */
async function versions(client: KubeClient, namespace: string, target: string): Promise<[string][]> {
  const parts = target.split('/');
  const row = parts.length > 1 ? kindRow(parts[0]!) : KINDS.Rollout;
  const ref = { namespace, name: parts.at(-1)! };
  const gate = row?.kind === 'RolloutGate' ? await client.get<RolloutGate>({ ...ROLLOUT_GATES, ...ref }) : undefined;
  const name = row?.kind === 'Rollout' ? ref.name : gate?.spec?.rolloutRef.name;
  const rollout = name ? await client.get<Rollout>({ ...ROLLOUTS, namespace, name }) : undefined;
  const { availableReleases = [], history = [] } = rollout?.status ?? {};
  const tags = [...availableReleases.map(({ tag }) => tag).reverse(), ...history.map(({ version }) => version.tag)];
  return [...new Set(tags)].map((tag) => [tag]);
}

/** The budgets of the namespace, and those of the cluster, if the user may read them. */
async function budgets(client: KubeClient, namespace: string): Promise<[string][]> {
  const { RolloutBudget, ClusterRolloutBudget } = KINDS;
  const found = await Promise.all([
    names(client, { ...resourceOf(RolloutBudget), namespace }).catch(() => []),
    names(client, resourceOf(ClusterRolloutBudget), 'clusterrolloutbudget/').catch(() => []),
  ]);
  return found.flat();
}

/** The most names that are read: more would be slow. */
const MAX_NAMES = 500;

/** The names of objects: the first page of their list. */
async function names(client: KubeClient, from: Collection, prefix = ''): Promise<[string][]> {
  for await (const { items } of client.pages({ ...from, pageSize: MAX_NAMES }))
    return items.map(({ metadata }) => [`${prefix}${metadata.name}`]);
  return [];
}
