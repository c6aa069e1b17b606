/** Metrics of a plan, from its Events: counters, and the durations of finished steps. */
import { READY } from '../../api/conditions.ts';
import type { EpochMs } from '../../api/kubernetes.ts';
import type { Count, Duration, DurationName } from '../../api/metrics.ts';
import type { EventRecord } from '../../api/ports.ts';
import type { HistoryEntry, RolloutStatus } from '../../api/types.ts';
import { findCondition } from '../kube/conditions.ts';
import { DAY_MS, earliestTime, parseTime } from '../kube/time.ts';
import { isManual } from './deployment/history.ts';

/** The age from which the time of a build doesn't count: many builds write 1970. */
const OLDEST_BUILD_MS = 365 * DAY_MS;

/** Origins of versions that ran before their Rollout existed: nothing was delivered. */
const RAN_BEFORE_REASONS: readonly string[] = ['InitialVersion', 'Adopted'];
/** The reason of the Event of a new deployment, which has succeeded already if there is nothing to wait for. */
const DEPLOYED = 'DeploymentSucceeded';
/** Reasons of the Events that report the success of a deployment. */
const SUCCESS_REASONS: readonly string[] = ['BakeTimePassed', 'DeploymentApplied', DEPLOYED];

/**
 * The durations that end with the success of a deployment. The version that waited for the end of a bake is often
 * deployed in the same plan.
 * @param before the status from which the plan started
 */
export function durationsOf(
  events: readonly Pick<EventRecord, 'reason' | 'key'>[],
  before: RolloutStatus | undefined,
  { history = [], availableReleases }: RolloutStatus,
): Duration[] {
  const hasDeployed = events.some(({ reason }) => reason === DEPLOYED);
  return events
    .filter(({ reason }) => SUCCESS_REASONS.includes(reason))
    .flatMap(({ reason, key }) => {
      const entries = hasDeployed && reason !== DEPLOYED ? history.slice(1) : history;
      return durationsOfNewest(entries, key, before, availableReleases);
    });
}

function durationsOfNewest(
  [head, ...older]: readonly HistoryEntry[],
  key: string,
  before: RolloutStatus | undefined,
  availableReleases: RolloutStatus['availableReleases'] = [],
): Duration[] {
  if (head?.bakeStatus !== 'Succeeded' || RAN_BEFORE_REASONS.includes(head.origin?.[0] ?? '')) return [];
  const started = [head.bakeStartTime, head.bakeEndTime, head.timestamp].map(parseTime).find((at) => at !== undefined);
  if (started === undefined) return [];
  const took = (name: DurationName, since: EpochMs | undefined): Duration[] =>
    since === undefined ? [] : [{ name, seconds: Math.max(0, started - since) / 1000, key }];
  const isFirst = head.rolledBackFrom === undefined && !older.some((entry) => hasSucceededWith(entry, head));
  const release = availableReleases.find(
    ({ tag, digest }) => tag === head.version.tag && digest === head.version.digest,
  );
  return [
    ...(isFirst
      ? took('rollout_hooks_lead_time_seconds', buildTime(head.version.created ?? release?.created, started))
      : []),
    ...(isFirst ? took('rollout_hooks_delivery_time_seconds', parseTime(release?.firstSeen)) : []),
    ...took('rollout_hooks_restore_time_seconds', failedSince(head, older, before)),
  ];
}

function hasSucceededWith({ version, bakeStatus }: HistoryEntry, head: HistoryEntry): boolean {
  return bakeStatus === 'Succeeded' && version.tag === head.version.tag && version.digest === head.version.digest;
}

function buildTime(created: string | undefined, started: EpochMs): EpochMs | undefined {
  const built = parseTime(created);
  return built === undefined || built > started || started - built > OLDEST_BUILD_MS ? undefined : built;
}

/**
 * The time of the first failure since the last success. A retry clears this time in its entry; Ready has been False
 * since then.
 */
function failedSince(
  head: HistoryEntry,
  older: readonly HistoryEntry[],
  before: RolloutStatus | undefined,
): EpochMs | undefined {
  const success = older.findIndex(({ bakeStatus }) => bakeStatus === 'Succeeded');
  const since = success < 0 ? older : older.slice(0, success);
  const failures = since.map(({ bakeStatus, bakeEndTime }) =>
    bakeStatus === 'Failed' ? parseTime(bakeEndTime) : undefined,
  );
  const ready = head.lastRetryTimestamp ? findCondition(before?.conditions, READY) : undefined;
  const notReady = ready?.status === 'False' ? parseTime(ready.lastTransitionTime) : undefined;
  const retried = notReady === undefined ? undefined : Math.max(notReady, parseTime(head.timestamp) ?? notReady);
  return earliestTime([...failures, retried]);
}

// Counters: an Event is recorded once, and so counted once.

const BAKE_RESULTS = {
  BakeTimePassed: 'succeeded',
  BakeTimeFailed: 'failed',
  BakeTimeCancelled: 'cancelled',
} as const;

const COPY_RESULTS = { ReleaseCopied: 'copied', CopyFailed: 'failed' } as const;

export function countsOf(events: readonly Pick<EventRecord, 'reason' | 'key'>[], status: RolloutStatus): Count[] {
  return events.flatMap(({ reason, key }): Count[] => {
    const head = status.history?.[0];
    if (reason === DEPLOYED && head) {
      return [{ name: 'rollout_hooks_deployments_total', labels: { kind: deploymentKindOf(head) }, key }];
    }
    const copied = COPY_RESULTS[reason as keyof typeof COPY_RESULTS];
    if (copied) return [{ name: 'rollout_hooks_copies_total', labels: { result: copied }, key }];
    const result = BAKE_RESULTS[reason as keyof typeof BAKE_RESULTS];
    return result ? [{ name: 'rollout_hooks_bakes_total', labels: { result }, key }] : [];
  });
}

function deploymentKindOf(entry: HistoryEntry): 'automatic' | 'manual' | 'rollback' {
  if (entry.rolledBackFrom !== undefined) return 'rollback';
  return isManual(entry) ? 'manual' : 'automatic';
}
