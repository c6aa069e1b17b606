/** The RolloutBudgets that select a Rollout: read live before a deployment, and related so that a grant wakes it. */
import { CLUSTER_ROLLOUT_BUDGETS, KINDS, ROLLOUT_BUDGETS } from '../../api/kinds.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { ObjectMap, RelatedResourceRule } from '../../api/metacontroller.ts';
import type { ClusterReader, ResourceRef } from '../../api/ports.ts';
import type { Budget, Rollout } from '../../api/types.ts';
import { type Budgets, budgetsOf, namespaceSelectorOf, slotRules } from '../../core/budget/selectingBudgets.ts';
import { sendsKind } from '../../core/kube/objectMap.ts';
import { LIMITS } from '../../core/limits.ts';
import { namespaceLabels } from '../../live/objectReads.ts';

/**
 * The rules for budgets that may select the Rollout. Without any budget in the cluster there are none, because each
 * event of a related kind is matched against every rule of every Rollout (ADR 2).
 */
export async function budgetRules(rollout: NamespacedName, cluster: ClusterReader): Promise<RelatedResourceRule[]> {
  const rules = slotRules(rollout);
  const some = await Promise.all(
    rules.map(({ apiVersion, resource, namespace }) =>
      cluster.hasAny({ apiVersion, resource, ...(namespace !== undefined && { namespace }) }),
    ),
  );
  return rules.filter((_, index) => some[index]);
}

/**
 * Whether a grant triggers a sync of the Rollout: not if its rules are older than the first budget (docs/facts.md, M6).
 */
export function wakesOnGrant(related: ObjectMap): boolean {
  return sendsKind(related, KINDS.RolloutBudget) || sendsKind(related, KINDS.ClusterRolloutBudget);
}

/** The budgets that select the Rollout, as they are now. */
export async function liveBudgets(rollout: Rollout, cluster: ClusterReader): Promise<Budgets> {
  const { namespace = '' } = rollout.metadata;
  const lists = await Promise.all([
    listBudgets(CLUSTER_ROLLOUT_BUDGETS, cluster),
    listBudgets({ ...ROLLOUT_BUDGETS, namespace }, cluster),
  ]);
  const budgets = lists.flat();
  const isNeeded = budgets.some((budget) => namespaceSelectorOf(budget) !== undefined);
  const labels = isNeeded ? await namespaceLabels(namespace, cluster) : {};
  const isTruncated = lists.some(({ length }) => length > LIMITS.listedBudgets);
  return budgetsOf(rollout, budgets, labels, isTruncated);
}

/** The budgets: one more than the limit if there are too many; none while the CRD isn't installed. */
async function listBudgets(ref: ResourceRef, cluster: ClusterReader): Promise<Budget[]> {
  if (!(await cluster.serves(ref))) return [];
  return cluster.list<Budget>({ ...ref, atMost: LIMITS.listedBudgets + 1 });
}
