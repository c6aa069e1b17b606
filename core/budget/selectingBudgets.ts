/** The RolloutBudgets from which a Rollout needs slots, and their order. */
import { SLOT_LABEL_SUFFIX } from '../../api/annotations.ts';
import { CLUSTER_ROLLOUT_BUDGETS, KINDS, ROLLOUT_BUDGETS } from '../../api/kinds.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { RelatedResourceRule } from '../../api/metacontroller.ts';
import type { Budget, ClusterRolloutBudget, Rollout } from '../../api/types.ts';
import { refKey, shortHash } from '../kube/names.ts';
import { matchesSelector, SelectorError } from '../kube/selector.ts';
import { LIMITS } from '../limits.ts';

export interface Budgets {
  /** The budgets that select the Rollout, in the order in which it requests their slots. */
  selecting: readonly Budget[];
  /** Why the budgets are unknown, so that no deployment may start: a clause. */
  problem?: string;
}

/**
 * Key of a budget: `ClusterRolloutBudget/fleet`. It has no namespace, because a Rollout's RolloutBudgets are all in its
 * own.
 */
export function budgetKey(budget: Pick<Budget, 'metadata'>): string {
  return `${kindOf(budget)}/${budget.metadata.name}`;
}

/** The kind, from the namespace: items of a list have no kind. */
export function kindOf({ metadata }: Pick<Budget, 'metadata'>): string {
  return metadata.namespace ? KINDS.RolloutBudget.kind : KINDS.ClusterRolloutBudget.kind;
}

/** Name of a budget for messages: `RolloutBudget 'fleet'`. */
export function budgetTitle(budget: Pick<Budget, 'metadata'>): string {
  return `${kindOf(budget)} '${budget.metadata.name}'`;
}

/** The selector of a ClusterRolloutBudget's namespaces; undefined if it selects all, and for a RolloutBudget. */
export function namespaceSelectorOf(budget: Budget): ClusterRolloutBudget['spec']['namespaceSelector'] | undefined {
  const selector = budget.metadata.namespace ? undefined : (budget as ClusterRolloutBudget).spec.namespaceSelector;
  const isEmpty = !Object.keys(selector?.matchLabels ?? {}).length && !selector?.matchExpressions?.length;
  return isEmpty ? undefined : selector;
}

/**
 * Whether the budget selects the Rollout. A budget with an invalid selector selects every Rollout, so that no
 * deployment starts that it was meant to block.
 */
export function selects(
  budget: Budget,
  { metadata }: Rollout,
  namespaceLabels: Readonly<Record<string, string>>,
): boolean {
  const { namespace } = budget.metadata;
  if (namespace && namespace !== metadata.namespace) return false;
  try {
    return (
      matchesSelector(namespaceSelectorOf(budget), namespaceLabels) &&
      matchesSelector(budget.spec.selector, metadata.labels)
    );
  } catch (error) {
    if (error instanceof SelectorError) return true;
    throw error;
  }
}

/**
 * The budgets of a Rollout, in the same order for all Rollouts: the cluster's first, then by name. So two Rollouts
 * never each hold the slot that the other waits for.
 * @param isTruncated whether there are more budgets than were listed
 */
export function budgetsOf(
  rollout: Rollout,
  listed: readonly Budget[],
  namespaceLabels: Readonly<Record<string, string>>,
  isTruncated: boolean,
): Budgets {
  if (isTruncated) {
    return {
      selecting: [],
      problem: `there are more than ${LIMITS.listedBudgets} RolloutBudgets or ClusterRolloutBudgets (limit listedBudgets)`,
    };
  }
  const selecting = listed.filter((budget) => selects(budget, rollout, namespaceLabels)).sort(byKey);
  if (selecting.length <= LIMITS.budgetsOfRollout) return { selecting };
  const problem = `${selecting.length} budgets select this Rollout, more than ${LIMITS.budgetsOfRollout} (limit budgetsOfRollout)`;
  return { selecting: [], problem };
}

function byKey(a: Budget, b: Budget): number {
  return budgetKey(a) < budgetKey(b) ? -1 : 1;
}

// Labels with which a grant triggers a sync of its Rollout only: the budget gets a label for the Rollout, and the
// Rollout relates budgets with this label. If Rollouts related all budgets, each grant would sync every Rollout of the
// cluster.

/** The key of the label for a Rollout; its value is empty. */
export function slotLabel(rollout: NamespacedName): string {
  return `${shortHash(refKey(rollout))}.${SLOT_LABEL_SUFFIX}`;
}

/** The labels that a budget needs: one for each unused grant. */
export function slotLabels({ status }: Budget): string[] {
  const unused = (status?.slots ?? []).filter(({ state }) => state === 'Granted' || state === 'Revoking');
  return unused.map(slotLabel);
}

/** Rules for the customize hook of a Rollout: the budgets with its label. */
export function slotRules(rollout: NamespacedName): RelatedResourceRule[] {
  const labelSelector = { matchExpressions: [{ key: slotLabel(rollout), operator: 'Exists' }] };
  return [
    { ...CLUSTER_ROLLOUT_BUDGETS, labelSelector },
    { ...ROLLOUT_BUDGETS, namespace: rollout.namespace, labelSelector },
  ];
}
