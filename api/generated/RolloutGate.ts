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
  };
  /**
   * Not used here.
   */
  status?: {};
}
