import type { EpochMs } from '../../../api/kubernetes.ts';

/** The inputs of the health of a Kustomization and of each of its objects, besides their own fields. */
export interface HealthContext {
  now: EpochMs;
  /** When the deployment that the health is for started, or was applied; undefined if there is none. */
  cutoff: EpochMs | undefined;
  /** Whether the deployed version has been deployed before, as by a rollback. */
  returns: boolean;
  /** Until when everything was healthy since the deployment; now, if it still is; undefined if it was not. */
  healthyUntil: EpochMs | undefined;
  /**
   * Milliseconds between two evaluations, at most: a change so long before `healthyUntil` may have ended the health.
   */
  unseen: number;
  /** Milliseconds for which a complete workload may be unready, or an applied object missing, without a failure. */
  gracePeriod: number;
  /** Whether objects that don't exist are ignored, as the Go controller does. */
  ignoresMissing: boolean;
}
