/** Puts into the API server what a cluster would have: rights, controllers, webhooks. Every step can be repeated. */
import { join } from 'node:path';
import type { Access } from '../../client/kubeconfig.ts';
import { pathOf } from '../../client/resources.ts';
import { type AnyObject, send } from '../../client/send.ts';
import { REPOSITORY } from '../../repository.ts';
import { applyAll, MANAGER } from './applyAll.ts';
import { componentObjects, withComponent } from './components.ts';
import { installHooksToken, withToken } from './hooksToken.ts';
import { readManifests } from './manifests.ts';
import { type LoopbackServer, useLoopback } from './references.ts';

/** Marks what points at this machine. */
export const MANAGED_BY = { 'app.kubernetes.io/managed-by': MANAGER };

const manifests = (folder: string) => readManifests(join(REPOSITORY, 'manifests', folder));
const COMPONENTS = ['release-config-map', 'release-copies'];
const componentRights = () => [...COMPONENTS.flatMap(componentObjects), ...ours('rights')];
const ours = (folder: string) => readManifests(join(REPOSITORY, 'dev/local/install', folder));

/** Namespaces, admission policies, the rights of the people, and those of Metacontroller and the hook server as manifests/rbac says. */
export async function installRights(admin: Access): Promise<void> {
  const users = ours('users');
  const namespaces = users.filter(({ kind }) => kind === 'Namespace');
  const rights = [...users.filter(({ kind }) => kind !== 'Namespace'), ...manifests('rbac')];
  await applyAll(admin, namespaces);
  await applyAll(admin, [...rights, ...standIns(rights), ...componentRights(), ...manifests('policies')]);
}

/** The two ServiceAccounts in somebody else's cluster, with the rights that manifests/rbac gives them and no others. */
export async function installServiceAccounts(admin: Access): Promise<void> {
  const namespaces = ['metacontroller', 'rollout-hooks'];
  await applyAll(
    admin,
    namespaces.map((name) => ({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })),
  );
  const accounts = namespaces.map((name) => ({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name, namespace: name },
  }));
  const rights = manifests('rbac').filter(({ kind }) => kind !== 'ServiceAccount');
  await applyAll(admin, [...accounts, ...rights, ...componentRights(), ...manifests('policies')]);
}

/** Cluster admin for those ServiceAccounts that no binding names. */
function standIns(rights: AnyObject[]): AnyObject[] {
  const bound = rights
    .filter(({ kind }) => kind === 'ClusterRoleBinding')
    .flatMap(({ subjects = [] }) => subjects.map((subject: AnyObject) => `${subject.namespace}/${subject.name}`));
  return ['metacontroller', 'rollout-hooks']
    .filter((name) => !bound.includes(`${name}/${name}`))
    .map((name) => ({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: `local-stand-in-${name}` },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ kind: 'ServiceAccount', name, namespace: name }],
    }));
}

/** Webhook configurations, with this machine's addresses. Call it when the hook server answers. */
export async function installWebhooks(admin: Access, server: LoopbackServer): Promise<void> {
  const wanted = manifests('webhooks').map((object) => mark(useLoopback(object, server)));
  await applyAll(admin, wanted);
  await prune(admin, 'admissionregistration.k8s.io/v1', WEBHOOK_KINDS, wanted);
}

/** Metacontroller's controllers, with this machine's addresses. */
export async function installControllers(admin: Access, server: LoopbackServer): Promise<void> {
  const { hooksToken } = server;
  if (hooksToken !== undefined) await installHooksToken(admin, hooksToken);
  const wanted = COMPONENTS.reduce((objects, each) => withComponent(each, objects), manifests('controllers'))
    .map((object) => (hooksToken === undefined ? object : withToken(object)))
    .map((object) => mark(useLoopback(object, server)));
  await applyAll(admin, wanted);
  await prune(admin, 'metacontroller.k8s.io/v1alpha1', CONTROLLER_KINDS, wanted);
}

/** Removes what an earlier start with hooks has left: nothing answers there now. */
export async function removeHooks(admin: Access): Promise<void> {
  await prune(admin, 'admissionregistration.k8s.io/v1', WEBHOOK_KINDS, []);
  await prune(admin, 'metacontroller.k8s.io/v1alpha1', CONTROLLER_KINDS, []);
}

export const WEBHOOK_KINDS = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'];
export const CONTROLLER_KINDS = ['CompositeController', 'DecoratorController'];

const mark = (object: AnyObject): AnyObject => ({
  ...object,
  metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...MANAGED_BY } },
});

/** Deletes objects of an earlier start that the manifests no longer have. */
async function prune(admin: Access, apiVersion: string, kinds: string[], keep: AnyObject[]): Promise<void> {
  for (const kind of kinds) {
    const path = await pathOf(admin, { apiVersion, kind, metadata: {} });
    const query = { labelSelector: `app.kubernetes.io/managed-by=${MANAGER}` };
    const { object: list } = await send<{ items: AnyObject[] }>(admin, 'GET', path, { query });
    for (const { metadata } of list.items) {
      const wanted = keep.some((object) => object.kind === kind && object.metadata.name === metadata.name);
      if (!wanted) await send(admin, 'DELETE', `${path}/${metadata.name}`);
    }
  }
}
