/**
 * Failures that an object's own status does not show. A Deployment whose Pods crash has the same status as one that is
 * rolled out: not all Pods are available. So a workload counts as broken if it was complete and its spec has not
 * changed since. An object that Flux has applied and that does not exist was deleted.
 */
import type { AnyObject, EpochMs } from '../../../api/kubernetes.ts';
import { conditionsOf } from '../../kstatus/fields.ts';
import { groupOf } from '../../kube/names.ts';
import { latestTime, parseTime } from '../../kube/time.ts';
import type { HealthContext } from './healthContext.ts';

const KEEP_PODS = new Set(['apps/Deployment', 'apps/StatefulSet', 'apps/DaemonSet', 'apps/ReplicaSet']);

/** Whether it is a built-in workload that runs Pods as long as it exists, unlike a Job. */
export function keepsPods({ apiVersion, kind }: Pick<AnyObject, 'apiVersion' | 'kind'>): boolean {
  return KEEP_PODS.has(`${groupOf(apiVersion)}/${kind}`);
}

/**
 * The time until which a workload that is in progress according to kstatus was complete, if the grace period since then
 * is over.
 */
export function brokenSince(
  object: AnyObject,
  { now, healthyUntil, seenHealthy, gracePeriod }: HealthContext,
): EpochMs | undefined {
  if (healthyUntil === undefined || seenHealthy === undefined || now < healthyUntil + gracePeriod) return undefined;
  if (!keepsPods(object)) return undefined;
  const changed = lastSpecChange(object);
  return changed === undefined || changed <= seenHealthy ? healthyUntil : undefined;
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

/** The last write of a field outside the status, `scale` included: the API server records it for each field manager. */
function lastSpecChange({ metadata }: AnyObject): EpochMs | undefined {
  const fields = (metadata.managedFields ?? []) as { subresource?: string; time?: string }[];
  return latestTime([
    parseTime(metadata.creationTimestamp),
    ...fields.filter(({ subresource }) => subresource !== 'status').map(({ time }) => parseTime(time)),
  ]);
}

// When an object failed, according to its conditions.

/**
 * The time of Stalled=True, or else of the newest transition of any condition but Reconciling; undefined without a
 * valid time.
 */
export function failureTime(object: AnyObject): EpochMs | undefined {
  const conditions = conditionsOf(object).filter(({ type }) => type !== 'Reconciling');
  const stalled = conditions.filter((c) => c.type === 'Stalled' && c.status === 'True');
  return newestTransition(stalled.length > 0 ? stalled : conditions);
}

function newestTransition(conditions: readonly { lastTransitionTime?: string }[]): EpochMs | undefined {
  return latestTime(conditions.map((c) => parseTime(c.lastTransitionTime)));
}
