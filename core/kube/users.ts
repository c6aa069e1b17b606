/** Names of users. */

const SERVICE_ACCOUNT = 'system:serviceaccount:';

/** Whether the user is a ServiceAccount, such as that of a Git sync or a pipeline. */
export function isServiceAccount(user: string): boolean {
  return user.startsWith(SERVICE_ACCOUNT);
}

/** The ServiceAccount as `<namespace>/<name>`; undefined for any other user. */
export function serviceAccountOf(user: string): string | undefined {
  return isServiceAccount(user) ? user.slice(SERVICE_ACCOUNT.length).replace(':', '/') : undefined;
}

/**
 * The users of Kubernetes' own controllers that delete: a denial would leave owners or a Namespace behind forever.
 * The matchConditions of the webhooks list the same users, so that they may delete while the webhook is down.
 */
export const SYSTEM_DELETERS: ReadonlySet<string> = new Set([
  'system:serviceaccount:kube-system:generic-garbage-collector',
  'system:serviceaccount:kube-system:namespace-controller',
  'system:kube-controller-manager',
]);

export function isSystemDeleter(user: string): boolean {
  return SYSTEM_DELETERS.has(user);
}
