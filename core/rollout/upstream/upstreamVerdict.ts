/**
 * The candidates that the upstream Rollouts of a Rollout, `spec.after`, let through: those that have Succeeded in each
 * of them for long enough.
 */
import type { EpochMs, NamespacedName } from '../../../api/kubernetes.ts';
import type { HistoryEntry, Rollout, VersionInfo } from '../../../api/types.ts';
import { howToAllow } from '../../health/consent.ts';
import { formatDuration } from '../../kube/duration.ts';
import { byRefKey, refKey } from '../../kube/names.ts';
import { formatTime, LAST_INSTANT, parseTime } from '../../kube/time.ts';
import { isCounted, succeededDeployments } from '../deployment/history.ts';
import { type Match, type OrderProblem, type UpstreamRef, upstreamName, upstreamRefs } from './dependencies.ts';

export interface UpstreamRollouts {
  /** The upstream Rollouts that exist and that the Rollout may read. */
  found: readonly Rollout[];
  /** Why the order as a whole lets nothing through. */
  problem?: OrderProblem;
}

/** The verdict of one upstream Rollout on the candidates. */
export interface UpstreamVerdict {
  /** The name in `status.gates`, `after/staging`: no RolloutGate can have such a name. */
  name: string;
  /** Tags of the candidates that it lets through, newest first. */
  allowed: string[];
  /** Why the newest candidate waits: `Rollout 'staging' (…)`. */
  waits?: string;
  /** The same as data, if the upstream Rollout was found. */
  wait?: { isUnderWay: boolean; since?: EpochMs | undefined; until?: EpochMs | undefined };
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
    if (!found) return { ...verdict, allowed: [], waits: `Rollout '${title}' (${missingText(ref, home)})` };
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

function missingText({ namespace }: UpstreamRef, home = ''): string {
  if (namespace === home) return 'does not exist';
  return `does not exist, or has not consented: ${howToAllow(home)}`;
}

/** The newest version of a Rollout that counts as Succeeded for its dependents. */
export function newestSucceeded(
  history: readonly HistoryEntry[],
  rolledBack: readonly string[],
): VersionInfo | undefined {
  return succeededDeployments(history).find(({ version }) => !rolledBack.includes(version.tag))?.version;
}

interface Outcome {
  satisfied: boolean;
  why?: string;
  /** When it is satisfied by time alone. */
  at?: EpochMs;
  /** Whether the deployment there may still succeed without a user. */
  isUnderWay?: true;
  since?: EpochMs | undefined;
}

function waitOf({ at, isUnderWay, since }: Outcome): NonNullable<UpstreamVerdict['wait']> {
  return { isUnderWay: isUnderWay ?? at !== undefined, since, until: at };
}

const COMPARED_TEXT: Record<Match, string> = { tag: 'it', digest: 'its digest', revision: 'its revision' };

function outcomes(upstream: Rollout, ref: UpstreamRef, now: EpochMs): (candidate: VersionInfo) => Outcome {
  const entryOf = newestEntries(upstream.status?.history ?? [], ref.match);
  const rolledBack = new Set(upstream.status?.rolledBackReleases);
  return (candidate) => {
    if (keysOf(candidate, ref.match).length === 0) {
      const { tag } = candidate;
      if (ref.match === 'digest') return unsatisfied(`the digest of ${tag} is not known here`);
      return unsatisfied(`neither digest nor revision of ${tag} is known here`);
    }
    const entry = entryOf(candidate);
    if (!entry) return unsatisfied(`has no deployment of ${COMPARED_TEXT[ref.match]} in its history`);
    if (rolledBack.has(entry.version.tag)) return unsatisfied('was rolled back there');
    return upstreamOutcome(entry, ref, now);
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

function upstreamOutcome(entry: HistoryEntry, { bakedFor }: UpstreamRef, now: EpochMs): Outcome {
  const since = (time: string | undefined) => (parseTime(time) === undefined ? '' : ` since ${time}`);
  const { timestamp, lastRetryTimestamp, bakeStatus, bakeStartTime, bakeEndTime } = entry;
  switch (bakeStatus) {
    case 'Succeeded':
      return bakedFor === 0 ? { satisfied: true } : bakedOutcome(bakeEndTime ?? timestamp, bakedFor, now);
    case 'Deploying':
      return {
        ...unsatisfied(`rolling out${since(lastRetryTimestamp ?? timestamp)}`),
        ...underWaySince(lastRetryTimestamp ?? timestamp),
      };
    case 'InProgress':
      return { ...unsatisfied(`baking${since(bakeStartTime)}`), ...underWaySince(bakeStartTime) };
    case 'Failed':
      return unsatisfied('the deployment failed there');
    case 'Cancelled':
      return unsatisfied('the deployment failed there, and the retry was cancelled');
    default:
      return unsatisfied('has not reported that it succeeded');
  }
}

/** Whether a version has Succeeded for long enough. If the clock is set back, the version waits longer. */
function bakedOutcome(ended: string, bakedFor: number, now: EpochMs): Outcome {
  const at = parseTime(ended);
  if (at === undefined) return unsatisfied('has not reported when it succeeded');
  const until = Math.min(at + bakedFor, LAST_INSTANT);
  if (now >= until) return { satisfied: true };
  return {
    ...unsatisfied(
      `succeeded at ${formatTime(at)}; spec.after[].bakedFor requires ${formatDuration(bakedFor)} since then, until ${formatTime(until)}`,
    ),
    at: until,
    since: at,
  };
}

function underWaySince(since: string | undefined): Pick<Outcome, 'isUnderWay' | 'since'> {
  return { isUnderWay: true, since: parseTime(since) };
}

function unsatisfied(why: string): Outcome {
  return { satisfied: false, why };
}
