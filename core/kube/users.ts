/** Names of users. */

const SERVICE_ACCOUNT = 'system:serviceaccount:';

/** Whether the user is a ServiceAccount, perhaps of a Git sync, which a denial would stop. */
export function isServiceAccount(user: string): boolean {
  return user.startsWith(SERVICE_ACCOUNT);
}

/** The ServiceAccount as `<namespace>/<name>`; undefined if the user is none. */
export function serviceAccountOf(user: string): string | undefined {
  return isServiceAccount(user) ? user.slice(SERVICE_ACCOUNT.length).replace(':', '/') : undefined;
}
