/**
 * The reports of HealthChecks at the start of a deployment, to recognize later reports by comparison. Times are not
 * enough: the clocks of reporters may be wrong by hours.
 */

import type { EpochMs } from '../../api/kubernetes.ts';
import type { HealthCheck, HistoryEntry, Rollout } from '../../api/types.ts';
import { goJsonBytes } from '../kube/json.ts';
import { earliestTime, latestTime, parseTime, wholeSeconds } from '../kube/time.ts';
import { LIMITS } from '../limits.ts';
import { CLOCK_DIFFERENCE_MS } from './healthStatus.ts';
import { KUSTOMIZATION_CLASS } from './kustomizationCheck.ts';

/** An entry of `history[].knownHealth`. */
type KnownHealth = NonNullable<HistoryEntry['knownHealth']>[number];

type HealthReport = Pick<KnownHealth, 'status' | 'lastChangeTime' | 'lastErrorTime'>;

/** A HealthCheck whose `status` may be its health now instead of its report. */
export interface PresentCheck extends HealthCheck {
  /** The report, if `status` isn't. Only a report can be recognized later. */
  report?: HealthCheck['status'];
}

/**
 * The reports of the checks now, for the head of a history; at most `LIMITS.knownHealth` of them, and none that is
 * larger than `LIMITS.knownHealthBytes`.
 * @param before the stored reports: a reset removes an error from a check, and its reporter may write the error again
 */
export function knownHealth(checks: readonly PresentCheck[], before: readonly KnownHealth[] = []): KnownHealth[] {
  const errors = new Map(before.map((known) => [checkKey(known), known.lastErrorTime]));
  const reports = checks.slice(0, LIMITS.knownHealth).map((check): KnownHealth => {
    const { metadata, status: present = {}, report = present } = check;
    const lastErrorTime = report.lastErrorTime ?? errors.get(checkKey(metadata));
    return {
      name: metadata.name ?? '',
      namespace: metadata.namespace ?? '',
      ...(report.status && { status: report.status }),
      ...(report.lastChangeTime && { lastChangeTime: report.lastChangeTime }),
      ...(lastErrorTime && { lastErrorTime }),
    };
  });
  return reports.filter((report) => goJsonBytes(report) <= LIMITS.knownHealthBytes);
}

/** Whether the check has reported an error since the deployment started, or was applied. */
export function hasNewError(check: HealthCheck, head: HistoryEntry): boolean {
  const { lastErrorTime } = check.status ?? {};
  if (lastErrorTime === undefined || isOfEarlierFailure(check, head)) return false;
  const known = knownReport(check, head);
  if (known) return !sameTime(known.lastErrorTime, lastErrorTime);
  return isNewCheck(check, head) || (parseTime(lastErrorTime) ?? Number.NEGATIVE_INFINITY) >= healthCutoff(head);
}

/**
 * Whether the error is a failure from before the deployment that the check found afterwards. Class kustomization may
 * find one: its errors have the times of the failures, which our own clock and the cluster's controllers write.
 */
function isOfEarlierFailure(check: HealthCheck, head: HistoryEntry): boolean {
  const failed = parseTime(check.status?.lastErrorTime);
  if (check.spec?.class !== KUSTOMIZATION_CLASS || failed === undefined) return false;
  // Flux can hardly fail in the second of the deployment, and if it does, it tries again.
  return failed <= wholeSeconds(deployCutoff(head)) && !wasSetBack(check, head);
}

/**
 * Whether the clock was set back since the deployment, by more than clocks differ. Then a report with a later time may
 * be older.
 */
function wasSetBack(check: HealthCheck, head: HistoryEntry): boolean {
  const known = parseTime(knownReport(check, head)?.lastChangeTime);
  const changed = parseTime(check.status?.lastChangeTime);
  if (known === undefined || changed === undefined || changed === known) return false;
  return changed < deployCutoff(head) - CLOCK_DIFFERENCE_MS;
}

/**
 * The reports of the head at the start of its bake, now of all watched checks, including those that were created or
 * selected since the deployment. The health of these already counts, so it is left out.
 */
export function knownInBake(head: HistoryEntry, checks: readonly HealthCheck[]): KnownHealth[] {
  const { knownHealth: before = [] } = head;
  const others = checks.filter((check) => !isKnown(check, head) && !hasNewError(check, head));
  const added = knownHealth(others).map(({ status, lastChangeTime, ...rest }) => rest);
  return [...before, ...added.slice(0, Math.max(0, LIMITS.knownHealth - before.length))];
}

/** Whether the head has no room for the reports of more checks. */
export function isFull({ knownHealth = [] }: HistoryEntry): boolean {
  return knownHealth.length >= LIMITS.knownHealth;
}

/** Whether the check's health is newer than the start of the deployment, or its apply. */
export function isReportedSince(check: HealthCheck, head: HistoryEntry): boolean {
  const known = knownReport(check, head);
  if (known) return !sameReport(known, check.status ?? {});
  if (isNewCheck(check, head)) return true;
  const changed = parseTime(check.status?.lastChangeTime);
  // A stored time has whole seconds, the cutoff may have milliseconds: compare what would be stored.
  return changed !== undefined && changed >= wholeSeconds(healthCutoff(head));
}

/** The reports of checks that were watched when the deployment started and now are not, or no longer exist. */
export function goneChecks(
  { knownHealth = [] }: Pick<HistoryEntry, 'knownHealth'>,
  checks: readonly HealthCheck[],
): KnownHealth[] {
  const present = new Set(checks.map(({ metadata }) => checkKey(metadata)));
  return knownHealth.filter((known) => !present.has(checkKey(known)));
}

/** Whether the check was watched when reports were stored; true if the deployment stores none. */
export function isKnown(check: HealthCheck, head: HistoryEntry): boolean {
  return head.knownHealth === undefined || knownReport(check, head) !== undefined;
}

/** The report of the check when the deployment started; undefined if none was stored. */
function knownReport({ metadata }: HealthCheck, { knownHealth = [] }: HistoryEntry): HealthReport | undefined {
  return knownHealth.find((each) => checkKey(each) === checkKey(metadata));
}

/**
 * Whether the check did not exist when the reports were stored; false if the deployment stores none: then times count.
 */
function isNewCheck({ metadata }: HealthCheck, head: HistoryEntry): boolean {
  const created = parseTime(metadata.creationTimestamp);
  return head.knownHealth !== undefined && created !== undefined && created >= wholeSeconds(deployCutoff(head));
}

/**
 * Whether two reports are the same. A missing error makes no difference: a reset has removed it from the check, and not
 * from the stored report.
 */
function sameReport(known: HealthReport, { status, lastChangeTime, lastErrorTime }: HealthReport): boolean {
  return (
    (known.status ?? '') === (status ?? '') &&
    sameTime(known.lastChangeTime, lastChangeTime) &&
    (lastErrorTime === undefined || sameTime(known.lastErrorTime, lastErrorTime))
  );
}

/** Whether two texts are the same instant, perhaps in two formats. */
function sameTime(a: string | undefined, b: string | undefined): boolean {
  return a === b || (parseTime(a) !== undefined && parseTime(a) === parseTime(b));
}

export const checkKey = ({ namespace, name }: { namespace?: string; name?: string }) =>
  `${namespace ?? ''}/${name ?? ''}`;

// The times from which health counts for a deployment.

/** The time of the deployment, or of its last retry. */
export function deployCutoff(head: HistoryEntry): EpochMs {
  return Math.max(parseTime(head.timestamp) ?? 0, parseTime(head.lastRetryTimestamp) ?? 0);
}

/** The time from which health counts for the head. */
function healthCutoff(head: HistoryEntry): EpochMs {
  return Math.max(deployCutoff(head), parseTime(head.appliedTime) ?? 0);
}

// Resets of HealthChecks. Health from before a deployment, a retry or the apply of a version is meaningless.

/** The time from which health counts for the Rollout's newest deployment; undefined if nothing is deployed. */
export function cutoffOf(rollout: Rollout): EpochMs | undefined {
  const head = rollout.status?.history?.[0];
  if (!head) return undefined;
  const deployed = parseTime(head.timestamp);
  // Go's zero time is in the year 1.
  if (deployed === undefined || deployed <= 0) return undefined;
  return healthCutoff(head);
}

/** The times before which reports of health belong to earlier deployments. */
interface Cutoffs {
  /** The newest cutoff that has passed. */
  reached?: EpochMs;
  /**
   * The next cutoff in the future, because clocks differ, and histories may be written by hand. If only times show
   * which reports are newer, a reset before that time would be repeated without end.
   */
  ahead?: EpochMs;
}

export function cutoffsOf(rollouts: readonly Rollout[], now: EpochMs): Cutoffs {
  const all = rollouts.flatMap((rollout) => cutoffOf(rollout) ?? []);
  return { reached: latestTime(all.filter((at) => at <= now)), ahead: earliestTime(all.filter((at) => at > now)) };
}

/** The newest cutoff for measurements. It may be ahead: another replica, with another clock, may have written it. */
export function measurementCutoff(rollouts: readonly Rollout[], now: EpochMs): EpochMs | undefined {
  return cutoffsOf(rollouts, now + CLOCK_DIFFERENCE_MS).reached;
}

/** Whether one of the Rollouts has started or applied its newest deployment since the last report of the check. */
export function needsReset(healthCheck: HealthCheck, rollouts: readonly Rollout[], now: EpochMs): boolean {
  const { status } = healthCheck;
  return rollouts.some((rollout) => {
    const [head] = rollout.status?.history ?? [];
    const cutoff = cutoffOf(rollout);
    if (!head || cutoff === undefined) return false;
    // A known report shows without times whether there was a reset.
    if (cutoff > now && knownReport(healthCheck, head) === undefined) return false;
    if (status?.lastChangeTime === undefined) return true;
    return !isReportedSince(healthCheck, head) && !(isApply(head) && isBlank(healthCheck));
  });
}

const isApply = (head: HistoryEntry) => healthCutoff(head) > deployCutoff(head);

/** Whether any report will differ from the present one. Reporters of other classes may wait for the reset. */
function isBlank({ spec, status }: HealthCheck): boolean {
  return spec?.class === KUSTOMIZATION_CLASS && status?.status === 'Pending' && status.lastErrorTime === undefined;
}
