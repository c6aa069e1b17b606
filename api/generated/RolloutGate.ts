/* Generated from manifests/crds/kuberik.com_rolloutgates.yaml by dev/scripts/generate-types.ts. Do not edit. */

import type {ObjectMeta} from '../kubernetes.ts';

/**
 * Holds versions of one Rollout. Users write it, or other controllers.
 */
export interface RolloutGate {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  /**
   * Which versions of which Rollout may be deployed.
   */
  spec?: {
    /**
     * The Rollout, in the same namespace.
     */
    rolloutRef: {
      /**
       * The name of the Rollout.
       */
      name: string;
    };
    /**
     * False holds every version.
     */
    passing: boolean;
    /**
     * The tags that may be deployed. An empty list allows none, no list allows all. Ignored while passing is false. Printable ASCII; what is not a tag matches no release.
     */
    allowedVersions?: string[];
    /**
     * Tags that are never deployed while listed, not even manually. Printable ASCII.
     */
    rejectedVersions?: string[];
    /**
     * A version is deployed only with these approvals, also manually: docs/promotion.md#approvals. The annotation rollout.kuberik.com/approve approves one.
     */
    approvals?: {
      /**
       * By how many people.
       */
      required: number;
      /**
       * Whose approval doesn't count: requester, the user who requested the deployment manually; author, whom the release's manifest names. While its authors are not known, none counts.
       */
      notBy?: ('requester' | 'author')[];
      /**
       * How long an approval counts, from its own time; until it is withdrawn when absent.
       */
      expireAfter?: string;
      /**
       * The ServiceAccounts whose approval counts, as namespace/name. No other ServiceAccount's counts.
       */
      serviceAccounts?: string[];
    };
  };
  /**
   * Whether it passes, and what has been approved.
   */
  status?: {
    /**
     * The generation of the spec that the status is about.
     */
    observedGeneration?: number;
    /**
     * Ready says whether the gate is passing.
     */
    conditions?: {
      /**
       * When the status last changed.
       */
      lastTransitionTime: string;
      /**
       * The same, in a sentence.
       */
      message: string;
      /**
       * The generation of the spec that it is about.
       */
      observedGeneration?: number;
      /**
       * Why, in one word.
       */
      reason: string;
      /**
       * Whether it is so.
       */
      status: 'True' | 'False' | 'Unknown';
      /**
       * What the condition is about.
       */
      type: string;
    }[];
    /**
     * The approvals, where spec.approvals is set: a report, from which nothing is decided.
     */
    approvals?: {
      /**
       * How many a version needs.
       */
      required: number;
      /**
       * Of the version that waits, or was approved last, such as 1/2 for 1.2.0.
       */
      progress?: string;
      /**
       * Who last changed spec.approvals or rolloutRef.
       */
      changedBy?: string;
      /**
       * When that was.
       */
      changedAt?: string;
      /**
       * How many such changes there have been.
       */
      changes?: number;
      /**
       * Versions with approvals, the newest first.
       */
      versions?: {
        /**
         * The tag.
         */
        version: string;
        /**
         * Namespace and name of its Rollout, on a Gate.
         */
        rollout?: string;
        /**
         * How many of them count.
         */
        count?: number;
        /**
         * Whether these are enough.
         */
        enough?: boolean;
        /**
         * The oldest first.
         */
        given: {
          /**
           * The authenticated user.
           */
          by: string;
          /**
           * When.
           */
          at: string;
          /**
           * The reason given.
           */
          reason?: string;
          /**
           * When it expires.
           */
          expiresAt?: string;
          /**
           * Why it doesn't count, if so.
           */
          doesNotCount?: string;
        }[];
      }[];
    };
  };
}
