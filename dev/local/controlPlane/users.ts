/** Users of the local control plane, with a token each. Their rights are in dev/local/install/users/*.yaml. */
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import type { Access } from '../../client/kubeconfig.ts';

interface LocalUser {
  /** Name of the kubeconfig in DIR. */
  file: string;
  /** User name in the API server. */
  userName: string;
  groups: string[];
}

const serviceAccount = (namespace: string, name: string): Pick<LocalUser, 'userName' | 'groups'> => ({
  userName: `system:serviceaccount:${namespace}:${name}`,
  groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
});

export const USERS = {
  /** Cluster admin. */
  admin: { file: 'kubeconfig', userName: 'admin', groups: ['system:masters'] },
  /** An application team. */
  developer: { file: 'developer.kubeconfig', userName: 'developer', groups: [] },
  /** A user who manages Gates and may bypass them. */
  sre: { file: 'sre.kubeconfig', userName: 'sre', groups: [] },
  /** A client that reports health: docs/healthchecks.md. */
  reporter: { file: 'reporter.kubeconfig', userName: 'reporter', groups: [] },
  metacontroller: { file: 'metacontroller.kubeconfig', ...serviceAccount('metacontroller', 'metacontroller') },
  hooks: { file: 'hooks.kubeconfig', ...serviceAccount('rollout-hooks', 'rollout-hooks') },
  flux: { file: 'flux.kubeconfig', ...serviceAccount('flux-system', 'kustomize-controller') },
  controllerManager: {
    file: 'kube-controller-manager.kubeconfig',
    userName: 'system:kube-controller-manager',
    groups: [],
  },
} as const satisfies Record<string, LocalUser>;

export type UserName = keyof typeof USERS;
export type Tokens = Record<UserName, string>;

export function createTokens(): Tokens {
  const names = Object.keys(USERS) as UserName[];
  return Object.fromEntries(names.map((name) => [name, randomBytes(24).toString('hex')])) as Tokens;
}

/** Lines `token,user,uid,"group,group"`, as --token-auth-file expects them. */
export function tokenFile(tokens: Tokens): string {
  return Object.entries(USERS)
    .map(([name, user]) => {
      const groups = user.groups.length > 0 ? `,"${user.groups.join(',')}"` : '';
      return `${tokens[name as UserName]},${user.userName},${name}${groups}\n`;
    })
    .join('');
}

export function kubeconfigOf(user: string, access: Access): string {
  const name = 'rollout-hooks';
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [
      {
        name,
        cluster: { server: access.url, 'certificate-authority-data': Buffer.from(access.ca).toString('base64') },
      },
    ],
    users: [{ name: user, user: { token: access.token } }],
    contexts: [{ name, context: { cluster: name, user } }],
  });
}

/** Writes each user's kubeconfig to DIR, readable by the owner alone. */
export function writeKubeconfigs(dir: string, url: string, ca: string, tokens: Tokens): void {
  for (const [name, { file }] of Object.entries(USERS)) {
    const user = name as UserName;
    writeFileSync(join(dir, file), kubeconfigOf(user, { url, ca, token: tokens[user] }), { mode: 0o600 });
  }
}
