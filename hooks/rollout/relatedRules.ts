/** The customize rules of a Rollout: docs/facts.md, M11 and M14. */
import { ROLLOUT_NAME_LABEL, SELECTS_ROLLOUTS_LABEL } from '../../api/annotations.ts';
import { FLUX_BINDINGS, GATES, HEALTH_CHECKS, KINDS, ROLLOUT_GATES, ROLLOUTS } from '../../api/kinds.ts';
import type { RelatedResourceRule } from '../../api/metacontroller.ts';
import type { ClusterReader } from '../../api/ports.ts';
import type { Rollout } from '../../api/types.ts';
import { gatesNamedBy } from '../../core/gate/gateRefs.ts';
import { selectingGateRules } from '../../core/gate/gateSelection.ts';
import { healthCheckLabels } from '../../core/health/association.ts';
import { boundLabel, labelValue } from '../../core/kube/names.ts';
import { policyRef } from '../../core/policy/imagePolicy.ts';
import { specProblems } from '../../core/rollout/evaluation/inputs.ts';
import { upstreamRefs } from '../../core/rollout/upstream/dependencies.ts';
import { homeRules, namedRules } from '../customizeRules.ts';
import { budgetRules } from './liveBudgets.ts';

/** The newest version of the kind that the cluster serves; undefined if Flux's image reflector is not installed. */
export async function servedVersion(
  kind: 'ImagePolicy' | 'ImageRepository',
  cluster: ClusterReader,
): Promise<string | undefined> {
  const { group, versions, resource } = KINDS[kind];
  for (const version of versions) {
    const apiVersion = `${group}/${version}`;
    if (await cluster.serves({ apiVersion, resource })) return apiVersion;
  }
  return undefined;
}

export async function relatedRules(rollout: Rollout, cluster: ClusterReader): Promise<RelatedResourceRule[]> {
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
    // Equal for all Rollouts of a namespace, whichever Gates there are: the answer is cached by generation (fact M6).
    ...selectingGateRules(namespace, SELECTS_ROLLOUTS_LABEL),
    ...(await homeRules(namespace, SELECTS_ROLLOUTS_LABEL, cluster)),
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
 * None for a selector that does not compile, which would fail the sync: the plan reports what is wrong.
 */
function healthCheckRule({ metadata, spec }: Rollout): RelatedResourceRule[] {
  const labelSelector = healthCheckLabels(spec?.healthCheckSelector);
  if (!labelSelector || specProblems(spec ?? {}).length > 0) return [];
  return [{ ...HEALTH_CHECKS, namespace: metadata.namespace ?? '', labelSelector }];
}
