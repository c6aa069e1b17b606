/** Which Rollouts a HealthCheck matters to (docs/reference/quirks.md, Q19 and Q20). */

import { WATCHES_LABEL } from '../../api/annotations.ts';
import { ROLLOUTS } from '../../api/kinds.ts';
import type { KubeObject, LabelSelector } from '../../api/kubernetes.ts';
import type { RelatedResourceRule } from '../../api/metacontroller.ts';
import type { HealthCheck, Rollout, RolloutSpec } from '../../api/types.ts';
import { shortHash } from '../kube/names.ts';
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
 * The Rollouts whose deployments reset the HealthCheck, all in its namespace: no other team can reset it.
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

/** Whether the answer depends on labels of the HealthCheck's namespace. */
export function needsNamespaceLabels(rollouts: readonly Rollout[]): boolean {
  return rollouts.some((rollout) => rollout.spec?.healthCheckSelector?.namespaceSelector !== undefined);
}

// Which Rollouts wake a HealthCheck, and are sent along: those of its namespace that may watch or reset it.
// In a namespace of many, all of them would be each time one of them changes.
// So a Rollout has a label for one of the pairs that its selector asks for, and a HealthCheck relates those with one of
// its own pairs, and those without the label, which may watch anything.
// One that watches nothing says so: it resets what nobody watches, and only that is told of it.

/** Below that all of a namespace are related: a rule without labels costs Metacontroller a quarter of one with. */
const CROWDED_FROM = 20;
/** The most labels of a HealthCheck; with more it relates all Rollouts. */
const MAX_PAIRS = 64;
/** The label of a Rollout without a selector. No hash is as short. */
const WATCHES_NOTHING = 'none';

/** The label that a Rollout is to have; undefined: it must not have it. */
export function watchesLabel({ spec }: Rollout): Record<typeof WATCHES_LABEL, string | undefined> {
  const selector = healthCheckLabels(spec?.healthCheckSelector);
  const [first] = Object.entries(selector?.matchLabels ?? {})
    .map(pairHash)
    .sort();
  return { [WATCHES_LABEL]: selector ? first : WATCHES_NOTHING };
}

/** @param rollouts all of the namespace */
export function wakingRules(
  { metadata }: HealthCheck,
  rollouts: readonly Pick<KubeObject, 'metadata'>[],
): RelatedResourceRule[] {
  const { namespace = '', labels = {} } = metadata;
  const own = Object.entries(labels).map(pairHash).sort();
  if (rollouts.length < CROWDED_FROM || own.length > MAX_PAIRS) return [{ ...ROLLOUTS, namespace }];
  const isWatched = rollouts.some((rollout) => own.includes(rollout.metadata.labels?.[WATCHES_LABEL] ?? ''));
  const values = isWatched ? own : [...own, WATCHES_NOTHING];
  return [
    { key: WATCHES_LABEL, operator: 'In' as const, values },
    { key: WATCHES_LABEL, operator: 'DoesNotExist' as const },
  ].map((expression) => ({ ...ROLLOUTS, namespace, labelSelector: { matchExpressions: [expression] } }));
}

const pairHash = ([key, value]: [string, string]) => shortHash(`${key}=${value}`);
