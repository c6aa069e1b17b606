/** What may stand at the cursor: names from the cluster, where it answers in time. */
import { KINDS, resourceOf } from '../../api/kinds.ts';
import type { Cluster, Completion } from '../command/command.ts';
import type { Collection } from '../kube/client.ts';
import type { Selected } from '../kube/kubeconfig.ts';

export interface Candidates {
  words: readonly (readonly [word: string, description?: string])[];
  /** More of the same word follows: no space after it. */
  isOpen?: true;
}

const NONE: Candidates = { words: [] };

/** `word` is what is typed of it. */
export async function candidatesFor(
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
