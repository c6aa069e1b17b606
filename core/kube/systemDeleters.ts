/**
 * Who may always delete: a denial would leave owners or a Namespace behind for ever. The conditions of the webhooks have the
 * same users, so that it is so while the webhook is down.
 */
export const CLEANERS: ReadonlySet<string> = new Set([
  'system:serviceaccount:kube-system:generic-garbage-collector',
  'system:serviceaccount:kube-system:namespace-controller',
  'system:kube-controller-manager',
]);

export function isCleaner(user: string): boolean {
  return CLEANERS.has(user);
}
