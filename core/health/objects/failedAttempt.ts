/**
 * Attempts of kustomize-controller that failed and that it repeats. One failure proves nothing about the version: the
 * API server may have been down, or a node may have been lost while Flux waited for health.
 */
import type { AnyObject, EpochMs } from '../../../api/kubernetes.ts';
import { readyOf } from '../../kstatus/fields.ts';
import { parseTime } from '../../kube/time.ts';
import type { FirstFailures, HealthContext } from './healthContext.ts';

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

/** The last attempt of one Kustomization: it failed, succeeded, or is not known to have done either. */
export interface LastAttempt {
  /** `namespace/name`. */
  kustomization: string;
  failedAt: EpochMs | undefined;
  hasSucceeded: boolean;
}

/** The most Kustomizations of which a HealthCheck stores the first failed attempt. */
const MAX_STORED = 20;

/** The first failures now, and the Kustomizations that have failed again, at least the grace period after them. */
export function failedAttempts(
  attempts: readonly LastAttempt[],
  { firstFailures, gracePeriod }: Pick<HealthContext, 'firstFailures' | 'gracePeriod'>,
): { firstFailures: FirstFailures; failedAgain: ReadonlySet<string> } {
  const failed = attempts.flatMap(({ kustomization, failedAt, hasSucceeded }) => {
    const first = firstFailures.get(kustomization) ?? failedAt;
    return hasSucceeded || first === undefined ? [] : [{ kustomization, first, last: failedAt ?? first }];
  });
  // The clock of Flux may have been set back.
  const again = failed.filter(({ first, last }) => Math.abs(last - first) >= gracePeriod);
  return {
    firstFailures: new Map(failed.slice(0, MAX_STORED).map(({ kustomization, first }) => [kustomization, first])),
    failedAgain: new Set(again.map(({ kustomization }) => kustomization)),
  };
}
