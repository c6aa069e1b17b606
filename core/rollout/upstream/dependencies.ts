/** `spec.after`: the upstream Rollouts of a Rollout, which have each version before it. */
import type { KubeObject, NamespacedName } from '../../../api/kubernetes.ts';
import type { Rollout } from '../../../api/types.ts';
import { mayBeWatched } from '../../health/consent.ts';
import { durationProblem, parseDuration } from '../../kube/duration.ts';
import { identityOf, refKey } from '../../kube/names.ts';
import { LIMITS } from '../../limits.ts';

/** The field by which two versions are the same. A `revision` is text that the image's publisher chooses. */
export type Match = 'tag' | 'digest' | 'revision';
const MATCHES: readonly string[] = ['tag', 'digest', 'revision'] satisfies Match[];

export interface UpstreamRef extends NamespacedName {
  /** Milliseconds. */
  bakedFor: number;
  match: Match;
}

/**
 * The upstream Rollouts in the order of the spec, up to the limit. If some are left out or do not parse, nothing is
 * deployed: see `afterProblems`.
 */
export function upstreamRefs({ spec, metadata }: Rollout): UpstreamRef[] {
  return (spec?.after ?? []).slice(0, LIMITS.after).map(({ name, namespace, bakedFor, match }) => ({
    namespace: namespace || metadata.namespace || '',
    name,
    bakedFor: parseDuration(bakedFor) ?? 0,
    match: match ?? 'tag',
  }));
}

/**
 * The problems of `match: revision` without trust in publishers, a sentence each: a publisher can copy a revision that
 * an upstream Rollout has run.
 */
export function untrustedMatchProblems({ spec }: Rollout): string[] {
  return (spec?.after ?? [])
    .slice(0, LIMITS.after)
    .flatMap(({ match }, index) =>
      match === 'revision'
        ? [
            `spec.after[${index}].match: "revision" is not allowed, because every user who pushes an image can write a revision: ` +
              'use match: digest, or set TRUST_PUBLISHERS=true if only your pipeline pushes',
          ]
        : [],
    );
}

/** The name of an upstream Rollout for messages in the namespace `home`: with a namespace only if it is another one. */
export function upstreamName(ref: NamespacedName, home: string | undefined): string {
  return ref.namespace === home ? ref.name : refKey(ref);
}

/**
 * The problems of `spec.after`, a sentence each. The CRD rejects them too. Without this check an unknown `match` would
 * count as `digest`, and a Rollout beyond the limit not at all.
 */
export function afterProblems(after: NonNullable<Rollout['spec']>['after']): string[] {
  if (!after) return [];
  const tooMany =
    after.length > LIMITS.after
      ? [`spec.after has ${after.length} Rollouts, more than ${LIMITS.after} (limit after): chain some of them`]
      : [];
  const items = after
    .slice(0, LIMITS.after)
    .flatMap(({ bakedFor, match = 'tag' }, index) => [
      durationProblem(`spec.after[${index}].bakedFor`, bakedFor) ?? [],
      ...(MATCHES.includes(match)
        ? []
        : [`spec.after[${index}].match: ${JSON.stringify(match)} is neither tag, digest nor revision`]),
    ])
    .flat();
  return [...tooMany, ...items];
}

// Cycles: each Rollout of a cycle waits for the next one, and none ever gets a version.
// live/objectReads.ts `readUpstream` reads the Rollouts that `unreadUpstream` names.

/** The Rollouts that were read, by `refKey`; undefined for one that does not exist. */
type ReadRollouts = ReadonlyMap<string, Rollout | undefined>;

export interface OrderProblem {
  reason: 'DependencyCycle' | 'TooManyUpstreamRollouts';
  /** A clause, to which callers add the consequence. */
  message: string;
}

/** The direct and indirect upstream Rollouts that are not read yet. Repeat with these until there are none. */
export function unreadUpstream(rollout: Rollout, read: ReadRollouts): NamespacedName[] {
  const { reached } = walk(rollout, read);
  if (reached.size > LIMITS.upstreamRollouts) return [];
  return [...reached].flatMap(([key, ref]) => (read.has(key) ? [] : [ref]));
}

/** The problem of the order as far as it was read: a cycle, or too many Rollouts. */
export function orderProblem(rollout: Rollout, read: ReadRollouts): OrderProblem | undefined {
  const { reached, cycle } = walk(rollout, read);
  if (reached.size > LIMITS.upstreamRollouts) {
    const message = `spec.after has more than ${LIMITS.upstreamRollouts} direct and indirect upstream Rollouts (limit upstreamRollouts)`;
    return { reason: 'TooManyUpstreamRollouts', message };
  }
  if (!cycle) return undefined;
  const { namespace } = rollout.metadata;
  if (cycle.length === 0) return { reason: 'DependencyCycle', message: 'spec.after names the Rollout itself' };
  const own = identityOf(rollout);
  const path = [own, ...cycle, own].map((ref) => `'${upstreamName(ref, namespace)}'`).join(' after ');
  return { reason: 'DependencyCycle', message: `spec.after has a dependency cycle: ${path}` };
}

interface Walk {
  /** All upstream Rollouts, the nearest first; at most one more than the limit. */
  reached: Map<string, NamespacedName>;
  /** The shortest path from the Rollout back to itself, without its ends. */
  cycle?: NamespacedName[];
}

/** A breadth-first search: each Rollout once, so its time is linear in the Rollouts that were read. */
function walk(rollout: Rollout, read: ReadRollouts): Walk {
  const start = refKey(identityOf(rollout));
  const reached = new Map<string, NamespacedName>();
  const cameFrom = new Map<string, string>();
  const queue: { key: string; at: Rollout | undefined }[] = [{ key: start, at: rollout }];
  let cycle: NamespacedName[] | undefined;
  for (const { key: from, at } of queue) {
    if (!at) continue;
    for (const { namespace, name } of upstreamRefs(at)) {
      const ref = { namespace, name };
      const key = refKey(ref);
      if (key === start) cycle ??= pathTo(from, start, cameFrom, reached);
      if (key === start || reached.has(key)) continue;
      reached.set(key, ref);
      cameFrom.set(key, from);
      queue.push({ key, at: read.get(key) });
      if (reached.size > LIMITS.upstreamRollouts) return { reached };
    }
  }
  return { reached, cycle };
}

function pathTo(
  end: string,
  start: string,
  cameFrom: ReadonlyMap<string, string>,
  reached: ReadonlyMap<string, NamespacedName>,
): NamespacedName[] {
  const path: NamespacedName[] = [];
  for (let key = end; key !== start; key = cameFrom.get(key)!) path.push(reached.get(key)!);
  return path.reverse();
}

// Consent: a Rollout may read the upstream Rollouts of its namespace, and those that consent, as with HealthChecks.

/** The namespaces of upstream Rollouts that have not consented themselves: their Namespace decides. */
export function namespacesToAsk(rollout: Rollout, found: readonly Rollout[]): string[] {
  const { namespace: home = '' } = rollout.metadata;
  const undecided = found.filter((upstream) => upstream.metadata.namespace !== home && !mayBeWatched(upstream, home));
  return [...new Set(undecided.map(({ metadata }) => metadata.namespace ?? ''))];
}

/**
 * The upstream Rollouts that the Rollout may read. All others count as missing.
 * @param namespaces the Namespaces that `namespacesToAsk` names
 */
export function consentingRollouts(
  rollout: Rollout,
  found: readonly Rollout[],
  namespaces: readonly (KubeObject | undefined)[],
): Rollout[] {
  const { namespace: home = '' } = rollout.metadata;
  const consenting = new Set(namespaces.filter((each) => mayBeWatched(each, home)).map((each) => each?.metadata.name));
  return found.filter(
    (upstream) =>
      upstream.metadata.namespace === home ||
      mayBeWatched(upstream, home) ||
      consenting.has(upstream.metadata.namespace ?? ''),
  );
}
