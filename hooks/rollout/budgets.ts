/** The RolloutBudgets that select a Rollout, read live before a deployment. */
import { CLUSTER_ROLLOUT_BUDGETS, NAMESPACES, ROLLOUT_BUDGETS } from '../../api/kinds.ts';
import type { ClusterReader, ResourceRef } from '../../api/ports.ts';
import type { Budget, Rollout } from '../../api/types.ts';
import { type Budgets, budgetsOf, namespacesOf } from '../../core/budget/selects.ts';
import { LIMITS } from '../../core/limits.ts';

export async function liveBudgets(rollout: Rollout, cluster: ClusterReader): Promise<Budgets> {
  const { namespace = '' } = rollout.metadata;
  const lists = await Promise.all([
    listed(CLUSTER_ROLLOUT_BUDGETS, cluster),
    listed({ ...ROLLOUT_BUDGETS, namespace }, cluster),
  ]);
  const budgets = lists.flat();
  const home = budgets.some((budget) => namespacesOf(budget) !== undefined)
    ? await cluster.get({ ...NAMESPACES, name: namespace })
    : undefined;
  const isTruncated = lists.some(({ length }) => length > LIMITS.listedBudgets);
  return budgetsOf(rollout, budgets, home?.metadata.labels ?? {}, isTruncated);
}

/** One more than the limit where there are more. The CRD may be younger than this server. */
async function listed(ref: ResourceRef, cluster: ClusterReader): Promise<Budget[]> {
  if (!(await cluster.serves(ref))) return [];
  return cluster.list<Budget>({ ...ref, atMost: LIMITS.listedBudgets + 1 });
}
