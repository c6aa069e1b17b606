/* Generated from manifests/crds/kuberik.com_clusterrolloutschedules.yaml by dev/scripts/generate-types.ts. Do not edit. */

import type {ObjectMeta} from '../kubernetes.ts';

/**
 * Calendar rules that open or close RolloutGates of Rollouts in the namespaces it selects.
 */
export interface ClusterRolloutSchedule {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec?: {
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
    action?: 'Allow' | 'Deny';
    /**
     * IANA time zone.
     */
    timezone?: string;
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
  status?: {
    observedGeneration?: number;
    active?: boolean;
    activeRules?: string[];
    nextTransition?: string;
    managedGates?: string[];
    matchingRollouts?: number;
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
