/* Generated from manifests/crds/kuberik.com_healthchecks.yaml by dev/scripts/generate-types.ts. Do not edit. */

import type {ObjectMeta} from '../kubernetes.ts';

/**
 * Health that others report, or that is computed here for class kustomization.
 */
export interface HealthCheck {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  /**
   * Who reports the health.
   */
  spec?: {
    /**
     * kustomization is computed here; any other class is reported by a controller of its own.
     */
    class?: string;
  };
  /**
   * The health as it was last reported.
   */
  status?: {
    /**
     * Healthy, Unhealthy, Pending or empty.
     */
    status?: string;
    /**
     * Why.
     */
    message?: string;
    /**
     * The time of the last failure. It stays through a recovery so that a bake sees it.
     */
    lastErrorTime?: string;
    /**
     * Of class kustomization, while it is not Healthy: when it was, of what is deployed now. What has broken since is told by it.
     */
    lastHealthyTime?: string;
    /**
     * When the health last changed.
     */
    lastChangeTime?: string;
  };
}
