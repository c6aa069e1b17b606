/** The steps of a plan that come before the decision: a requested retry, the releases, the progress of the head. */
import { BAKE_FAILURE_DISABLED, RELEASES_UPDATED } from '../../api/conditions.ts';
import type { Condition, EpochMs } from '../../api/kubernetes.ts';
import type { HealthCheck, HistoryEntry, RolloutStatus, VersionInfo } from '../../api/types.ts';
import { findCondition, type NewCondition } from '../kube/conditions.ts';
import type { NewEvent } from '../kube/events.ts';
import { formatTime, parseTime } from '../kube/time.ts';
import { LIMITS } from '../limits.ts';
import { imageNameOf, latestOf } from '../policy/imagePolicy.ts';
import { bakeStep, isBaking, retried } from './deployment/bake.ts';
import { sortedChecks } from './deployment/healthChecks.ts';
import { boundTo, withProgress } from './deployment/progress.ts';
import { isUnwatched } from './deployment/unwatched.ts';
import type { RolloutState } from './evaluation/evaluation.ts';
import type { Observed } from './evaluation/observedRollout.ts';
import type { RolloutConfig } from './evaluation/rolloutConfig.ts';
import type { RequestKey, Requests } from './evaluation/rolloutRequests.ts';
import { authorsWanted, type ReleaseAuthors } from './evaluation/versionApprovals.ts';
import { discover } from './release/discovery.ts';
import { artifactFields, metadataRequeueAt, metadataWanted, withMetadata } from './release/metadata.ts';

/** The length of the text that names a release's authors. */
const MAX_AUTHORS = 256;

type History = readonly HistoryEntry[];

/** Restarts a failed deployment if a retry is requested. */
export function applyRetry(
  history: History,
  requests: Requests,
  healthChecks: readonly HealthCheck[],
  now: EpochMs,
): { history: History; used: RequestKey[]; events: NewEvent[] } {
  if (!requests.retry) return { history, used: [], events: [] };
  const again = retried(history[0], sortedChecks(healthChecks), now);
  if (again) return { history: withHead(history, again.head), used: ['retry'], events: [again.event] };
  const message = 'Retry ignored: the last deployment has not failed';
  return { history, used: ['retry'], events: [{ type: 'Normal', reason: 'RetryIgnored', message }] };
}

interface Releases {
  /** With metadata of the deployed version that the registry has returned meanwhile. */
  history: History;
  available: VersionInfo[];
  /** Tags of the releases that say that they cannot be undone. */
  barriers: string[];
  /** Authors of the releases whose approvals must not be their authors'. */
  authors: ReleaseAuthors[];
  fields: Partial<RolloutStatus>;
  conditions: NewCondition[];
  problems: string[];
  requeueAt: EpochMs[];
}

/** The releases from the ImagePolicy and the registry. `known`: what they have reported so far. */
export function discoverReleases(
  observed: Observed,
  { minimumReleaseAge, onFailure }: RolloutConfig,
  history: History,
  known: Pick<RolloutState, 'barriers' | 'authors'>,
  now: EpochMs,
): Releases {
  const { rollout, imagePolicy, metadata } = observed;
  const { available, lastReleaseUpdate, problem, requeueAt } = discover(rollout, imagePolicy, metadata, now);
  const latest = latestOf(imagePolicy);
  const [head] = history;
  const wanted = authorsWanted(observed.rolloutGates, observed.gates, rollout);
  const requested = imagePolicy ? metadataWanted(rollout, imagePolicy, wanted) : [];
  const missing = requested.filter(({ tag }) => metadata[tag] === undefined);
  // Its metadata may say that it cannot be undone.
  const undoable = onFailure === 'Rollback' && isBaking(head) ? [head!.version.tag] : [];
  const requeues = missing.map(({ tag }) => metadataRequeueAt(tag, available, [...wanted, ...undoable], now));
  return {
    history: head
      ? withHead(history, { ...head, version: withMetadata(head.version, metadata[head.version.tag]) })
      : [],
    available: available
      .map((entry) => withMetadata(entry, metadata[entry.tag]))
      .map((entry) => (minimumReleaseAge === undefined ? entry : withFirstSeen(entry, now))),
    barriers: barriersOf(known.barriers, metadata),
    authors: authorsOf(wanted, known.authors, metadata),
    fields: {
      ...imageField(rollout, imagePolicy),
      ...(lastReleaseUpdate !== undefined && { lastReleaseUpdate }),
      ...artifactFields(rollout.status ?? {}, latest && metadata[latest.tag]),
    },
    conditions: imagePolicy ? [UPDATED] : [],
    problems: problem === undefined ? [] : [problem],
    requeueAt: [requeueAt, ...requeues].filter((at) => at !== undefined),
  };
}

/** The release with the time at which it was first seen: now, if it is older than such records. */
function withFirstSeen(release: VersionInfo, now: EpochMs): VersionInfo {
  return parseTime(release.firstSeen) === undefined ? { ...release, firstSeen: formatTime(now) } : release;
}

/** Kept while the ImagePolicy is away. */
function imageField({ status }: Observed['rollout'], policy: Observed['imagePolicy']): Pick<RolloutStatus, 'image'> {
  const image = imageNameOf(policy) ?? status?.image;
  return image === undefined ? {} : { image };
}

const UPDATED: NewCondition = {
  type: RELEASES_UPDATED,
  status: 'True',
  reason: 'ReleasesUpdated',
  message: 'Available releases were updated successfully from ImagePolicy',
};

/** Once known they stay: the registry may be down at the next look. */
function barriersOf(known: readonly string[], metadata: Observed['metadata']): string[] {
  const reported = Object.entries(metadata).flatMap(([tag, { rollbackBarrier }]) => (rollbackBarrier ? [tag] : []));
  return [...new Set([...known, ...reported])].sort();
}

/** A tag that was moved may name others now: what the manifest says last counts. */
function authorsOf(
  wanted: readonly string[],
  known: readonly ReleaseAuthors[],
  metadata: Observed['metadata'],
): ReleaseAuthors[] {
  return wanted.slice(0, LIMITS.approvals).flatMap((tag) => {
    const authors = metadata[tag]?.authors?.slice(0, MAX_AUTHORS) ?? known.find((each) => each.tag === tag)?.authors;
    return authors === undefined ? [] : [{ tag, authors }];
  });
}

interface Progress {
  history: History;
  /** Whatever is bound has applied the head; if nothing is bound, its bake begins, or it has succeeded without one. */
  endsApply: boolean;
  conditions: NewCondition[];
  events: NewEvent[];
  requeueAt: EpochMs[];
}

/** Updates the head: the proof that it is applied, and its bake. `conditions`: as stored. */
export function advanceHead(
  { rollout, bindings, healthChecks, likeKuberik = false }: Observed,
  config: RolloutConfig,
  history: History,
  conditions: readonly Condition[],
  now: EpochMs,
): Progress {
  const nothing = { endsApply: false, conditions: [], events: [], requeueAt: [] };
  const [head] = history;
  if (!head) return { history, ...nothing };
  const bound = boundTo(rollout, bindings);
  const checks = sortedChecks(healthChecks);
  const proven = withProgress(head, bound, rollout, checks, now);
  // Whatever comes later relies on it: a bake that waits for health, and the retry of what has failed meanwhile.
  const isNowApplied = head.appliedTime === undefined && proven.appliedTime !== undefined;
  if (!isBaking(proven) || config.problems.length > 0) {
    return { history: withHead(history, proven), ...nothing, endsApply: isNowApplied };
  }
  const recovery = findCondition(conditions, BAKE_FAILURE_DISABLED)?.status === 'True';
  const context = { rollout, times: config, healthChecks: checks, bound, recovery, likeKuberik };
  const step = bakeStep(proven, context, now);
  return {
    history: withHead(history, step.head),
    endsApply: isNowApplied || (proven.appliedTime === undefined && goesOn(proven, step.head, rollout)),
    conditions: step.ready ? [step.ready] : [],
    events: step.events,
    requeueAt: step.requeueAt === undefined ? [] : [step.requeueAt],
  };
}

function goesOn(before: HistoryEntry, after: HistoryEntry, rollout: Observed['rollout']): boolean {
  const starts = before.bakeStartTime === undefined && after.bakeStartTime !== undefined;
  return starts || (after.bakeStatus === 'Succeeded' && isUnwatched(before, rollout));
}

function withHead(history: History, head: HistoryEntry): History {
  return [head, ...history.slice(1)];
}
