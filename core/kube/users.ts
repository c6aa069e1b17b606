/** Names of users. */

const SERVICE_ACCOUNT = 'system:serviceaccount:';

/** Whether the user is a ServiceAccount, such as that of a Git sync or a pipeline. */
export function isServiceAccount(user: string): boolean {
  return user.startsWith(SERVICE_ACCOUNT);
}

/** The ServiceAccount as `<namespace>/<name>`; undefined if the user is none. */
export function serviceAccountOf(user: string): string | undefined {
  return isServiceAccount(user) ? user.slice(SERVICE_ACCOUNT.length).replace(':', '/') : undefined;
}
