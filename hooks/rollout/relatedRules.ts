/** The objects that Metacontroller sends with a Rollout, and whose changes trigger its sync. */
import { ROLLOUT_NAME_LABEL, SELECTS_ROLLOUTS_LABEL } from '../../api/annotations.ts';
import { FLUX_BINDINGS, GATES, HEALTH_CHECKS, KINDS, ROLLOUT_GATES, ROLLOUTS } from '../../api/kinds.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { ObjectMap, RelatedResourceRule } from '../../api/metacontroller.ts';
import type { ClusterReader, HookCall } from '../../api/ports.ts';
import type { Rollout } from '../../api/types.ts';
import { boundLabel } from '../../core/binding/bindingSpec.ts';
import { slotRules } from '../../core/budget/selectingBudgets.ts';
import { gatesNamedBy } from '../../core/gate/gateRefs.ts';
import { selectingGateRules } from '../../core/gate/gateSelection.ts';
import { healthCheckLabels } from '../../core/health/association.ts';
import { labelValue } from '../../core/kube/names.ts';
import { sendsKind } from '../../core/kube/objectMap.ts';
import { policyRef } from '../../core/policy/imagePolicy.ts';
import { specProblems, withAllowedRefs } from '../../core/rollout/evaluation/specProblems.ts';
import { upstreamRefs } from '../../core/rollout/upstream/dependencies.ts';
import type { UpstreamRollouts } from '../../core/rollout/upstream/upstreamVerdict.ts';
import { servedVersion } from '../../live/objectReads.ts';
import { namedRules, namespaceRules } from '../customizeRules.ts';

/**
 * The rules for objects to relate. One without names would relate all objects of its namespace (docs/facts.md, M11),
 * and one for a kind that isn't served would fail each sync (M14): such rules are left out.
 */
export async function relatedRules(
  parent: Rollout,
  { cluster, settings }: Pick<HookCall, 'cluster' | 'settings'>,
): Promise<RelatedResourceRule[]> {
  const rollout = withAllowedRefs(parent, settings);
  const { namespace = '', name = '' } = rollout.metadata;
  return [
    ...(await policyRule(rollout, cluster)),
    {
      ...ROLLOUT_GATES,
      namespace,
      labelSelector: { matchLabels: { [ROLLOUT_NAME_LABEL]: labelValue(name) } },
    },
    {
      ...FLUX_BINDINGS,
      namespace,
      labelSelector: { matchExpressions: [{ key: boundLabel(name), operator: 'Exists' }] },
    },
    ...healthCheckRule(rollout),
    // These don't depend on the existing Gates, because the answer is cached by generation (docs/facts.md, M6).
    ...selectingGateRules(namespace, SELECTS_ROLLOUTS_LABEL),
    ...(await namespaceRules(namespace, cluster)),
    ...(await budgetRules({ namespace, name }, cluster)),
    ...namedRules(GATES, gatesNamedBy(rollout)),
    ...namedRules(ROLLOUTS, upstreamRefs(rollout)),
  ];
}

async function policyRule(rollout: Rollout, cluster: ClusterReader): Promise<RelatedResourceRule[]> {
  const ref = policyRef(rollout);
  const apiVersion = ref && (await servedVersion('ImagePolicy', cluster));
  if (!apiVersion) return [];
  return [{ apiVersion, resource: KINDS.ImagePolicy.resource, namespace: ref.namespace, names: [ref.name] }];
}

/**
 * The rule for HealthChecks of the Rollout's own namespace; `watchedChecks` reads others live once they consent.
 * None for an invalid selector, which would fail the sync: the plan reports the problem.
 */
export function healthCheckRule({ metadata, spec }: Rollout): RelatedResourceRule[] {
  const labelSelector = healthCheckLabels(spec?.healthCheckSelector);
  if (!labelSelector || specProblems(spec ?? {}).length > 0) return [];
  return [{ ...HEALTH_CHECKS, namespace: metadata.namespace ?? '', labelSelector }];
}

/**
 * The rules for budgets that may select the Rollout. Without any budget in the cluster there are none, because each
 * event of a related kind is matched against every rule of every Rollout (ADR 2).
 */
async function budgetRules(rollout: NamespacedName, cluster: ClusterReader): Promise<RelatedResourceRule[]> {
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
export function isTriggeredByGrant(related: ObjectMap): boolean {
  return sendsKind(related, KINDS.RolloutBudget) || sendsKind(related, KINDS.ClusterRolloutBudget);
}

/**
 * Whether every change of the upstream Rollouts triggers a sync: neither a Namespace's consent nor the end of a cycle
 * does.
 */
export function isTriggeredByUpstream(rollout: Rollout, { found, problem }: UpstreamRollouts): boolean {
  return problem === undefined && found.length >= upstreamRefs(rollout).length;
}
