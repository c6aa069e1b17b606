/** Whether Metacontroller can send what a budget selects, and whether a budget of the cluster says who shares it. */
import { NAMESPACES } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { Budget, Rollout } from '../../api/types.ts';
import type { Finding } from '../../client/explain/doctor/finding.ts';
import { sharingFindings } from '../../client/explain/doctor/sharing.ts';
import { sizeFindings } from '../../client/explain/doctor/sizes.ts';
import { type Check, ofKind, seen } from './examined.ts';

const ABOUT = 'Budgets';

export const checkBudgets: Check = async (examined) => {
  const notes: Finding[] = [];
  const isWhole = examined.namespace === undefined;
  const [own, ofCluster, namespaces, rollouts] = await Promise.all([
    ofKind<Budget>(examined, 'RolloutBudget', ABOUT, notes),
    // What one of these selects is in other namespaces too.
    isWhole ? ofKind<Budget>(examined, 'ClusterRolloutBudget', ABOUT, notes) : [],
    isWhole ? seen<KubeObject>(examined.client, NAMESPACES, ABOUT, notes) : undefined,
    ofKind<Rollout>(examined, 'Rollout', ABOUT, notes),
  ]);
  const labels = namespaces && new Map(namespaces.map(({ metadata }) => [metadata.name ?? '', metadata.labels ?? {}]));
  const sizes = sizeFindings([...(own ?? []), ...(ofCluster ?? [])], rollouts ?? [], labels);
  return [...sharingFindings(ofCluster ?? []), ...sizes, ...notes];
};
