/**
 * The candidates that the upstream Rollouts of a Rollout, `spec.after`, let through: those that have Succeeded in each
 * of them for long enough.
 */
import type { EpochMs, NamespacedName } from '../../../api/kubernetes.ts';
import type { HistoryEntry, Rollout, VersionInfo } from '../../../api/types.ts';
import { howToAllow } from '../../health/consent.ts';
import { formatDuration } from '../../kube/duration.ts';
import { byRefKey, refKey } from '../../kube/names.ts';
import { earliestTime, formatTime, LAST_INSTANT, parseTime } from '../../kube/time.ts';
import { isCounted } from '../deployment/history.ts';
import { type Match, type OrderProblem, type UpstreamRef, upstreamName, upstreamRefs } from './dependencies.ts';

export interface UpstreamRollouts {
  /** The upstream Rollouts that exist and that the Rollout may read. */
  found: readonly Rollout[];
  /** Why the order as a whole lets nothing through. */
  problem?: OrderProblem;
}

/** The wait of a candidate for an upstream Rollout. */
interface UpstreamWait {
  /** The cause; in a verdict with the Rollout: `Rollout 'staging' (…)`. */
  text: string;
  /** Whether the candidate may still be let through without a user. */
  endsByItself: boolean;
  since?: EpochMs;
  /** When it is let through by time alone. */
  until?: EpochMs;
}

/** The verdict of one upstream Rollout on the candidates. */
export interface UpstreamVerdict {
  /** The name in `status.gates`, `after/staging`: no RolloutGate can have such a name. */
  name: string;
  /** Tags of the candidates that it lets through, newest first. */
  allowed: string[];
  /** The wait of the newest candidate, or of any if the upstream Rollout is missing or the order has a problem. */
  wait?: UpstreamWait;
  ref: NamespacedName;
  isMissing: boolean;
  /** The reason why the order as a whole lets nothing through. */
  problem?: OrderProblem['reason'];
  /** The soonest time at which it lets a candidate through by time alone. */
  requeueAt?: EpochMs;
}

/**
 * The verdict of each upstream Rollout. The time is linear in the candidates and the histories.
 * @param candidates the newest first
 */
export function evaluateUpstream(
  rollout: Rollout,
  upstream: UpstreamRollouts,
  candidates: readonly VersionInfo[],
  now: EpochMs,
): UpstreamVerdict[] {
  const byKey = byRefKey(upstream.found);
  const { namespace: home } = rollout.metadata;
  return upstreamRefs(rollout).map((ref) => {
    const found = byKey.get(refKey(ref));
    const title = upstreamName(ref, home);
    const { namespace, name } = ref;
    const verdict = { name: `after/${title}`, ref: { namespace, name }, isMissing: found === undefined };
    const titled = (text: string) => `Rollout '${title}' (${text})`;
    if (upstream.problem) {
      const { reason: problem, message } = upstream.problem;
      return { ...verdict, problem, allowed: [], wait: unsatisfied(titled(message)) };
    }
    if (!found) return { ...verdict, allowed: [], wait: unsatisfied(titled(missingText(ref, home))) };
    const waitOf = waitFinder(found, ref, now);
    const evaluated = candidates.map((candidate) => ({ tag: candidate.tag, wait: waitOf(candidate) }));
    const first = evaluated[0]?.wait;
    return {
      ...verdict,
      allowed: evaluated.flatMap(({ tag, wait }) => (wait ? [] : [tag])),
      wait: first && { ...first, text: titled(first.text) },
      requeueAt: earliestTime(evaluated.map(({ wait }) => wait?.until)),
    };
  });
}

function missingText({ namespace }: UpstreamRef, home = ''): string {
  if (namespace === home) return 'does not exist';
  return `does not exist, or has not consented: ${howToAllow(home)}`;
}

const COMPARED_TEXT: Record<Match, string> = { tag: 'this version', digest: 'this digest', revision: 'this revision' };

/** Finds the wait of a candidate; undefined if it is let through. */
function waitFinder(
  upstream: Rollout,
  ref: UpstreamRef,
  now: EpochMs,
): (candidate: VersionInfo) => UpstreamWait | undefined {
  const entryOf = newestEntries(upstream.status?.history ?? [], ref.match);
  const rolledBack = new Set(upstream.status?.rolledBackReleases);
  return (candidate) => {
    if (keysOf(candidate, ref.match).length === 0) {
      const { tag } = candidate;
      if (ref.match === 'digest') return unsatisfied(`the digest of ${tag} is not known here`);
      return unsatisfied(`neither digest nor revision of ${tag} is known here`);
    }
    const entry = entryOf(candidate);
    if (!entry) return unsatisfied(`its history has no deployment of ${COMPARED_TEXT[ref.match]}`);
    if (rolledBack.has(entry.version.tag)) return unsatisfied('was rolled back there');
    return waitForDeployment(entry, ref, now);
  };
}

/** Finds the newest deployment that counts for a version. */
function newestEntries(history: readonly HistoryEntry[], match: Match) {
  const newest = new Map<string, number>();
  history.forEach((entry, index) => {
    if (!isCounted(entry)) return;
    for (const key of keysOf(entry.version, match)) if (!newest.has(key)) newest.set(key, index);
  });
  return (candidate: VersionInfo): HistoryEntry | undefined => {
    const found = keysOf(candidate, match).flatMap((key) => newest.get(key) ?? []);
    return found.length > 0 ? history[Math.min(...found)] : undefined;
  };
}

/** Two versions are the same if they have one of these keys in common. */
function keysOf({ tag, digest, revision }: VersionInfo, match: Match): string[] {
  if (match === 'tag') return [tag];
  const digests = digest ? [`digest ${digest}`] : [];
  return match === 'revision' && revision ? [...digests, `revision ${revision}`] : digests;
}

function waitForDeployment(entry: HistoryEntry, { bakedFor }: UpstreamRef, now: EpochMs): UpstreamWait | undefined {
  const { timestamp, lastRetryTimestamp, bakeStatus, bakeStartTime, bakeEndTime } = entry;
  switch (bakeStatus) {
    case 'Succeeded':
      return bakedFor === 0 ? undefined : waitAfterBake(bakeEndTime ?? timestamp, bakedFor, now);
    case 'Deploying':
      return underWay('rolling out', lastRetryTimestamp ?? timestamp);
    case 'InProgress':
      return underWay('baking', bakeStartTime);
    case 'Failed':
      return unsatisfied('the deployment failed there');
    case 'Cancelled':
      return unsatisfied('the deployment failed there, and the retry was cancelled');
    default:
      return unsatisfied('has not reported that it succeeded');
  }
}

/** The wait until a version has Succeeded for long enough. If the clock is set back, the version waits longer. */
function waitAfterBake(ended: string, bakedFor: number, now: EpochMs): UpstreamWait | undefined {
  const since = parseTime(ended);
  if (since === undefined) return unsatisfied('has not reported when it succeeded');
  const until = Math.min(since + bakedFor, LAST_INSTANT);
  if (now >= until) return undefined;
  const text = `succeeded at ${formatTime(since)}; spec.after[].bakedFor requires ${formatDuration(bakedFor)} since then, until ${formatTime(until)}`;
  return { text, endsByItself: true, since, until };
}

function underWay(what: string, time: string | undefined): UpstreamWait {
  const since = parseTime(time);
  return { text: since === undefined ? what : `${what} since ${time}`, endsByItself: true, since };
}

function unsatisfied(text: string): UpstreamWait {
  return { text, endsByItself: false };
}
