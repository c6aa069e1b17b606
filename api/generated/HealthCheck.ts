/* Generated from manifests/crds/kuberik.com_healthchecks.yaml by dev/scripts/generate-types.ts. Do not edit. */

import type {ObjectMeta} from '../kubernetes.ts';

/**
 * Health that others report, or that is computed here for the classes kustomization and job.
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
     * kustomization is computed here, and job where spec.job is set; any other class is reported by a controller of its own.
     */
    class?: string;
    /**
     * For class job, the Job that is run once for each deployment.
     */
    job?: {
      /**
       * The Job, as jobTemplate of a CronJob has it. It runs in this namespace, with the ServiceAccount that it names. At most 32 KiB as JSON.
       */
      template: {
        /**
         * Labels and annotations of the Job.
         */
        metadata?: {
          /**
           * Labels of the Job.
           */
          labels?: {
            [k: string]: string;
          };
          /**
           * Annotations of the Job.
           */
          annotations?: {
            [k: string]: string;
          };
        };
        /**
         * The spec of a Job of batch/v1, without selector, manualSelector, suspend and ttlSecondsAfterFinished.
         */
        spec: {};
      };
    };
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
    /**
     * Of class job, the Job that this health is from.
     */
    job?: {
      /**
       * Its namespace.
       */
      namespace: string;
      /**
       * Its name.
       */
      name: string;
    };
  };
}
