/**
 * Which Rollouts wake a HealthCheck, and are sent along: those of its namespace that may watch or reset it. In a namespace of many, all of them would be each
 * time one of them changes. So a Rollout has a label for one of the pairs that its selector asks for, and a HealthCheck relates those with
 * one of its own pairs, and those without the label, which may watch anything. One that watches nothing says so: it resets what nobody watches, and only that
 * is told of it.
 */
import { WATCHES_LABEL } from '../../api/annotations.ts';
import { ROLLOUTS } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { RelatedResourceRule } from '../../api/metacontroller.ts';
import type { HealthCheck, Rollout } from '../../api/types.ts';
import { shortHash } from '../kube/names.ts';
import { healthCheckLabels } from './association.ts';

/** Below that all of a namespace are related: a rule without labels costs Metacontroller a quarter of one with. */
const CROWDED_FROM = 20;
/** Of a HealthCheck; with more it relates all. */
const MAX_PAIRS = 64;
/** Of a Rollout without a selector. No hash is as short. */
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
