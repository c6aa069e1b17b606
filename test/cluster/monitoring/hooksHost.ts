import type { AnyObject, ClusterView } from '../support/cluster.ts';

/** `127.0.0.1:port`: where Metacontroller reaches the hooks, which serve `/metrics` too. */
export async function hooksHost(admin: ClusterView['admin']): Promise<string> {
  const controller = await admin.get<AnyObject>({
    apiVersion: 'metacontroller.k8s.io/v1alpha1',
    kind: 'CompositeController',
    metadata: { name: 'rollouts' },
  });
  return new URL(controller.spec.hooks.sync.webhook.url).host;
}
