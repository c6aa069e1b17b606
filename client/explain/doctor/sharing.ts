/** ClusterRolloutBudgets that let Rollouts of one namespace hold those of others that nobody meant to share with. */
import type { Budget, ClusterRolloutBudget } from '../../../api/types.ts';
import { namespacesOf } from '../../../core/budget/selectingBudgets.ts';
import { type Finding, problem } from './finding.ts';

const ABOUT = 'Budgets';
const SELECT = 'select namespaces in spec.namespaceSelector by a label that only you can set';

export function sharingFindings(budgets: readonly Budget[]): Finding[] {
  return budgets
    .filter(({ metadata }) => !metadata.namespace)
    .flatMap((budget) => findingsOf(budget as ClusterRolloutBudget));
}

function findingsOf(budget: ClusterRolloutBudget): Finding[] {
  const { metadata, spec } = budget;
  const title = `ClusterRolloutBudget ${metadata.name}`;
  const findings: Finding[] = [];
  // A CRD from before the field was required lets such a budget in.
  if (!spec.namespaceSelector) {
    findings.push(problem(ABOUT, `${title} has no spec.namespaceSelector: it grants no slot`, SELECT));
  } else if (!namespacesOf(budget)) {
    const who = 'whoever may label a Rollout in one takes slots and holds versions in all';
    findings.push(problem(ABOUT, `${title} selects every namespace: ${who}`, SELECT));
  }
  if (!spec.slotTimeout) {
    const what = 'a deployment that never ends takes its slot for ever';
    findings.push(problem(ABOUT, `${title} has no spec.slotTimeout: ${what}`, 'set spec.slotTimeout, such as 24h'));
  }
  return findings;
}
