/** A person's connection to a cluster. */
import type { KubeClient } from './kubeClient.ts';
import type { Selected } from './kubeconfig.ts';

export interface Cluster {
  client: KubeClient;
  selected: Selected;
  /** The chosen namespace, or the context's. */
  namespace: string;
}
