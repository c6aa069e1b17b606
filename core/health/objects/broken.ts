/**
 * Failures that an object's own status does not show. A Deployment whose Pods crash has the same status as one that is
 * rolled out: not all Pods are available. So a workload counts as broken if it was complete and its spec has not
 * changed since. An object that Flux has applied and that does not exist was deleted.
 */
import type { AnyObject, EpochMs, KubeObject } from '../../../api/kubernetes.ts';
import { conditionsOf } from '../../kstatus/fields.ts';
import { groupOf } from '../../kube/names.ts';
import { parseTime } from '../../kube/time.ts';

export interface Since {
  /** When the deployment that the health is for started, or was applied; undefined if there is none. */
  deployed: EpochMs | undefined;
  /** Whether the deployed version has been deployed before, as by a rollback. */
  returns?: boolean;
  /** Until when everything was healthy since then; undefined if it was not, or still is. */
  healthyUntil?: EpochMs | undefined;
  /**
   * Milliseconds between two evaluations, at most: a change so long before `healthyUntil` may have ended the health.
   */
  unseen: number;
  /** When Flux had applied everything in the inventory; undefined while it has not, or has no such time. */
  applied?: EpochMs | undefined;
  /** In milliseconds. */
  gracePeriod: number;
}

const WORKLOADS = new Set(['apps/Deployment', 'apps/StatefulSet', 'apps/DaemonSet', 'apps/ReplicaSet']);

/**
 * Whether an object that is in progress according to kstatus is a workload that was complete, and the grace period is
 * over.
 */
export function isBroken(object: AnyObject, { healthyUntil, unseen, gracePeriod }: Since, now: EpochMs): boolean {
  if (healthyUntil === undefined || now < healthyUntil + gracePeriod) return false;
  if (!WORKLOADS.has(`${groupOf(object.apiVersion)}/${object.kind}`)) return false;
  const changed = lastSpecChange(object);
  // A stored time has whole seconds.
  return changed === undefined || changed <= healthyUntil - unseen;
}

/**
 * Whether the object may be absent without a failure: Kubernetes deletes Jobs that have ended
 * (`ttlSecondsAfterFinished`).
 */
export function mayBeGone({ apiVersion, kind }: Pick<KubeObject, 'apiVersion' | 'kind'>): boolean {
  return groupOf(apiVersion) === 'batch' && kind === 'Job';
}

/** When missing objects of the inventory existed last, if the grace period since then is over. */
export function deletedSince(
  { deployed, healthyUntil, applied, gracePeriod }: Since,
  now: EpochMs,
): EpochMs | undefined {
  if (applied === undefined) return undefined;
  const since = latestTime([applied, deployed, healthyUntil])!;
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

export function latestTime(times: readonly (EpochMs | undefined)[]): EpochMs | undefined {
  const known = times.filter((at) => at !== undefined);
  return known.length > 0 ? Math.max(...known) : undefined;
}
