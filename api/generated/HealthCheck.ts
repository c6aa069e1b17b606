/* Generated from manifests/crds/kuberik.com_healthchecks.yaml by dev/scripts/generate-types.ts. Do not edit. */

import type {ObjectMeta} from '../kubernetes.ts';

/**
 * Health that your own controller, monitor or script reports, or that the hooks compute (class kustomization, job or prometheus).
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
     * The source of the health. The hooks compute class kustomization, class job with spec.job, and class prometheus with spec.prometheus. Any other class, or none: you report the health.
     */
    class?: string;
    /**
     * For class job, the Job that runs once for each deployment: docs/healthchecks.md#class-job.
     */
    job?: {
      /**
       * The Job, in the form of a CronJob's jobTemplate. It runs in this namespace, with its own ServiceAccount. At most 32 KiB as JSON.
       */
      template: {
        /**
         * Labels and annotations of the Job; the hooks set name and namespace.
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
    /**
     * For class prometheus, the query and the range that its value must be in: docs/healthchecks.md#class-prometheus.
     */
    prometheus?: {
      /**
       * The MetricProvider that answers the query. The platform team decides which namespaces may use it.
       */
      provider: string;
      /**
       * PromQL that returns a scalar or an instant vector. Inside a quoted string, {{ namespace }}, {{ name }}, {{ version }} and {{ previousVersion }} stand for those of the one Rollout that watches this HealthCheck.
       */
      query: string;
      /**
       * The range of healthy values, including its bounds. With several series, each must be inside.
       */
      thresholdRange: {
        /**
         * The least healthy value.
         */
        min?: number;
        /**
         * The greatest healthy value.
         */
        max?: number;
      };
      /**
       * The time between two measurements, such as 1m. Less than 10s counts as 10s.
       */
      interval?: string;
      /**
       * After this many measurements outside the range in a row the health is Unhealthy; before that it is Pending.
       */
      failureLimit?: number;
      /**
       * What a result without a series means. Pending: the health is unknown. Healthy: the same as a value inside the range. Unhealthy: the same as a value outside, which counts towards failureLimit.
       */
      onEmpty?: 'Pending' | 'Healthy' | 'Unhealthy';
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
     * The cause. Reporters should set it: conditions and the history contain it.
     */
    message?: string;
    /**
     * The time of the last error. A new one fails the deployment, regardless of status. Reporters should set it with each error, and keep it after a recovery.
     */
    lastErrorTime?: string;
    /**
     * When the health of the current deployment was last Healthy. Only the classes that the hooks compute set it, while they are not Healthy.
     */
    lastHealthyTime?: string;
    /**
     * When status became Healthy, before lastHealthyTime.
     */
    healthySince?: string;
    /**
     * For class kustomization, the Kustomizations and HelmReleases at which Flux's last attempt has failed. Another failed attempt makes the HealthCheck Unhealthy.
     */
    failedAttempts?: {
      /**
       * The object, as kind and namespace/name.
       */
      object: string;
      /**
       * The end of the first failed attempt since Flux last applied it.
       */
      first: string;
    }[];
    /**
     * The time since which all objects of a Kustomization are healthy, if only Flux's work, such as applying a new commit, interrupted that.
     */
    steadySince?: string;
    /**
     * When status last changed. Reporters should set it: a bake needs the status Healthy, reported since the version was applied.
     */
    lastChangeTime?: string;
    /**
     * For class job, the Job that determined this health.
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
    /**
     * For class prometheus, the measurements since the last reset.
     */
    prometheus?: {
      /**
       * The current number of measurements outside the range in a row.
       */
      failures?: number;
      /**
       * The newest measurements, the newest first.
       */
      measurements?: {
        /**
         * When the query was sent.
         */
        time: string;
        /**
         * Whether the value was inside the range. Unknown: no answer, or NaN.
         */
        result: 'InRange' | 'OutOfRange' | 'Empty' | 'Unknown';
        /**
         * The value, to six digits. Of several series, the first that is outside the range, else the first.
         */
        value?: string;
        /**
         * The number of series, where there are several.
         */
        series?: number;
      }[];
    };
  };
}
