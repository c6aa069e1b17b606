/** Problems of a Rollout's spec: with any, nothing is deployed and no bake progresses. */
import type { Settings } from '../../../api/ports.ts';
import type { Rollout, RolloutSpec } from '../../../api/types.ts';
import { healthCheckLabels } from '../../health/association.ts';
import { durationProblem } from '../../kube/duration.ts';
import { selectorProblems } from '../../kube/selector.ts';
import { afterProblems, untrustedMatchProblems } from '../upstream/dependencies.ts';

const DURATIONS = ['bakeTime', 'deployTimeout', 'releaseUpdateInterval', 'minimumReleaseAge'] as const;

/** The problems of fields that do not parse: field, value and reason, a sentence each. */
export function specProblems(spec: Partial<RolloutSpec>): string[] {
  const durations = DURATIONS.flatMap((field) => durationProblem(`spec.${field}`, spec[field]) ?? []);
  return [...durations, ...healthSelectorProblems(spec.healthCheckSelector), ...afterProblems(spec.after)];
}

/**
 * The problem of a write that sets spec.initialVersion after creation, or frees it from RolloutGates.
 * The initial version runs already, so nothing blocks it: no upstream Rollout, age, budget or bake, and RolloutGates
 * only with gateFirstDeployment. Set later, it would bypass all of these.
 */
export function initialVersionProblem(rollout: Rollout, old: Rollout, kuberikCompat?: boolean): string | undefined {
  const { initialVersion } = rollout.spec ?? {};
  if (!initialVersion || old.status?.history?.length) return undefined;
  if (initialVersion === old.spec?.initialVersion) {
    if (!gatesFirstDeployment(old.spec, kuberikCompat) || gatesFirstDeployment(rollout.spec, kuberikCompat))
      return undefined;
    return (
      `spec.gateFirstDeployment cannot become false after creation, because spec.initialVersion ${JSON.stringify(initialVersion)} would bypass ` +
      'RolloutGates and their approvals: deploy that version manually, or delete the Rollout and create it again'
    );
  }
  return (
    `spec.initialVersion ${JSON.stringify(initialVersion)} can be set only at creation, because no upstream Rollout and no bake would block it: ` +
    'remove it, or delete the Rollout and create it again with the version that runs'
  );
}

/** Whether RolloutGates block the first deployment too. */
export function gatesFirstDeployment(spec: RolloutSpec | undefined, kuberikCompat = false): boolean {
  return spec?.gateFirstDeployment ?? !kuberikCompat;
}

function healthSelectorProblems(healthCheckSelector: RolloutSpec['healthCheckSelector']): string[] {
  const parts = [
    ['spec.healthCheckSelector.selector', healthCheckLabels(healthCheckSelector)],
    ['spec.healthCheckSelector.namespaceSelector', healthCheckSelector?.namespaceSelector],
  ] as const;
  return parts.flatMap(([path, selector]) =>
    selectorProblems(selector, path).map(({ field, value, reason }) => `${field}: ${JSON.stringify(value)} ${reason}`),
  );
}

/** The problems of fields that this installation forbids, a sentence each. */
export function forbiddenProblems(rollout: Rollout, { noCrossNamespaceRefs, trustPublishers }: Settings): string[] {
  return [
    ...(noCrossNamespaceRefs ? foreignRefProblems(rollout) : []),
    ...(trustPublishers ? [] : untrustedMatchProblems(rollout)),
  ];
}

/** The problems of references to other namespaces. */
function foreignRefProblems({ metadata, spec }: Rollout): string[] {
  const named = [
    { path: 'spec.releasesImagePolicy.namespace', namespace: spec?.releasesImagePolicy?.namespace },
    ...(spec?.gates ?? []).map(({ namespace }, index) => ({ path: `spec.gates[${index}].namespace`, namespace })),
    ...(spec?.after ?? []).map(({ namespace }, index) => ({ path: `spec.after[${index}].namespace`, namespace })),
  ];
  const sentences = named
    .filter(({ namespace }) => namespace && namespace !== metadata.namespace)
    .map(
      ({ path, namespace }) =>
        `${path}: references to another namespace (${JSON.stringify(namespace)}) are forbidden (NO_CROSS_NAMESPACE_REFS)`,
    );
  const { namespaceSelector } = spec?.healthCheckSelector ?? {};
  if (!namespaceSelector) return sentences;
  return [
    ...sentences,
    'spec.healthCheckSelector.namespaceSelector: references to other namespaces are forbidden (NO_CROSS_NAMESPACE_REFS)',
  ];
}

/**
 * The Rollout without the references that the installation forbids, so that nothing is read there for it. Those to
 * Gates stay: see `allowedRefs`.
 */
export function withAllowedRefs(rollout: Rollout, { noCrossNamespaceRefs }: Settings): Rollout {
  const { metadata, spec } = rollout;
  if (!spec || !noCrossNamespaceRefs) return rollout;
  const isOwn = ({ namespace }: { namespace?: string }) => !namespace || namespace === metadata.namespace;
  const { namespaceSelector: _, ...health } = spec.healthCheckSelector ?? {};
  return {
    ...rollout,
    spec: {
      ...spec,
      releasesImagePolicy: isOwn(spec.releasesImagePolicy) ? spec.releasesImagePolicy : {},
      after: spec.after?.filter(isOwn),
      healthCheckSelector: spec.healthCheckSelector && health,
    },
  };
}
