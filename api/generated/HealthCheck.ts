/* Generated from manifests/crds/kuberik.com_healthchecks.yaml by dev/scripts/generate-types.ts. Do not edit. */

import type {ObjectMeta} from '../kubernetes.ts';

/**
 * Health that others report, or that is computed here for class kustomization.
 */
export interface HealthCheck {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  spec?: {
    class?: string;
  };
  status?: {
    /**
     * Healthy, Unhealthy, Pending or empty.
     */
    status?: string;
    message?: string;
    lastErrorTime?: string;
    lastChangeTime?: string;
  };
}
