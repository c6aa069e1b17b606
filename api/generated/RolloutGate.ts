/* Generated from manifests/crds/kuberik.com_rolloutgates.yaml by dev/scripts/generate-types.ts. Do not edit. */

import type {ObjectMeta} from '../kubernetes.ts';

/**
 * Holds back versions of one Rollout. Set by people or by other controllers.
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
     * The tags that may be deployed; an empty list allows none.
     */
    allowedVersions?: string[];
    /**
     * Tags that are never deployed while they are listed.
     */
    rejectedVersions?: string[];
    /**
     * A version is deployed only with this many approvals, by hand too. It is approved with the annotation rollout.kuberik.com/approve.
     */
    approvals?: {
      /**
       * By how many people.
       */
      required: number;
      /**
       * Whose approval does not count: requester, who asked for the deployment by hand; author, whom the manifest of the release names. Where its authors are not known, none counts.
       */
      notBy?: ('requester' | 'author')[];
      /**
       * How long an approval counts; without it as long as it stands.
       */
      expireAfter?: string;
      /**
       * The ServiceAccounts whose approval counts, as namespace/name; of others none does.
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
     * The approvals that count now, where spec.approvals asks for any.
     */
    approvals?: {
      /**
       * How many a version needs.
       */
      required: number;
      /**
       * Of the version that waits, or was approved last: 1/2 for 1.2.0.
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
       * What has approvals, the newest first.
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
           * From then on it is gone.
           */
          expiresAt?: string;
          /**
           * Why it does not, if so.
           */
          doesNotCount?: string;
        }[];
      }[];
    };
  };
}
