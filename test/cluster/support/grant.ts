/** Rights in one namespace. */
import type { ClusterView } from './cluster.ts';

/**
 * Gives a ClusterRole, or a Role with these rules, to users.
 * @param to names of users, and ServiceAccounts as `namespace/name`
 */
export async function grant(
  admin: ClusterView['admin'],
  namespace: string,
  role: string,
  to: readonly string[],
  rules?: object[],
): Promise<void> {
  const apiGroup = 'rbac.authorization.k8s.io';
  const of = { apiVersion: `${apiGroup}/v1`, metadata: { namespace, name: role } };
  if (rules) await admin.create({ ...of, kind: 'Role', rules });
  const subjects = to.map((each) => {
    const [home, name] = each.split('/');
    return name === undefined
      ? { apiGroup, kind: 'User', name: each }
      : { kind: 'ServiceAccount', namespace: home, name };
  });
  const roleRef = { apiGroup, kind: rules ? 'Role' : 'ClusterRole', name: role };
  await admin.create({ ...of, kind: 'RoleBinding', roleRef, subjects });
}
