/** A user's connection to a cluster. */
import type { KubeClient } from './kubeClient.ts';
import type { Selected } from './kubeconfig.ts';

export interface Cluster {
  client: KubeClient;
  selected: Selected;
  /** The namespace of --namespace, or the context's. */
  namespace: string;
}
