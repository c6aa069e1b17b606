/** Tokens of ServiceAccounts, and the kubeconfig of one that has one ClusterRole. */
import type { User } from '../../actors/user.ts';
import { type AnyObject, send } from '../../client/send.ts';

const DAY_S = 86_400;

/** Creates the ServiceAccount, binds it to a ClusterRole that exists, and returns a kubeconfig with a token for a day. */
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
  const token = await requestToken(admin, { namespace, name });
  const { url, ca } = admin.access;
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    contexts: [{ name, context: { cluster: name, user: name } }],
    clusters: [{ name, cluster: { server: url, 'certificate-authority-data': Buffer.from(ca).toString('base64') } }],
    users: [{ name, user: { token } }],
  });
}

/** A token for a day; for the API server itself where no audience is given. */
export async function requestToken(
  admin: User,
  { namespace, name }: { namespace: string; name: string },
  audience?: string,
): Promise<string> {
  const path = `/api/v1/namespaces/${namespace}/serviceaccounts/${name}/token`;
  const spec = { expirationSeconds: DAY_S, ...(audience && { audiences: [audience] }) };
  const { object } = await send(admin.access, 'POST', path, {
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec },
  });
  return object.status.token;
}
