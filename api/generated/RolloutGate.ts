/* Generated from manifests/crds/kuberik.com_rolloutgates.yaml by dev/scripts/generate-types.ts. Do not edit. */

import type {ObjectMeta} from '../kubernetes.ts';

/**
 * Blocks versions of one Rollout. Users or other controllers write it.
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
     * False blocks all automatic deployments.
     */
    passing: boolean;
    /**
     * The tags that may be deployed automatically. Absent: all. Empty: none. Ignored while passing is false. Printable ASCII; a text that is no tag matches no release.
     */
    allowedVersions?: string[];
    /**
     * Tags that are never deployed while listed, not even manually. Printable ASCII.
     */
    rejectedVersions?: string[];
    /**
     * Approvals that every deployment needs, also a manual one: docs/promotion.md#approvals. The annotation rollout.kuberik.com/approve approves a version.
     */
    approvals?: {
      /**
       * Number of users who must approve.
       */
      required: number;
      /**
       * Users whose approval doesn't count. requester: the user who requested the deployment manually. author: the authors in the release's manifest; while these are unknown, no approval counts.
       */
      notBy?: ('requester' | 'author')[];
      /**
       * How long an approval counts, such as 24h. Absent: until it is withdrawn.
       */
      expireAfter?: string;
      /**
       * The ServiceAccounts whose approval counts, as namespace/name. Approvals of others don't count.
       */
      serviceAccounts?: string[];
    };
  };
  /**
   * Whether the RolloutGate passes, and which versions have approvals.
   */
  status?: {
    /**
     * The generation of the spec that the status was computed from.
     */
    observedGeneration?: number;
    /**
     * Ready is True if the RolloutGate is passing.
     */
    conditions?: {
      /**
       * When the status last changed.
       */
      lastTransitionTime: string;
      /**
       * The cause, in a sentence.
       */
      message: string;
      /**
       * The generation of the spec that the condition is about.
       */
      observedGeneration?: number;
      /**
       * The cause, in one word.
       */
      reason: string;
      /**
       * The status of the condition.
       */
      status: 'True' | 'False' | 'Unknown';
      /**
       * The type of the condition.
       */
      type: string;
    }[];
    /**
     * The approvals, with spec.approvals: a report for readers.
     */
    approvals?: {
      /**
       * Number of approvals that a version needs.
       */
      required: number;
      /**
       * Approvals of the version that waits, or was approved last, such as 1/2 for 1.2.0.
       */
      progress?: string;
      /**
       * The user who last changed spec.approvals or rolloutRef.
       */
      changedBy?: string;
      /**
       * When it was changed.
       */
      changedAt?: string;
      /**
       * The number of these changes.
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
         * Namespace and name of the version's Rollout, on a Gate.
         */
        rollout?: string;
        /**
         * Number of approvals that count.
         */
        count?: number;
        /**
         * Whether the approvals are enough.
         */
        enough?: boolean;
        /**
         * The approvals, oldest first.
         */
        given: {
          /**
           * The authenticated user.
           */
          by: string;
          /**
           * When it was given.
           */
          at: string;
          /**
           * The reason given.
           */
          reason?: string;
          /**
           * When the approval expires.
           */
          expiresAt?: string;
          /**
           * Why the approval doesn't count; absent if it counts.
           */
          doesNotCount?: string;
        }[];
      }[];
    };
  };
}
