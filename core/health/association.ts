/** Which Rollouts a HealthCheck matters to (docs/reference/quirks.md, Q19 and Q20). */

import type { LabelSelector } from '../../api/kubernetes.ts';
import type { HealthCheck, Rollout, RolloutSpec } from '../../api/types.ts';
import { matchesSelector } from '../kube/selector.ts';

type HealthCheckSelector = NonNullable<RolloutSpec['healthCheckSelector']>;

/** The selector for HealthChecks; `matchLabels` is its short form. undefined: the Rollout watches no HealthCheck. */
export function healthCheckLabels(selector: HealthCheckSelector | undefined): LabelSelector | undefined {
  if (selector?.selector) return selector.selector;
  return selector?.matchLabels ? { matchLabels: selector.matchLabels } : undefined;
}

/**
 * `watched`: the Rollout's selector finds the HealthCheck. `implied`: the Rollout has no selector, and the HealthCheck
 * is in a namespace of it. A selector that does not compile finds nothing.
 */
export function association(
  rollout: Rollout,
  healthCheck: HealthCheck,
  namespaceLabels: Record<string, string> | undefined,
): 'watched' | 'implied' | 'none' {
  const config = rollout.spec?.healthCheckSelector;
  const labels = healthCheckLabels(config);
  try {
    const inNamespace = config?.namespaceSelector
      ? matchesSelector(config.namespaceSelector, namespaceLabels ?? {})
      : rollout.metadata.namespace === healthCheck.metadata.namespace;
    if (!inNamespace) return 'none';
    if (!labels) return 'implied';
    return matchesSelector(labels, healthCheck.metadata.labels ?? {}) ? 'watched' : 'none';
  } catch {
    return 'none';
  }
}

/**
 * The Rollouts whose deployments reset the HealthCheck, all of its own namespace: nobody resets what is another team's.
 * A Rollout without a selector resets what no other Rollout watches: the Go controller lets it reset everything in its
 * namespace, and so wipe the failure that another Rollout's bake was about to see (Q19).
 */
export function associatedRollouts(
  rollouts: readonly Rollout[],
  healthCheck: HealthCheck,
  namespaceLabels: Record<string, string> | undefined,
): Rollout[] {
  const own = rollouts.filter(({ metadata }) => metadata.namespace === healthCheck.metadata.namespace);
  const evaluated = own.map((rollout) => ({ rollout, how: association(rollout, healthCheck, namespaceLabels) }));
  const watched = evaluated.filter(({ how }) => how === 'watched');
  const chosen = watched.length > 0 ? watched : evaluated.filter(({ how }) => how === 'implied');
  return chosen.map(({ rollout }) => rollout);
}

/** Whether labels of the HealthCheck's namespace are needed to tell. */
export function needsNamespaceLabels(rollouts: readonly Rollout[]): boolean {
  return rollouts.some((rollout) => rollout.spec?.healthCheckSelector?.namespaceSelector !== undefined);
}
