/* Generated from manifests/crds/kuberik.com_rolloutschedules.yaml by dev/scripts/generate-types.ts. Do not edit. */

import type {ObjectMeta} from '../kubernetes.ts';

/**
 * Opens and closes a RolloutGate, by a calendar, for each Rollout of its namespace that it selects.
 */
export interface RolloutSchedule {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  /**
   * Which Rollouts the schedule applies to, and when.
   */
  spec?: {
    /**
     * Selects Rollouts by their labels. Empty: all. Each gets a RolloutGate.
     */
    rolloutSelector: {
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
         * In, NotIn, Exists or DoesNotExist.
         */
        operator: string;
        /**
         * The values, for In and NotIn.
         */
        values?: string[];
      }[];
    };
    /**
     * Allow: the RolloutGates pass only while a rule is active. Deny: they pass only while none is.
     */
    action?: 'Allow' | 'Deny';
    /**
     * An IANA name, such as Europe/Berlin. Offsets are rejected: they have no daylight saving time.
     */
    timezone?: string;
    /**
     * The calendar, of 1 to 64 rules; the schedule is active while any of them is: docs/schedules.md#rules.
     */
    rules: {
      /**
       * A name for readers, and for status.activeRules.
       */
      name?: string;
      /**
       * A window of the day; all day when absent.
       */
      timeRange?: {
        /**
         * When the window begins, HH:MM.
         */
        start: string;
        /**
         * When the window ends, HH:MM. At or before the start: on the next day.
         */
        end: string;
      };
      /**
       * Days on which the window starts; every day when absent.
       */
      daysOfWeek?: ('Monday' | 'Tuesday' | 'Wednesday' | 'Thursday' | 'Friday' | 'Saturday' | 'Sunday')[];
      /**
       * Days outside which the rule is never active; always when absent.
       */
      dateRange?: {
        /**
         * The first day, YYYY-MM-DD.
         */
        start: string;
        /**
         * The last day, included.
         */
        end: string;
      };
    }[];
  };
  /**
   * The current state of the schedule.
   */
  status?: {
    /**
     * The generation of the spec that this status was computed from.
     */
    observedGeneration?: number;
    /**
     * True while a rule is active, else absent.
     */
    active?: boolean;
    /**
     * Names of the rules that are active now.
     */
    activeRules?: string[];
    /**
     * When active next changes; absent when it never does.
     */
    nextTransition?: string;
    /**
     * The RolloutGates of this schedule; namespace/name for a ClusterRolloutSchedule.
     */
    managedGates?: string[];
    /**
     * Number of Rollouts that the schedule matches.
     */
    matchingRollouts?: number;
    /**
     * Ready is True if the schedule could be evaluated.
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
