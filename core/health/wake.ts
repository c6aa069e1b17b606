/**
 * Which Rollouts wake a HealthCheck, and are sent along: those of its namespace that may watch it. In a namespace of many, all of them would be each time
 * one of them changes. So a Rollout has a label for one of the pairs that its selector asks for, and a HealthCheck relates those with
 * one of its own pairs, and those without the label, which may watch or reset anything.
 */
import { WATCHES_LABEL } from '../../api/annotations.ts';
import { ROLLOUTS } from '../../api/kinds.ts';
import type { RelatedResourceRule } from '../../api/metacontroller.ts';
import type { HealthCheck, Rollout } from '../../api/types.ts';
import { shortHash } from '../kube/names.ts';
import { healthCheckLabels } from './association.ts';

/** Below that all of a namespace are related: a rule without labels costs Metacontroller a quarter of one with. */
const CROWDED_FROM = 20;
/** Of a HealthCheck; with more it relates all. */
const MAX_PAIRS = 64;

/** The label that a Rollout is to have; undefined: it must not have it. */
export function watchesLabel({ spec }: Rollout): Record<typeof WATCHES_LABEL, string | undefined> {
  const pairs = Object.entries(healthCheckLabels(spec?.healthCheckSelector)?.matchLabels ?? {});
  const [first] = pairs.map(pairHash).sort();
  return { [WATCHES_LABEL]: first };
}

/** @param rollouts how many there are in the namespace */
export function wakingRules({ metadata }: HealthCheck, rollouts: number): RelatedResourceRule[] {
  const { namespace = '', labels = {} } = metadata;
  const values = Object.entries(labels).map(pairHash).sort();
  if (rollouts < CROWDED_FROM || values.length > MAX_PAIRS) return [{ ...ROLLOUTS, namespace }];
  const expressions = [
    ...(values.length > 0 ? [{ key: WATCHES_LABEL, operator: 'In' as const, values }] : []),
    { key: WATCHES_LABEL, operator: 'DoesNotExist' as const },
  ];
  return expressions.map((expression) => ({
    ...ROLLOUTS,
    namespace,
    labelSelector: { matchExpressions: [expression] },
  }));
}

const pairHash = ([key, value]: [string, string]) => shortHash(`${key}=${value}`);
