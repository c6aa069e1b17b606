/** Budgets by the names that people type. */
import { KINDS, resourceOf } from '../../api/kinds.ts';
import type { Budget } from '../../api/types.ts';
import type { Cluster } from '../command/command.ts';
import { isApiError } from '../kube/apiError.ts';
import { Problem } from '../terminal/exit.ts';
import { readTarget } from './target.ts';

/** `fleet` is a RolloutBudget of the namespace, else a ClusterRolloutBudget; `clusterrolloutbudget/fleet` says which. @throws Problem where there is none. */
export async function readBudget(cluster: Cluster, text: string): Promise<Budget> {
  const { client, namespace } = cluster;
  if (text.includes('/')) {
    const { kind, object } = await readTarget(cluster, text);
    if (kind === 'RolloutBudget' || kind === 'ClusterRolloutBudget') return object as Budget;
    throw new Problem(`${object.kind} '${object.metadata.name}' is no budget.`);
  }
  const own = await client.get<Budget>({ ...resourceOf(KINDS.RolloutBudget), namespace, name: text });
  if (own) return own;
  const ofCluster = await client
    .get<Budget>({ ...resourceOf(KINDS.ClusterRolloutBudget), name: text })
    .catch((error: unknown) => {
      if (isApiError(error, 403, 404)) return undefined;
      throw error;
    });
  if (ofCluster) return ofCluster;
  // Says where there is one of that name.
  return (await readTarget(cluster, `rolloutbudget/${text}`)).object as Budget;
}
