import type { EpochMs } from '../../../api/kubernetes.ts';

/** The first failed attempt at each object, by `<kind> <namespace>/<name>`, since Flux last applied it. */
export type FirstFailures = ReadonlyMap<string, EpochMs>;

/** The inputs of the health of a Kustomization and of each of its objects, besides their own fields. */
export interface HealthContext {
  now: EpochMs;
  /** The time from which health counts, when the deployment started or was applied; undefined without a deployment. */
  cutoff: EpochMs | undefined;
  /** Whether the deployed version was deployed before, for example by a rollback. */
  wasDeployedBefore: boolean;
  /**
   * The time until which everything was healthy since the deployment: now, if it still is; undefined if it never was.
   */
  healthyUntil: EpochMs | undefined;
  /** The first failures that were stored since the last reset. */
  firstFailures: FirstFailures;
  /**
   * The last time at which everything certainly was healthy: a later change may have ended the health. Evaluations that
   * find no change are not stored.
   */
  seenHealthy: EpochMs | undefined;
  /**
   * Milliseconds for which a complete workload may be unready, an applied object missing, or Flux's attempts may fail,
   * without a failure.
   */
  gracePeriod: number;
  /** Whether objects that don't exist are ignored, as the Go controller does. */
  ignoresMissing: boolean;
}
