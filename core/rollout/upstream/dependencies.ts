/** `spec.after`: the upstream Rollouts of a Rollout, the Rollouts that have a version before it does. */
import type { KubeObject, NamespacedName } from '../../../api/kubernetes.ts';
import type { Rollout } from '../../../api/types.ts';
import { mayBeWatched } from '../../health/consent.ts';
import { durationProblem, parseDuration } from '../../kube/duration.ts';
import { identityOf, refKey } from '../../kube/names.ts';
import { LIMITS } from '../../limits.ts';

/** When two versions are the same. `revision` is text that the image's publisher chooses. */
export type Match = 'tag' | 'digest' | 'revision';
const MATCHES: readonly string[] = ['tag', 'digest', 'revision'] satisfies Match[];

export interface UpstreamRef extends NamespacedName {
  /** Milliseconds. */
  bakedFor: number;
  match: Match;
}

/**
 * In the order of the spec, no more than the limit: `afterProblems` names what is left out or unreadable, and nothing
 * is deployed then.
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
 * Without trust in publishers a revision proves nothing: a publisher can copy one that an upstream Rollout has run.
 * One sentence each.
 */
export function untrustedMatches({ spec }: Rollout): string[] {
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

/** How messages of `home` name an upstream Rollout: its namespace only if it is another one. */
export function upstreamName(ref: NamespacedName, home: string | undefined): string {
  return ref.namespace === home ? ref.name : refKey(ref);
}

/** Problems that the CRD refuses and an older one let in, a sentence each. */
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

// Whether a Rollout comes after itself: each Rollout of a cycle waits for the next one, and none ever gets a version.
// live/objectReads.ts `readUpstream` reads the Rollouts; which ones, and what follows from them, is decided here.

/** The Rollouts that were read, by `refKey`; undefined for one that does not exist. */
type ReadRollouts = ReadonlyMap<string, Rollout | undefined>;

export interface OrderProblem {
  reason: 'DependencyCycle' | 'TooManyStages';
  /** A clause without its end: callers add what follows from it. */
  message: string;
}

/**
 * The upstream Rollouts, theirs, and so on, as far as they are known and not read yet.
 * Read them and ask again, until there are none.
 */
export function unreadUpstream(rollout: Rollout, read: ReadRollouts): NamespacedName[] {
  const { reached } = walk(rollout, read);
  if (reached.size > LIMITS.upstreamRollouts) return [];
  return [...reached].flatMap(([key, ref]) => (read.has(key) ? [] : [ref]));
}

/** undefined if the order is sound, as far as it was read. */
export function orderProblem(rollout: Rollout, read: ReadRollouts): OrderProblem | undefined {
  const { reached, cycle } = walk(rollout, read);
  if (reached.size > LIMITS.upstreamRollouts) {
    const message = `spec.after has more than ${LIMITS.upstreamRollouts} direct and indirect upstream Rollouts (limit upstreamRollouts)`;
    return { reason: 'TooManyStages', message };
  }
  if (!cycle) return undefined;
  const { namespace } = rollout.metadata;
  if (cycle.length === 0) return { reason: 'DependencyCycle', message: 'spec.after names the Rollout itself' };
  const own = identityOf(rollout);
  const path = [own, ...cycle, own].map((ref) => `'${upstreamName(ref, namespace)}'`).join(' after ');
  return { reason: 'DependencyCycle', message: `spec.after has a dependency cycle: ${path}` };
}

interface Walk {
  /** every upstream Rollout, the nearest first; one more than the limit at most. */
  reached: Map<string, NamespacedName>;
  /** The shortest way from the Rollout back to itself, without its ends. */
  cycle?: NamespacedName[];
}

/** Breadth first, each Rollout once: linear in what may be read. */
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
      if (key === start) cycle ??= wayTo(from, start, cameFrom, reached);
      if (key === start || reached.has(key)) continue;
      reached.set(key, ref);
      cameFrom.set(key, from);
      queue.push({ key, at: read.get(key) });
      if (reached.size > LIMITS.upstreamRollouts) return { reached };
    }
  }
  return { reached, ...(cycle && { cycle }) };
}

function wayTo(
  end: string,
  start: string,
  cameFrom: ReadonlyMap<string, string>,
  reached: ReadonlyMap<string, NamespacedName>,
): NamespacedName[] {
  const path: NamespacedName[] = [];
  for (let key = end; key !== start; key = cameFrom.get(key)!) path.push(reached.get(key)!);
  return path.reverse();
}

// Which upstream Rollouts a Rollout may read: those of its namespace, and those that consent, as with HealthChecks.

/** The namespaces of upstream Rollouts that do not say it themselves: their Namespace decides. */
export function namespacesToAsk(rollout: Rollout, found: readonly Rollout[]): string[] {
  const { namespace: home = '' } = rollout.metadata;
  const silent = found.filter((upstream) => upstream.metadata.namespace !== home && !mayBeWatched(upstream, home));
  return [...new Set(silent.map(({ metadata }) => metadata.namespace ?? ''))];
}

/**
 * The upstream Rollouts that a Rollout may see; `namespaces` as `namespacesToAsk` names them.
 * One that may not be seen counts as missing.
 */
export function consenting(
  rollout: Rollout,
  found: readonly Rollout[],
  namespaces: readonly (KubeObject | undefined)[],
): Rollout[] {
  const { namespace: home = '' } = rollout.metadata;
  const willing = new Set(namespaces.filter((each) => mayBeWatched(each, home)).map((each) => each?.metadata.name));
  return found.filter(
    (upstream) =>
      upstream.metadata.namespace === home ||
      mayBeWatched(upstream, home) ||
      willing.has(upstream.metadata.namespace ?? ''),
  );
}
