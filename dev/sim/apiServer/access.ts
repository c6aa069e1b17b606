/** RBAC, with the features that the manifests of the installation and of the local users need. */
import { join } from 'node:path';
import type { UserInfo } from '../../../api/admission.ts';
import type { AnyObject } from '../../client/send.ts';
import { USERS, type UserName } from '../../local/controlPlane/users.ts';
import { readManifests } from '../../local/install/manifests.ts';
import { REPOSITORY } from '../../repository.ts';

export interface Attributes {
  verb: string;
  group: string;
  /** `rollouts`, or `rollouts/status` for a subresource. */
  resource: string;
}

interface PolicyRule {
  apiGroups?: string[];
  resources?: string[];
  verbs: string[];
}

const COLLECTOR = 'system:serviceaccount:kube-system:generic-garbage-collector';
/** Groups that may do everything. */
const UNRESTRICTED = ['system:masters'];

export function userOf(name: UserName | 'collector'): UserInfo {
  if (name === 'collector') return { username: COLLECTOR, groups: ['system:masters'] };
  const { userName, groups } = USERS[name];
  return { username: userName, groups: [...groups, 'system:authenticated'] };
}

const manifests = ['manifests/rbac', 'dev/local/install/users', 'dev/local/install/rights'].flatMap((folder) =>
  readManifests(join(REPOSITORY, folder)),
);
const rolesOf = new Map<string, PolicyRule[]>();

export function may({ username, groups = [] }: UserInfo, { verb, group, resource }: Attributes): boolean {
  if (groups.some((each) => UNRESTRICTED.includes(each))) return true;
  const rules = rolesOf.get(username) ?? rulesFor(username);
  rolesOf.set(username, rules);
  const has = (list: string[] | undefined, value: string) => list?.includes('*') || list?.includes(value);
  const subresource = resource.includes('/') ? `*/${resource.split('/')[1]}` : resource;
  return rules.some(
    (rule) =>
      has(rule.verbs, verb) &&
      has(rule.apiGroups, group) &&
      (has(rule.resources, resource) || has(rule.resources, subresource)),
  );
}

function rulesFor(username: string): PolicyRule[] {
  const isUser = ({ kind, name, namespace }: AnyObject) =>
    kind === 'ServiceAccount' ? username === `system:serviceaccount:${namespace}:${name}` : name === username;
  const roles = manifests
    .filter(({ kind, subjects }) => kind === 'ClusterRoleBinding' && subjects.some(isUser))
    .map(({ roleRef }) => roleRef.name);
  if (roles.includes('cluster-admin')) return [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
  return roles.flatMap((role) => rulesOfRole(role));
}

function rulesOfRole(name: string): PolicyRule[] {
  const role = manifests.find(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === name);
  const selectors: AnyObject[] = role?.aggregationRule?.clusterRoleSelectors ?? [];
  const aggregated = manifests.filter(
    ({ kind, metadata }) =>
      kind === 'ClusterRole' &&
      selectors.some(({ matchLabels = {} }) =>
        Object.entries(matchLabels).every(([key, value]) => metadata.labels?.[key] === value),
      ),
  );
  return [...(role?.rules ?? []), ...aggregated.flatMap(({ rules = [] }) => rules)];
}
