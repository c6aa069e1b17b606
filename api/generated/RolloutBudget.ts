/* Generated from manifests/crds/kuberik.com_rolloutbudgets.yaml by dev/scripts/generate-types.ts. Do not edit. */

import type {ObjectMeta} from '../kubernetes.ts';

/**
 * Lets at most maxConcurrent of the Rollouts that it selects in its namespace deploy a version at once, and blocks a version after maxFailures failures. See docs/budgets.md.
 */
export interface RolloutBudget {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  /**
   * The Rollouts that share the budget, and its size.
   */
  spec: {
    /**
     * Selects Rollouts by their labels. Empty: all.
     */
    selector: {
      /**
       * Labels with the values that they must have, all of them.
       */
      matchLabels?: {
        [k: string]: string;
      };
      /**
       * Conditions on labels, all of which must hold.
       */
      matchExpressions?: {
        /**
         * The label.
         */
        key: string;
        /**
         * How the label's value is compared.
         */
        operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
        /**
         * The values, for In and NotIn.
         */
        values?: string[];
      }[];
    };
    /**
     * The most Rollouts that may deploy or bake at once: a number, or a percentage of the selected Rollouts, rounded up. With 0 or 0% no deployment begins.
     */
    maxConcurrent: number | string;
    /**
     * The number of failures of a version that stops it in all other Rollouts until a user continues it: a number, or a percentage of the selected Rollouts, rounded up. Absent: failures block nothing.
     */
    maxFailures?: number | string;
    /**
     * Waves. A wave gets a version when the version has Succeeded in every Rollout of earlier waves.
     */
    order?: {
      /**
       * The label of the Rollouts whose value is their wave.
       */
      label: string;
      /**
       * The label's values, the first wave first. Rollouts with another value, or none, are the last wave.
       */
      values: string[];
    };
    /**
     * How long a slot stays empty after its deployment has ended, such as 10m. Absent: the slot is free at once.
     */
    cooldown?: string;
    /**
     * A deployment that takes longer, such as 2h, counts as a failure of its version, and loses its slot. Absent: a deployment keeps its slot until it ends.
     */
    slotTimeout?: string;
  };
  /**
   * The Rollouts with slots, those that wait, and the progress of each version.
   */
  status?: {
    /**
     * The generation of the spec that this status was computed from.
     */
    observedGeneration?: number;
    /**
     * The number of changes of this status. A write computed from an older status is rejected.
     */
    revision?: number;
    /**
     * The admission request of the newest continue that took effect.
     */
    handledRequest?: string;
    /**
     * Number of Rollouts selected.
     */
    selected?: number;
    /**
     * The number that spec.maxConcurrent allows.
     */
    maxConcurrent?: number;
    /**
     * The number of failures that blocks a version.
     */
    maxFailures?: number;
    /**
     * Number of slots taken, including those in cooldown.
     */
    underWay?: number;
    /**
     * Number of Rollouts that request a slot and have none.
     */
    waiting?: number;
    /**
     * Failures of the version that is first in versions.
     */
    failed?: number;
    /**
     * The Rollouts that have a slot, and all others that are deploying.
     */
    slots?: {
      /**
       * The Rollout's namespace.
       */
      namespace: string;
      /**
       * The Rollout's name.
       */
      name: string;
      /**
       * The Rollout's uid.
       */
      uid: string;
      /**
       * The Rollout's request for the slot. Absent if the deployment began without one.
       */
      request?: number;
      /**
       * The tag that it may deploy.
       */
      version: string;
      /**
       * Its digest, where it is known.
       */
      digest?: string;
      /**
       * The image that the version is a tag of.
       */
      image?: string;
      /**
       * The Rollout's status.revision in which this was read; older ones are ignored.
       */
      rolloutRevision: number;
      /**
       * When the slot was granted.
       */
      grantedTime: string;
      /**
       * When revoking began.
       */
      revokedTime?: string;
      /**
       * Granted: not used yet. Revoking: not used in time, and soon free. Deploying, Baking: in use. Overdue: in use for longer than slotTimeout, and no longer counted.
       */
      state: 'Granted' | 'Revoking' | 'Deploying' | 'Baking' | 'Overdue';
    }[];
    /**
     * The times at which the slots in cooldown were freed.
     */
    cooling?: string[];
    /**
     * The versions that are requested, rolling out, or have failed; requested ones come first.
     */
    versions?: {
      /**
       * The image that the version is a tag of.
       */
      image: string;
      /**
       * The tag.
       */
      version: string;
      /**
       * Its digest, where it is known.
       */
      digest?: string;
      /**
       * The version's current wave, and how many of its Rollouts have the version.
       */
      wave?: string;
      /**
       * By wave, while it is requested or rolling out: the number of Rollouts of its image, and their status.
       */
      waves?: {
        /**
         * The label's value; empty for all others.
         */
        value: string;
        /**
         * Number of Rollouts of this image.
         */
        total: number;
        /**
         * Number of Rollouts in which the version has Succeeded.
         */
        done: number;
        /**
         * Number of Rollouts that deploy the version, or have a slot for it.
         */
        underWay: number;
        /**
         * Number of Rollouts that request the version.
         */
        waiting: number;
        /**
         * Number of Rollouts in which it has Failed.
         */
        failed: number;
        /**
         * Number of Rollouts whose failure a user has excused; they count as done.
         */
        excused?: number;
      }[];
      /**
       * Number of Rollouts in which the version has failed.
       */
      failed: number;
      /**
       * The Rollouts in which it has failed, at most 100. They stay listed when they are deleted, or succeed in a retry.
       */
      failures?: {
        /**
         * The Rollout's namespace.
         */
        namespace: string;
        /**
         * The Rollout's name.
         */
        name: string;
        /**
         * The Rollout's uid.
         */
        uid: string;
      }[];
      /**
       * Whether its failures block it.
       */
      blocked?: boolean;
      /**
       * Number of failures that a user has excused.
       */
      failuresExcused?: number;
      /**
       * The user who continued the version.
       */
      continuedBy?: string;
      /**
       * When it was continued.
       */
      continuedAt?: string;
    }[];
    /**
     * Ready is True if slots are granted; otherwise it has the cause.
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
  };
}
