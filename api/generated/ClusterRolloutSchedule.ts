/* Generated from manifests/crds/kuberik.com_clusterrolloutschedules.yaml by dev/scripts/generate-types.ts. Do not edit. */

import type {ObjectMeta} from '../kubernetes.ts';

/**
 * Calendar rules that open or close RolloutGates of Rollouts in the namespaces it selects.
 */
export interface ClusterRolloutSchedule {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  /**
   * Which Rollouts the schedule applies to, and when.
   */
  spec?: {
    /**
     * Which Rollouts get a RolloutGate of this schedule, by their labels and by those of their namespace. Without namespaceSelector, those of all namespaces.
     */
    rolloutSelector: {
      matchLabels?: {
        [k: string]: string;
      };
      matchExpressions?: {
        key: string;
        operator: string;
        values?: string[];
      }[];
    };
    /**
     * Which Rollouts get a RolloutGate of this schedule, by their labels and by those of their namespace. Without namespaceSelector, those of all namespaces.
     */
    namespaceSelector?: {
      matchLabels?: {
        [k: string]: string;
      };
      matchExpressions?: {
        key: string;
        operator: string;
        values?: string[];
      }[];
    };
    /**
     * What an active rule does: Allow lets versions be deployed only then, Deny holds them.
     */
    action?: 'Allow' | 'Deny';
    /**
     * IANA time zone.
     */
    timezone?: string;
    /**
     * The calendar. The schedule is active while any of its rules is.
     */
    rules: {
      name?: string;
      timeRange?: {
        start: string;
        end: string;
      };
      daysOfWeek?: ('Monday' | 'Tuesday' | 'Wednesday' | 'Thursday' | 'Friday' | 'Saturday' | 'Sunday')[];
      dateRange?: {
        start: string;
        end: string;
      };
    }[];
  };
  /**
   * What the schedule says now.
   */
  status?: {
    /**
     * The generation of the spec that this status is about.
     */
    observedGeneration?: number;
    /**
     * Whether a rule is active now.
     */
    active?: boolean;
    /**
     * Names of the rules that are active now.
     */
    activeRules?: string[];
    /**
     * When this next changes.
     */
    nextTransition?: string;
    /**
     * The RolloutGates of this schedule.
     */
    managedGates?: string[];
    /**
     * How many Rollouts the schedule matches.
     */
    matchingRollouts?: number;
    /**
     * Ready says whether the schedule could be evaluated.
     */
    conditions?: {
      lastTransitionTime: string;
      message: string;
      observedGeneration?: number;
      reason: string;
      status: 'True' | 'False' | 'Unknown';
      type: string;
    }[];
  };
}
