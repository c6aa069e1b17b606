/**
 * Attempts of kustomize-controller that failed and that it repeats. One failure proves nothing about the version: the
 * API server may have been down, or a node may have been lost while Flux waited for health.
 */
import type { AnyObject, EpochMs } from '../../../api/kubernetes.ts';
import { readyOf } from '../../kstatus/fields.ts';
import { latestTime, parseTime } from '../../kube/time.ts';
import type { HealthContext } from './healthContext.ts';

/** A failed attempt that may succeed when Flux repeats it. */
export interface FailedAttempt {
  reason: string;
  message: string;
  at: EpochMs;
}

/**
 * The failed attempt of the Kustomization; undefined if its last one did not fail, or if one such failure is enough:
 * Flux has already waited for the health of a version that was never healthy.
 */
export function failedAttemptOf(
  kustomization: AnyObject,
  { healthyUntil }: Pick<HealthContext, 'healthyUntil'>,
): FailedAttempt | undefined {
  const ready = readyOf(kustomization);
  const at = parseTime(ready?.lastTransitionTime);
  if (ready?.status !== 'False' || at === undefined) return undefined;
  const { reason, message } = ready;
  const isRepeated =
    reason === 'ReconciliationFailed' || (reason === 'HealthCheckFailed' && healthyUntil !== undefined);
  return isRepeated ? { reason, message, at } : undefined;
}

/**
 * The first failed attempt since the check was Healthy, and whether a later one has failed too, at least the grace
 * period after it.
 * @param times of the last failed attempts, of the Kustomization and of those among its objects
 */
export function failedAttempts(
  times: readonly (EpochMs | undefined)[],
  { firstFailedAttempt, gracePeriod }: HealthContext,
): { first: EpochMs | undefined; haveFailedAgain: boolean } {
  const last = latestTime(times);
  if (last === undefined) return { first: undefined, haveFailedAgain: false };
  const first = firstFailedAttempt ?? last;
  // The clock of Flux may have been set back.
  return { first, haveFailedAgain: Math.abs(last - first) >= gracePeriod };
}
