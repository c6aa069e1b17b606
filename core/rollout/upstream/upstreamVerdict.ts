/**
 * What the upstream Rollouts of a Rollout, `spec.after`, let through: of its candidates those that each of them has
 * Succeeded, for long enough.
 */
import type { EpochMs, NamespacedName } from '../../../api/kubernetes.ts';
import type { HistoryEntry, Rollout, VersionInfo } from '../../../api/types.ts';
import { howToAllow } from '../../health/consent.ts';
import { formatDuration } from '../../kube/duration.ts';
import { byRefKey, refKey } from '../../kube/names.ts';
import { formatTime, LAST_INSTANT, parseTime } from '../../kube/time.ts';
import { type Match, type OrderProblem, type UpstreamRef, upstreamName, upstreamRefs } from './dependencies.ts';

/** The upstream Rollouts that were found. */
export interface UpstreamRollouts {
  /** Upstream Rollouts that exist and may be seen from here. */
  found: readonly Rollout[];
  /** Why the order as a whole lets nothing through. */
  problem?: OrderProblem;
}

/** One upstream Rollout, as a gate. */
export interface UpstreamVerdict {
  /** `after/staging`: no RolloutGate can have such a name. */
  name: string;
  /** Tags of the candidates that it lets through, newest first. */
  allowed: string[];
  /** `Rollout 'staging' (…)`: why the newest candidate has to wait. */
  waits?: string;
  /** `waits` as data, if the upstream Rollout was found. */
  wait?: { isUnderWay: boolean; since?: EpochMs | undefined; until?: EpochMs | undefined };
  ref: NamespacedName;
  isMissing: boolean;
  /** The reason why the order as a whole lets nothing through. */
  problem?: OrderProblem['reason'];
  /** When it lets a candidate through by the clock alone, the soonest. */
  requeueAt?: EpochMs;
}

/** `candidates`: newest first. Linear in the candidates and the histories. */
export function evaluateUpstream(
  rollout: Rollout,
  upstream: UpstreamRollouts | undefined,
  candidates: readonly VersionInfo[],
  now: EpochMs,
): UpstreamVerdict[] {
  const byKey = byRefKey(upstream?.found ?? []);
  const { namespace: home } = rollout.metadata;
  return upstreamRefs(rollout).map((ref) => {
    const found = byKey.get(refKey(ref));
    const title = upstreamName(ref, home);
    const { namespace, name } = ref;
    const verdict = { name: `after/${title}`, ref: { namespace, name }, isMissing: found === undefined };
    if (upstream?.problem) {
      const { reason: problem, message } = upstream.problem;
      return { ...verdict, problem, allowed: [], waits: `Rollout '${title}' (${message})` };
    }
    if (!found) return { ...verdict, allowed: [], waits: `Rollout '${title}' (${missing(ref, home)})` };
    const outcomeOf = outcomes(found, ref, now);
    const evaluated = candidates.map((candidate) => ({ candidate, outcome: outcomeOf(candidate) }));
    const [newest] = evaluated;
    const times = evaluated.flatMap(({ outcome }) => outcome.at ?? []);
    return {
      ...verdict,
      allowed: evaluated.flatMap(({ candidate, outcome }) => (outcome.satisfied ? [candidate.tag] : [])),
      ...(newest &&
        !newest.outcome.satisfied && {
          waits: `Rollout '${title}' (${newest.outcome.why})`,
          wait: waitOf(newest.outcome),
        }),
      ...(times.length > 0 && { requeueAt: times.reduce((a, b) => Math.min(a, b)) }),
    };
  });
}

function missing({ namespace }: UpstreamRef, home = ''): string {
  if (namespace === home) return 'does not exist';
  return `does not exist, or has not consented: ${howToAllow(home)}`;
}

/** The newest version that a Rollout has Succeeded, as those after it see it: see `entries`. */
export function newestSucceeded(
  history: readonly HistoryEntry[],
  rolledBack: readonly string[],
): VersionInfo | undefined {
  const entryOf = entries(history, 'tag');
  return history.find(
    (entry) =>
      entry.bakeStatus === 'Succeeded' && entryOf(entry.version) === entry && !rolledBack.includes(entry.version.tag),
  )?.version;
}

interface Outcome {
  satisfied: boolean;
  why?: string;
  /** When it passes by the clock alone. */
  at?: EpochMs;
  /** The deployment there continues by itself. */
  isUnderWay?: true;
  since?: EpochMs | undefined;
}

function waitOf({ at, isUnderWay, since }: Outcome): NonNullable<UpstreamVerdict['wait']> {
  return { isUnderWay: isUnderWay ?? at !== undefined, since, until: at };
}

const COMPARED: Record<Match, string> = { tag: 'it', digest: 'its digest', revision: 'its revision' };

function outcomes(upstream: Rollout, ref: UpstreamRef, now: EpochMs): (candidate: VersionInfo) => Outcome {
  const entryOf = entries(upstream.status?.history ?? [], ref.match);
  const rolledBack = new Set(upstream.status?.rolledBackReleases);
  return (candidate) => {
    if (keysOf(candidate, ref.match).length === 0) {
      const { tag } = candidate;
      if (ref.match === 'digest') return waits(`the digest of ${tag} is not known here`);
      return waits(`neither digest nor revision of ${tag} is known here`);
    }
    const entry = entryOf(candidate);
    if (!entry) return waits(`has no deployment of ${COMPARED[ref.match]} in its history`);
    if (rolledBack.has(entry.version.tag)) return waits('has rolled it back');
    return outcomeOf(entry, ref, now);
  };
}

/** The newest deployment of a version counts, unless it was cancelled before it had a result. */
function entries(history: readonly HistoryEntry[], match: Match) {
  const newest = new Map<string, number>();
  history.forEach((entry, index) => {
    if (entry.bakeStatus === 'Cancelled' && entry.lastRetryTimestamp === undefined) return;
    for (const key of keysOf(entry.version, match)) if (!newest.has(key)) newest.set(key, index);
  });
  return (candidate: VersionInfo): HistoryEntry | undefined => {
    const found = keysOf(candidate, match).flatMap((key) => newest.get(key) ?? []);
    return found.length > 0 ? history[Math.min(...found)] : undefined;
  };
}

/** What makes versions the same: one in common is enough. */
function keysOf({ tag, digest, revision }: VersionInfo, match: Match): string[] {
  if (match === 'tag') return [tag];
  const digests = digest ? [`digest ${digest}`] : [];
  return match === 'revision' && revision ? [...digests, `revision ${revision}`] : digests;
}

function outcomeOf(entry: HistoryEntry, { bakedFor }: UpstreamRef, now: EpochMs): Outcome {
  const since = (time: string | undefined) => (parseTime(time) === undefined ? '' : ` since ${time}`);
  const { timestamp, lastRetryTimestamp, bakeStatus, bakeStartTime, bakeEndTime } = entry;
  switch (bakeStatus) {
    case 'Succeeded':
      return bakedFor === 0 ? { satisfied: true } : bakedOutcome(bakeEndTime ?? timestamp, bakedFor, now);
    case 'Deploying':
      return {
        ...waits(`rolling out${since(lastRetryTimestamp ?? timestamp)}`),
        ...underWay(lastRetryTimestamp ?? timestamp),
      };
    case 'InProgress':
      return { ...waits(`baking${since(bakeStartTime)}`), ...underWay(bakeStartTime) };
    case 'Failed':
      return waits('it failed there');
    case 'Cancelled':
      return waits('it failed there, and its retry was cancelled');
    default:
      return waits('has not reported that it succeeded');
  }
}

/** A clock that is set back makes it wait longer. */
function bakedOutcome(ended: string, bakedFor: number, now: EpochMs): Outcome {
  const at = parseTime(ended);
  if (at === undefined) return waits('has not reported when it succeeded');
  const until = Math.min(at + bakedFor, LAST_INSTANT);
  if (now >= until) return { satisfied: true };
  return {
    ...waits(`succeeded at ${formatTime(at)}, baked for ${formatDuration(bakedFor)} at ${formatTime(until)}`),
    at: until,
    since: at,
  };
}

function underWay(since: string | undefined): Pick<Outcome, 'isUnderWay' | 'since'> {
  return { isUnderWay: true, since: parseTime(since) };
}

function waits(why: string): Outcome {
  return { satisfied: false, why };
}
