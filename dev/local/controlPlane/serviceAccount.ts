/** Tokens and kubeconfigs of ServiceAccounts. */
import type { User } from '../../actors/user.ts';
import type { Access } from '../../client/kubeconfig.ts';
import { type AnyObject, send } from '../../client/send.ts';
import { kubeconfigOf } from './users.ts';

/** The requested lifetime, since `npm run up` may run for days. The API server may shorten it. */
const MONTH_S = 30 * 86_400;

/** Creates the ServiceAccount, binds it to a ClusterRole that exists, and returns a kubeconfig with a token. */
export async function serviceAccountKubeconfig(
  admin: User,
  { namespace, name }: { namespace: string; name: string },
  clusterRole: string,
): Promise<string> {
  await admin.create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name } });
  await admin.create({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    metadata: { name: `${namespace}-${name}` },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: clusterRole },
    subjects: [{ kind: 'ServiceAccount', namespace, name }],
  } as AnyObject);
  const { url, ca } = admin.access;
  return kubeconfigOf(name, { url, ca, token: await requestToken(admin, { namespace, name }) });
}

/** A token of the ServiceAccount; without an audience it is for the API server itself. */
export async function requestToken(
  { access }: { access: Access },
  { namespace, name }: { namespace: string; name: string },
  audience?: string,
): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const spec = { expirationSeconds: MONTH_S, ...(audience && { audiences: [audience] }) };
  const { object } = await send(access, 'POST', path, {
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec },
  });
  return object.status.token;
}
