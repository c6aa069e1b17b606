/** Checks budgets: whether they select more than a request can carry, or let any namespace take their slots. */
import { NAMESPACES } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import { MAX_REQUEST_BYTES } from '../../api/metacontroller.ts';
import type { Budget, ClusterRolloutBudget, Rollout } from '../../api/types.ts';
import { budgetKind } from '../../client/actions/writes/budgetWrites.ts';
import { namespaceSelectorOf, selects } from '../../core/budget/selectingBudgets.ts';
import { goJsonBytes } from '../../core/kube/json.ts';
import { identityOf, refKey } from '../../core/kube/names.ts';
import { checkOf, type Found, problem } from './finding.ts';

export const checkBudgets = checkOf('Budgets', async ({ list, kind, namespace }) => {
  const isWhole = namespace === undefined;
  const [own = [], ofCluster = [], namespaces, rollouts = []] = await Promise.all([
    kind<Budget>('RolloutBudget'),
    // Their Rollouts may be in namespaces that are not checked.
    isWhole ? kind<Budget>('ClusterRolloutBudget') : [],
    isWhole ? list<KubeObject>(NAMESPACES) : undefined,
    kind<Rollout>('Rollout'),
  ]);
  const labels = namespaces && new Map(namespaces.map(({ metadata }) => [metadata.name ?? '', metadata.labels ?? {}]));
  return [...sharingFindings(ofCluster), ...sizeFindings([...own, ...ofCluster], rollouts, labels)];
});

/** The share of the size limit from which on there is a finding: a history grows with each deployment. */
const WARNING_SHARE = 0.8;
const inMib = (bytes: number) => `${(bytes / 1024 / 1024).toFixed(1)} MiB`;

/**
 * Findings about budgets whose Rollouts are too large for a request. `labels`: of each Namespace; undefined: unknown.
 */
export function sizeFindings(
  budgets: readonly Budget[],
  rollouts: readonly Rollout[],
  labels: ReadonlyMap<string, Readonly<Record<string, string>>> | undefined,
): Found[] {
  return budgets.flatMap((budget) => {
    if (!labels && !budget.metadata.namespace) return [];
    const selected = rollouts.filter((rollout) =>
      selects(budget, rollout, labels?.get(rollout.metadata.namespace ?? '') ?? {}),
    );
    const bytes = selected.reduce((sum, rollout) => sum + goJsonBytes(rollout), goJsonBytes(budget));
    if (bytes < MAX_REQUEST_BYTES * WARNING_SHARE) return [];
    const name = `${budgetKind(budget)} ${refKey(identityOf(budget))}`;
    const size = `The ${selected.length} Rollouts that ${name} selects take ${inMib(bytes)} together`;
    const limit = `a request to its hook can have at most ${inMib(MAX_REQUEST_BYTES)}`;
    const isOver = bytes > MAX_REQUEST_BYTES;
    const text = isOver ? `${size}, but ${limit}: its hook answers 413, and no slot is granted` : `${size}: ${limit}`;
    return problem(
      text,
      'use several budgets that select fewer Rollouts each, or a smaller spec.versionHistoryLimit of the Rollouts',
    );
  });
}

/** Findings about ClusterRolloutBudgets with which a Rollout of one namespace can hold Rollouts of another. */
export function sharingFindings(budgets: readonly Budget[]): Found[] {
  const ofCluster = budgets.filter(({ metadata }) => !metadata.namespace) as ClusterRolloutBudget[];
  const sharing = 'any user who may label a Rollout in one namespace can take slots and block versions in all';
  return ofCluster
    .filter((budget) => namespaceSelectorOf(budget) === undefined)
    .map(({ metadata }) =>
      problem(
        `ClusterRolloutBudget ${metadata.name} selects every namespace: ${sharing}`,
        'select namespaces in spec.namespaceSelector by a label that only you can set',
      ),
    );
}
