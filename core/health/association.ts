/** The association of Rollouts with HealthChecks (docs/reference/quirks.md, Q19 and Q20). */
import { WATCHES_LABEL } from '../../api/annotations.ts';
import { ROLLOUTS } from '../../api/kinds.ts';
import type { KubeObject, LabelSelector } from '../../api/kubernetes.ts';
import type { RelatedResourceRule } from '../../api/metacontroller.ts';
import type { HealthCheck, Rollout, RolloutSpec } from '../../api/types.ts';
import { shortHash } from '../kube/names.ts';
import { matchesSelector } from '../kube/selector.ts';

type HealthCheckSelector = NonNullable<RolloutSpec['healthCheckSelector']>;

/** The Rollout's selector for HealthChecks, also from the short form `matchLabels`; undefined: it watches none. */
export function healthCheckLabels(selector: HealthCheckSelector | undefined): LabelSelector | undefined {
  if (selector?.selector) return selector.selector;
  return selector?.matchLabels ? { matchLabels: selector.matchLabels } : undefined;
}

/**
 * The association of the Rollout with the HealthCheck. `watched`: the Rollout's selector finds the HealthCheck.
 * `implied`: it has no selector, and the HealthCheck is in its namespace. A selector that does not compile finds none.
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
 * The Rollouts whose deployments reset the HealthCheck, all in its namespace: no other team can reset it.
 * A Rollout without a selector resets the HealthChecks that no other Rollout watches. In the Go controller it resets
 * all of its namespace, and so can clear a failure that another Rollout's bake was about to read (Q19).
 */
export function associatedRollouts(
  rollouts: readonly Rollout[],
  healthCheck: HealthCheck,
  namespaceLabels: Record<string, string> | undefined,
): Rollout[] {
  const own = rollouts.filter(({ metadata }) => metadata.namespace === healthCheck.metadata.namespace);
  const { watched = [], implied = [] } = Object.groupBy(own, (rollout) =>
    association(rollout, healthCheck, namespaceLabels),
  );
  return watched.length > 0 ? watched : implied;
}

/** Whether the association depends on labels of the HealthCheck's namespace. */
export function needsNamespaceLabels(rollouts: readonly Rollout[]): boolean {
  return rollouts.some((rollout) => rollout.spec?.healthCheckSelector?.namespaceSelector !== undefined);
}

// A HealthCheck relates the Rollouts of its namespace that may watch or reset it: they trigger its sync, and its hook
// gets them. In a namespace of many Rollouts, relating all would send all of them whenever one changes.
// So each Rollout has a label with the hash of one pair of its selector. A HealthCheck relates the Rollouts with the
// hash of one of its own labels, and those without the label, which may watch anything. A Rollout without a selector
// has the label `none`: only HealthChecks that no Rollout watches relate it.

/**
 * The number of Rollouts in a namespace from which labels are used: a rule with labels costs Metacontroller four times
 * as much.
 */
const LABELS_FROM_ROLLOUTS = 20;
/** A HealthCheck with more labels relates all Rollouts. */
const MAX_LABELS_IN_RULE = 64;
/** The label of a Rollout without a selector. No hash is equal to it: hashes are longer. */
const WATCHES_NOTHING = 'none';

/** The label to set on a Rollout; undefined: remove it. */
export function watchesLabel({ spec }: Rollout): Record<typeof WATCHES_LABEL, string | undefined> {
  const selector = healthCheckLabels(spec?.healthCheckSelector);
  const [first] = Object.entries(selector?.matchLabels ?? {})
    .map(pairHash)
    .sort();
  return { [WATCHES_LABEL]: selector ? first : WATCHES_NOTHING };
}

/**
 * The rules that relate Rollouts to a HealthCheck.
 * @param rollouts all Rollouts of the namespace
 */
export function watchingRolloutRules(
  { metadata }: HealthCheck,
  rollouts: readonly Pick<KubeObject, 'metadata'>[],
): RelatedResourceRule[] {
  const { namespace = '', labels = {} } = metadata;
  const own = Object.entries(labels).map(pairHash).sort();
  if (rollouts.length < LABELS_FROM_ROLLOUTS || own.length > MAX_LABELS_IN_RULE) return [{ ...ROLLOUTS, namespace }];
  const isWatched = rollouts.some((rollout) => own.includes(rollout.metadata.labels?.[WATCHES_LABEL] ?? ''));
  const values = isWatched ? own : [...own, WATCHES_NOTHING];
  return [
    { key: WATCHES_LABEL, operator: 'In' as const, values },
    { key: WATCHES_LABEL, operator: 'DoesNotExist' as const },
  ].map((expression) => ({ ...ROLLOUTS, namespace, labelSelector: { matchExpressions: [expression] } }));
}

/** The Rollouts whose label shows that they may watch the HealthCheck, whatever rules relate them. */
export function labelledFor<T extends Pick<KubeObject, 'metadata'>>(
  { metadata: { labels = {} } }: HealthCheck,
  rollouts: readonly T[],
): T[] {
  const own = new Set(Object.entries(labels).map(pairHash));
  return rollouts.filter(({ metadata }) => own.has(metadata.labels?.[WATCHES_LABEL] ?? ''));
}

const pairHash = ([key, value]: [string, string]) => shortHash(`${key}=${value}`);
