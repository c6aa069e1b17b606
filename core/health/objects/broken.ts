/**
 * Failures that an object's own status does not show. A Deployment whose Pods crash has the same status as one that is
 * rolled out: not all Pods are available. So a workload counts as broken if it was complete and its spec has not
 * changed since. An object that Flux has applied and that does not exist was deleted.
 */
import type { AnyObject, EpochMs } from '../../../api/kubernetes.ts';
import { conditionsOf, fieldAt, numberAt, stringAt } from '../../kstatus/fields.ts';
import { groupOf } from '../../kube/names.ts';
import { formatTime, latestTime, parseTime } from '../../kube/time.ts';
import { lastSpecChange } from '../../kube/writers.ts';
import type { HealthContext } from './healthContext.ts';

const KEEP_PODS = new Set(['apps/Deployment', 'apps/StatefulSet', 'apps/DaemonSet', 'apps/ReplicaSet']);

/** Whether it is a built-in workload that runs Pods as long as it exists, unlike a Job. */
export function keepsPods({ apiVersion, kind }: Pick<AnyObject, 'apiVersion' | 'kind'>): boolean {
  return KEEP_PODS.has(`${groupOf(apiVersion)}/${kind}`);
}

interface Broken {
  failedAt: EpochMs;
  /** The last time at which all its Pods were ready. */
  seenComplete: EpochMs;
  /** `incomplete since 2026-03-01T12:00:00Z`, or `complete before, and not at its progress deadline`. */
  why: string;
}

/**
 * The failure of a workload that is in progress according to kstatus, and was complete with its present spec. It failed
 * when its health ended, if the grace period since then is over; a Deployment that no evaluation has found complete, at
 * its progress deadline.
 */
export function brokenWorkload(object: AnyObject, context: HealthContext): Broken | undefined {
  const { now, healthyUntil, seenHealthy, gracePeriod } = context;
  if (healthyUntil === undefined || seenHealthy === undefined) return missedDeadline(object, context);
  if (now < healthyUntil + gracePeriod || !keepsPods(object)) return undefined;
  const changed = lastSpecChange(object);
  if (changed !== undefined && changed > seenHealthy) return undefined;
  return { failedAt: healthyUntil, seenComplete: seenHealthy, why: `incomplete since ${formatTime(healthyUntil)}` };
}

/** The default of `spec.progressDeadlineSeconds`. Only Deployments have the field. */
const PROGRESS_DEADLINE_SECONDS = 600;

function progressDeadlineMs(workload: AnyObject | undefined): number {
  return (numberAt(workload, ['spec', 'progressDeadlineSeconds']) ?? PROGRESS_DEADLINE_SECONDS) * 1000;
}

/**
 * The time from which a failure counts for a deployment. An object that had failed before, such as before a retry, may
 * recover: it counts if it has not by its deadline.
 * @param since when Flux began with the deployment; undefined without one
 */
export function countedFailure(
  failedAt: EpochMs | undefined,
  object: AnyObject | undefined,
  since: EpochMs | undefined,
  now: EpochMs,
): EpochMs | undefined {
  if (failedAt === undefined || since === undefined || failedAt > since) return failedAt;
  const deadline = since + progressDeadlineMs(object);
  return deadline <= now ? deadline : failedAt;
}

/** The overdue progress of a workload that is not complete. */
export interface Unfinished {
  /** The last change of its spec. */
  changed: EpochMs;
  /** The time from which it has to progress: after a change of its spec, a deployment or its apply. */
  since: EpochMs;
  /** The time in which it, and each of its Pods, has to become ready. */
  deadlineMs: number;
}

/**
 * The overdue progress of a workload that a deployment has left incomplete; undefined before its deadline. Kubernetes
 * reports the deadline of a Deployment only, and not even that if all its Pods were ready for a moment.
 */
export function unfinishedWorkload(object: AnyObject, { now, cutoff }: HealthContext): Unfinished | undefined {
  if (cutoff === undefined || !keepsPods(object)) return undefined;
  const changed = lastSpecChange(object) ?? 0;
  const since = Math.max(changed, cutoff);
  const deadlineMs = progressDeadlineMs(object);
  return now < since + deadlineMs ? undefined : { changed, since, deadlineMs };
}

/**
 * The failure of a Deployment that Kubernetes has found complete, and that is unavailable for the grace period at its
 * progress deadline, which begins anew with a deployment or retry. Trap: Pods without a readiness probe are ready for a
 * moment before they crash, and Kubernetes never reports the deadline then.
 */
function missedDeadline(object: AnyObject, { now, cutoff, gracePeriod }: HealthContext): Broken | undefined {
  if (cutoff === undefined || groupOf(object.apiVersion) !== 'apps' || object.kind !== 'Deployment') return undefined;
  const unavailable = conditionsOf(object).find(({ type, status }) => type === 'Available' && status === 'False');
  const unavailableSince = parseTime(unavailable?.lastTransitionTime);
  if (unavailableSince === undefined || now < unavailableSince + gracePeriod) return undefined;
  const conditions = fieldAt(object, ['status', 'conditions']);
  const complete = (Array.isArray(conditions) ? conditions : []).find(
    (each) => stringAt(each, ['reason']) === 'NewReplicaSetAvailable',
  );
  const completed = parseTime(stringAt(complete, ['lastUpdateTime']));
  const changed = lastSpecChange(object);
  const isObserved = numberAt(object, ['status', 'observedGeneration']) === object.metadata.generation;
  if (completed === undefined || !isObserved || (changed !== undefined && changed > completed)) return undefined;
  const deadline = Math.max(completed, cutoff) + progressDeadlineMs(object);
  if (deadline > now) return undefined;
  return { failedAt: deadline, seenComplete: completed, why: 'complete before, and not at its progress deadline' };
}

/**
 * The time at which a missing object of the inventory last existed, if the grace period since then is over.
 * @param applied the time at which Flux had applied everything; undefined while it has not, or if the time is unknown
 */
export function deletedSince(
  applied: EpochMs | undefined,
  { now, cutoff, healthyUntil, gracePeriod }: HealthContext,
): EpochMs | undefined {
  if (applied === undefined) return undefined;
  const since = latestTime([applied, cutoff, healthyUntil])!;
  return now < since + gracePeriod ? undefined : since;
}

// When an object failed, according to its conditions.

/**
 * The time of Stalled=True, or else of the newest transition of any condition but Reconciling, or the end of an Argo
 * Workflow; undefined without a valid time.
 */
export function failureTime(object: AnyObject): EpochMs | undefined {
  const conditions = conditionsOf(object).filter(({ type }) => type !== 'Reconciling');
  const stalled = conditions.filter((c) => c.type === 'Stalled' && c.status === 'True');
  const ended = parseTime(stringAt(object, ['status', 'finishedAt']));
  return newestTransition(stalled.length > 0 ? stalled : conditions) ?? ended;
}

function newestTransition(conditions: readonly { lastTransitionTime?: string }[]): EpochMs | undefined {
  return latestTime(conditions.map((c) => parseTime(c.lastTransitionTime)));
}
