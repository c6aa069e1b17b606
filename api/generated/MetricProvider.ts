/* Generated from manifests/crds/kuberik.com_metricproviders.yaml by dev/scripts/generate-types.ts. Do not edit. */

import type {ObjectMeta} from '../kubernetes.ts';

/**
 * A Prometheus that HealthChecks of the selected namespaces may query.
 */
export interface MetricProvider {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
  /**
   * The server to query, the Secrets for it, and the namespaces that may use it.
   */
  spec: {
    /**
     * The URL of the Prometheus HTTP API without /api/v1, such as https://prometheus.monitoring:9090. Redirects are not followed.
     */
    address: string;
    /**
     * A Secret in the namespace rollout-hooks with the key token (sent as a bearer token), or with username and password. Needs https.
     */
    secretRef?: {
      /**
       * The name of the Secret.
       */
      name: string;
    };
    /**
     * A Secret in the namespace rollout-hooks with the server's own certificate authority (ca.crt), a client certificate (tls.crt and tls.key), or both.
     */
    certSecretRef?: {
      /**
       * The name of the Secret.
       */
      name: string;
    };
    /**
     * Selects the namespaces whose HealthChecks may query it, by labels of the Namespace that tenants can't set. Empty: all. A user who may write a HealthCheck there can read every number that the credentials can read.
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
         * How the label's value is compared.
         */
        operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist';
        /**
         * The values, for In and NotIn.
         */
        values?: string[];
      }[];
    };
  };
}
