/** `spec.after`: the stages of a Rollout, the Rollouts that have a version before it does. */
import type { NamespacedName } from '../../../api/kubernetes.ts';
import type { Rollout } from '../../../api/types.ts';
import { parseDuration } from '../../kube/duration.ts';
import { refKey } from '../../kube/names.ts';
import { LIMITS } from '../../limits.ts';

/** What makes versions the same. `revision` is text that whoever pushes an image writes into it. */
export type Match = 'tag' | 'digest' | 'revision';
const MATCHES: readonly string[] = ['tag', 'digest', 'revision'] satisfies Match[];

export interface StageRef extends NamespacedName {
  /** Milliseconds. */
  bakedFor: number;
  match: Match;
}

/** In the order of the spec, no more than the limit: `afterProblems` names what is left out or unreadable, and nothing is deployed then. */
export function stageRefs({ spec, metadata }: Rollout): StageRef[] {
  return (spec?.after ?? []).slice(0, LIMITS.after).map(({ name, namespace, bakedFor, match }) => ({
    namespace: namespace || metadata.namespace || '',
    name,
    bakedFor: parseDuration(bakedFor) ?? 0,
    match: match ?? 'tag',
  }));
}

/** Without trust in publishers a revision proves nothing: whoever may push an image writes one that a stage has run. A sentence each. */
export function untrustedMatches({ spec }: Rollout): string[] {
  return (spec?.after ?? [])
    .slice(0, LIMITS.after)
    .flatMap(({ match }, index) =>
      match === 'revision'
        ? [
            `spec.after[${index}].match: "revision" is text that anyone who pushes an image can write, and this installation does not trust publishers: ` +
              'use match: digest, or set TRUST_PUBLISHERS=true where only your pipeline pushes',
          ]
        : [],
    );
}

/** How messages of `home` name a stage: its namespace only where it is another one. */
export function stageName(ref: NamespacedName, home: string | undefined): string {
  return ref.namespace === home ? ref.name : refKey(ref);
}

/** What the CRD refuses and an older one let in, a sentence each. */
export function afterProblems(after: NonNullable<Rollout['spec']>['after']): string[] {
  if (!after) return [];
  const tooMany =
    after.length > LIMITS.after
      ? [
          `spec.after names ${after.length} Rollouts, more than ${LIMITS.after} (limit after): let stages be after stages`,
        ]
      : [];
  const items = after
    .slice(0, LIMITS.after)
    .flatMap(({ bakedFor, match = 'tag' }, index) => [
      ...(bakedFor === undefined || parseDuration(bakedFor) !== undefined
        ? []
        : [`spec.after[${index}].bakedFor: ${JSON.stringify(bakedFor)} is not a duration such as 90s, 5m or 1h30m`]),
      ...(MATCHES.includes(match)
        ? []
        : [`spec.after[${index}].match: ${JSON.stringify(match)} is neither tag, digest nor revision`]),
    ]);
  return [...tooMany, ...items];
}
