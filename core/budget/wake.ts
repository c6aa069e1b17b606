/**
 * How a grant wakes its Rollout, and no other: the budget carries a label for it, and the Rollout relates budgets that have it.
 * Were all budgets related, each grant would sync every Rollout of the cluster.
 */
import { SLOT_LABEL_SUFFIX } from '../../api/annotations.ts';
import { CLUSTER_ROLLOUT_BUDGETS, ROLLOUT_BUDGETS } from '../../api/kinds.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { RelatedResourceRule } from '../../api/metacontroller.ts';
import type { Budget } from '../../api/types.ts';
import { refKey, shortHash } from '../kube/names.ts';

/** Label key; its value is empty. */
export function slotLabel(rollout: NamespacedName): string {
  return `${shortHash(refKey(rollout))}.${SLOT_LABEL_SUFFIX}`;
}

/** Those that a budget is to have: of grants that are not used. */
export function slotLabels({ status }: Budget): string[] {
  const unused = (status?.slots ?? []).filter(({ state }) => state === 'Granted' || state === 'Revoking');
  return unused.map(slotLabel);
}

/** For the customize hook of a Rollout. */
export function slotRules(rollout: NamespacedName): RelatedResourceRule[] {
  const labelSelector = { matchExpressions: [{ key: slotLabel(rollout), operator: 'Exists' }] };
  return [
    { ...CLUSTER_ROLLOUT_BUDGETS, labelSelector },
    { ...ROLLOUT_BUDGETS, namespace: rollout.namespace, labelSelector },
  ];
}
