/** Installs rights, controllers and webhooks into the API server. Every step can be repeated. */
import { join } from 'node:path';
import type { Access } from '../../client/kubeconfig.ts';
import { pathOf } from '../../client/resources.ts';
import { type AnyObject, send } from '../../client/send.ts';
import { REPOSITORY } from '../../repository.ts';
import { applyAll, MANAGER } from './applyAll.ts';
import type { Installation } from './installation.ts';
import { readManifests } from './manifests.ts';
import { type LoopbackServer, useLoopback } from './references.ts';

/** Label of objects that point at this machine. */
const MANAGED_BY = { 'app.kubernetes.io/managed-by': MANAGER };

const ours = (folder: string) => readManifests(join(REPOSITORY, 'dev/local/install', folder));

/** Installs the rights of the control plane's users and of Flux. */
export async function installUsers(admin: Access): Promise<void> {
  const users = ours('users');
  await applyAll(
    admin,
    users.filter(({ kind }) => kind === 'Namespace'),
  );
  await applyAll(
    admin,
    users.filter(({ kind }) => kind !== 'Namespace'),
  );
}

/** Installs everything except kinds, controllers and webhooks, and creates the users. */
export async function installRights(admin: Access, { namespaces, rights, workloads }: Installation): Promise<void> {
  await applyAll(admin, namespaces);
  // No Deployments: their programs run as processes of this machine.
  const withoutPods = workloads.filter(({ kind }) => kind !== 'Deployment');
  await Promise.all([applyAll(admin, [...rights, ...withoutPods, ...ours('rights')]), installUsers(admin)]);
}

/** Installs webhook configurations with this machine's addresses. The hook server must be running. */
export async function installWebhooks(
  admin: Access,
  { webhooks }: Pick<Installation, 'webhooks'>,
  server: LoopbackServer,
): Promise<void> {
  const wanted = webhooks.map((object) => mark(useLoopback(object, server)));
  await applyAll(admin, wanted);
  await prune(admin, wanted, 'admissionregistration.k8s.io/v1', [
    'MutatingWebhookConfiguration',
    'ValidatingWebhookConfiguration',
  ]);
}

/** Installs Metacontroller's controllers with this machine's addresses, after the Secret with their token. */
export async function installControllers(
  admin: Access,
  { controllers }: Pick<Installation, 'controllers'>,
  { hooksToken, ...server }: LoopbackServer & { hooksToken: string },
): Promise<void> {
  await applyAll(admin, [tokenSecret(controllers, hooksToken)]);
  const wanted = controllers.map((object) => mark(useLoopback(object, server)));
  await applyAll(admin, wanted);
  await prune(admin, wanted, 'metacontroller.k8s.io/v1alpha1', ['CompositeController', 'DecoratorController']);
}

/** The Secret with the token of components/authenticated-hooks. */
function tokenSecret(controllers: AnyObject[], token: string): AnyObject {
  const [endpoint] = controllers.flatMap(({ spec }) => spec.endpointConfigs ?? []);
  const { name, namespace, key } = endpoint.authorization.secretRef;
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace }, stringData: { [key]: token } };
}

const mark = (object: AnyObject): AnyObject => ({
  ...object,
  metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...MANAGED_BY } },
});

/** Deletes objects of an earlier start that the manifests no longer have. */
async function prune(admin: Access, keep: AnyObject[], apiVersion: string, kinds: string[]): Promise<void> {
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
