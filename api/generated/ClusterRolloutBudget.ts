/* Generated from manifests/crds/kuberik.com_clusterrolloutbudgets.yaml by dev/scripts/generate-types.ts. Do not edit. */

import type {ObjectMeta} from '../kubernetes.ts';

/**
 * Of the Rollouts that it selects, in the namespaces it selects, at most so many deploy a version at once; after so many failures of a version the others hold it.
 */
export interface ClusterRolloutBudget {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  /**
   * Which Rollouts share the budget, and how wide it is.
   */
  spec: {
    /**
     * The Rollouts, by their labels. An empty one selects all.
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
         * How its value is compared.
         */
        operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
        /**
         * For In and NotIn.
         */
        values?: string[];
      }[];
    };
    /**
     * The namespaces that share the slots, by the labels of the Namespace, which tenants must not be able to set. An empty one selects all: then whoever may label a Rollout anywhere takes slots and holds versions for all.
     */
    namespaceSelector: {
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
         * How its value is compared.
         */
        operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
        /**
         * For In and NotIn.
         */
        values?: string[];
      }[];
    };
    /**
     * How many of them may have a version on its way, deploying or baking, at once: a number, or a share of those selected, rounded up. With 0 and 0% nobody begins.
     */
    maxConcurrent: number | string;
    /**
     * After so many failures of a version nobody else begins it, until somebody continues: a number, or a share of those selected, rounded up. Absent, failures hold nobody.
     */
    maxFailures?: number | string;
    /**
     * Waves. A version comes to the next one when every Rollout of those before has it Succeeded.
     */
    order?: {
      /**
       * The label of the Rollouts whose value tells their wave.
       */
      label: string;
      /**
       * Its values, the first wave first. Rollouts with another value, or none, come last, together.
       */
      values: string[];
    };
    /**
     * How long a slot stays empty after its deployment has ended.
     */
    cooldown?: string;
    /**
     * A deployment that is on its way for longer counts as a failure of its version, unless it began by hand, and no longer as one under way.
     */
    slotTimeout?: string;
  };
  /**
   * Who has a slot, who waits, and how far each version is.
   */
  status?: {
    /**
     * The generation of the spec that this status is about.
     */
    observedGeneration?: number;
    /**
     * Counts the changes of this status; each is the one before plus one.
     */
    revision?: number;
    /**
     * The admission request of the newest continue that was acted on.
     */
    handledRequest?: string;
    /**
     * How many Rollouts it selects.
     */
    selected?: number;
    /**
     * How many that allows at once.
     */
    maxConcurrent?: number;
    /**
     * After how many failures of a version the others hold it.
     */
    maxFailures?: number;
    /**
     * How many slots are taken, those that cool down included.
     */
    underWay?: number;
    /**
     * How many Rollouts ask for a slot and have none.
     */
    waiting?: number;
    /**
     * Failures of the version that is first in versions.
     */
    failed?: number;
    /**
     * Who has a slot, and everybody else who is on the way.
     */
    slots?: {
      /**
       * Of the Rollout.
       */
      namespace: string;
      /**
       * Of the Rollout.
       */
      name: string;
      /**
       * Of the Rollout.
       */
      uid: string;
      /**
       * Its request for a slot. Absent where it began without asking.
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
       * Its image.
       */
      image?: string;
      /**
       * The Rollout's status.revision in which this was seen. An older one tells nothing.
       */
      rolloutRevision: number;
      /**
       * Since when it has the slot.
       */
      grantedTime: string;
      /**
       * Since when the slot is being taken back.
       */
      revokedTime?: string;
      /**
       * Granted and not used yet, being taken back (Revoking), used (Deploying, Baking), or on its way for longer than slotTimeout (Overdue), which is not counted.
       */
      state: 'Granted' | 'Revoking' | 'Deploying' | 'Baking' | 'Overdue';
    }[];
    /**
     * When slots were freed that are still empty because of the cooldown.
     */
    cooling?: string[];
    /**
     * The versions that are asked for, on their way, or have failed; what is asked for now comes first.
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
       * The wave that it is in, and how many of its Rollouts have it.
       */
      wave?: string;
      /**
       * By wave, while it is asked for or on its way: how many Rollouts of its image there are, and how they fare.
       */
      waves?: {
        /**
         * The label's value; empty for all others.
         */
        value: string;
        /**
         * Rollouts of this image.
         */
        total: number;
        /**
         * Those that have it Succeeded.
         */
        done: number;
        /**
         * Those that have it on its way, or a slot for it.
         */
        underWay: number;
        /**
         * Those that ask for it.
         */
        waiting: number;
        /**
         * Those in which it has Failed.
         */
        failed: number;
        /**
         * Those whose failure somebody has excused; they count as done.
         */
        excused?: number;
      }[];
      /**
       * In how many Rollouts it has failed.
       */
      failed: number;
      /**
       * In which, at most 100. They are remembered when they are deleted, or succeed in a retry.
       */
      failures?: {
        /**
         * Of the Rollout.
         */
        namespace: string;
        /**
         * Of the Rollout.
         */
        name: string;
        /**
         * Of the Rollout.
         */
        uid: string;
      }[];
      /**
       * Whether failures hold it.
       */
      held?: boolean;
      /**
       * How many failures somebody has excused.
       */
      failuresExcused?: number;
      /**
       * Who that was.
       */
      continuedBy?: string;
      /**
       * When.
       */
      continuedAt?: string;
    }[];
    /**
     * Ready says whether slots are granted, and why not.
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
  };
}
