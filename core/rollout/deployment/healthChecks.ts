/** The health of a Rollout's deployments, from the HealthChecks that it watches. */
import { HEALTH_CHECKS_LEFT_OUT, HEALTH_CHECKS_MISSING } from '../../../api/conditions.ts';
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { HealthCheck, HistoryEntry, Rollout } from '../../../api/types.ts';
import { healthCheckLabels } from '../../health/association.ts';
import { howToAllow } from '../../health/consent.ts';
import { deployCutoff, goneChecks, hasNewError, isFull, isKnown, isReportedSince } from '../../health/knownHealth.ts';
import { gracePeriod, KUSTOMIZATION_CLASS } from '../../health/kustomizationCheck.ts';
import { type NewCondition, trueCondition } from '../../kube/conditions.ts';
import { identityOf, refKey } from '../../kube/names.ts';
import { earliestTime, formatTime, parseTime, wholeSeconds } from '../../kube/time.ts';
import { withoutCommands } from '../../text/commands.ts';

export type FailedCheck = NonNullable<HistoryEntry['failedHealthChecks']>[number];

/** The message for a check that was watched when the deployment began and is no longer watched. */
const GONE = 'it was deleted during this deployment, or is no longer selected';

/** Characters of a HealthCheck's message in the history. */
const MAX_MESSAGE = 4096;

/** The checks sorted by namespace and name: Metacontroller sends them in no order. */
export function sortedChecks(checks: readonly HealthCheck[]): HealthCheck[] {
  const key = (check: HealthCheck) => refKey(identityOf(check));
  return [...checks].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** The cause for which automatic deployments wait: an Unhealthy check. Pending does not block. */
export function unhealthyMessage(check: HealthCheck): string {
  const { name, namespace } = check.metadata;
  const detail = check.status?.message ? `: ${withoutCommands(check.status.message).slice(0, MAX_MESSAGE)}` : '';
  return `HealthCheck '${name}' in namespace '${namespace}' is not healthy (status: Unhealthy)${detail}`;
}

/**
 * Whether the check evaluates one revision, as class kustomization does. Such a check never reports the failure of an
 * older version, and it does report a version that is never applied because Flux cannot build it.
 */
export function checksRevision({ spec }: HealthCheck): boolean {
  return spec?.class === KUSTOMIZATION_CLASS;
}

/**
 * The end of this second, if a check recovered or reported an error in it; otherwise undefined.
 * Stored times have whole seconds: the recovery or error would count for a version that is deployed in the same second.
 */
export function healthSettlesAt(checks: readonly HealthCheck[], now: EpochMs): EpochMs | undefined {
  const second = wholeSeconds(now);
  const isNow = (time: string | undefined) => wholeSeconds(parseTime(time) ?? 0) === second;
  const unsettled = checks.some(
    ({ status }) => (status?.status === 'Healthy' && isNow(status.lastChangeTime)) || isNow(status?.lastErrorTime),
  );
  return unsettled ? second + 1000 : undefined;
}

/**
 * The checks that fail the deployment: those that have reported an error since it started or was applied, even if
 * Healthy now. Without any, those that have become Unhealthy during its bake: all were Healthy when it began.
 */
export function failuresOf(checks: readonly HealthCheck[], head: HistoryEntry): FailedCheck[] {
  const errors = checks.filter((check) => hasNewError(check, head));
  const failed = errors.length > 0 ? errors : checks.filter((check) => hasFailedInBake(check, head));
  return failed.map((check) => failedCheck(check, check.status?.message));
}

export function isUnhealthy({ status }: HealthCheck): boolean {
  return status?.status === 'Unhealthy';
}

/** Whether the check is Unhealthy and was watched when the bake began: a newer check may have failed before it. */
function hasFailedInBake(check: HealthCheck, head: HistoryEntry): boolean {
  const started = parseTime(head.bakeStartTime);
  if (started === undefined || !isUnhealthy(check)) return false;
  if (isKnown(check, head)) return true;
  // A full record leaves out checks that were watched too: for those, times count.
  const created = parseTime(check.metadata.creationTimestamp) ?? 0;
  const changed = parseTime(check.status?.lastChangeTime) ?? 0;
  return isFull(head) && created <= started && changed >= started;
}

/**
 * The checks that the failed `head` has not broken: those that were unhealthy before its deployment. The others don't
 * block the next version, because only that one can fix them.
 */
export function checksNotBrokenBy(head: HistoryEntry, checks: readonly HealthCheck[]): HealthCheck[] {
  const failed = new Set(head.failedHealthChecks?.map(refKey));
  return checks.filter(({ metadata, status }) => {
    if (failed.has(refKey(identityOf({ metadata })))) return false;
    return (parseTime(status?.lastChangeTime) ?? Number.NEGATIVE_INFINITY) < deployCutoff(head);
  });
}

/**
 * The checks that keep a bake from starting, and from ending, with the reason of each.
 * A deployment resets only checks of its own namespace, `home`: for others it is enough to be Healthy. A check that was
 * deleted proves nothing.
 */
export function notReady(checks: readonly HealthCheck[], head: HistoryEntry, home: string | undefined): FailedCheck[] {
  const gone = goneChecks(head, checks).map(({ namespace, name }) => ({ namespace, name, message: GONE }));
  const unready = checks.flatMap((check) => {
    const { status, message, lastChangeTime } = check.status ?? {};
    if (status !== 'Healthy') return [failedCheck(check, message || `Status: ${status ?? ''}`)];
    if (check.metadata.namespace !== home) return [];
    const changed = parseTime(lastChangeTime);
    if (changed === undefined) return [failedCheck(check, 'LastChangeTime is not set')];
    if (isReportedSince(check, head)) return [];
    // The Go controller's text, for a comparison of times.
    const text = `LastChangeTime (${formatTime(changed)}) is not newer than deployment time`;
    return [failedCheck(check, head.knownHealth ? 'no new report since the deployment' : text)];
  });
  return [...gone, ...unready];
}

/**
 * The time at which all checks of class kustomization that became Healthy again during the bake will have been Healthy
 * for their grace period; undefined if there are none. Pods in a crash loop are ready for a moment after each restart.
 * Flux applies a commit without a change of health: a bake would never end in a repository with a commit each minute.
 */
export function steadyFrom(checks: readonly HealthCheck[], { bakeStartTime }: HistoryEntry): EpochMs | undefined {
  const started = parseTime(bakeStartTime) ?? Number.POSITIVE_INFINITY;
  const healthy = checks.filter((check) => checksRevision(check) && check.status?.status === 'Healthy');
  const times = healthy.flatMap((check) => {
    const { steadySince, lastChangeTime } = check.status ?? {};
    // If the clock was set back since, lastChangeTime is the earlier one.
    const changed = earliestTime([parseTime(steadySince), parseTime(lastChangeTime)]) ?? started;
    return changed > started ? [changed + gracePeriod(check)] : [];
  });
  return times.length > 0 ? Math.max(...times) : undefined;
}

/** The condition for HealthChecks that the selector matches and that have not consented. */
export function healthChecksLeftOut(count: number, { metadata }: Rollout): NewCondition | undefined {
  if (count === 0) return undefined;
  const what = count === 1 ? '1 HealthCheck of another namespace is' : `${count} HealthChecks of other namespaces are`;
  const message = `${what} selected but not watched: ${howToAllow(metadata.namespace ?? '')}`;
  return trueCondition(HEALTH_CHECKS_LEFT_OUT, 'NotAllowed', message);
}

/** The condition for bakes that watch nothing: without a selector, or with one that matches no HealthCheck. */
export function healthChecksMissing(
  { healthChecks, unconsentingChecks }: { healthChecks: readonly HealthCheck[]; unconsentingChecks: number },
  { spec }: Rollout,
): NewCondition | undefined {
  const byTime = endsByTimeAlone(spec);
  if (byTime !== undefined) return trueCondition(HEALTH_CHECKS_MISSING, 'NoSelector', byTime);
  const isWatching = healthCheckLabels(spec?.healthCheckSelector) !== undefined;
  if (!isWatching || healthChecks.length + unconsentingChecks > 0) return undefined;
  const message = 'spec.healthCheckSelector matches no HealthCheck: bakes check no health until one appears';
  return trueCondition(HEALTH_CHECKS_MISSING, 'NoneSelected', message);
}

/** The message for bakes that only time ends, because there is a bakeTime and no selector; undefined otherwise. */
export function endsByTimeAlone(spec: Rollout['spec']): string | undefined {
  if (spec?.bakeTime === undefined || healthCheckLabels(spec.healthCheckSelector) !== undefined) return undefined;
  return 'spec.bakeTime without a selector in spec.healthCheckSelector: bakes check no health, and end by time alone';
}

function failedCheck({ metadata }: HealthCheck, message: string | undefined): FailedCheck {
  const shown = message?.slice(0, MAX_MESSAGE);
  return { name: metadata.name ?? '', namespace: metadata.namespace ?? '', ...(shown && { message: shown }) };
}
