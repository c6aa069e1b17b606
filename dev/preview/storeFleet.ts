/** Stores a made-up fleet in a cluster without hooks, where statuses stay as written. */
import type { Access } from '../client/kubeconfig.ts';
import { applyObject, pathOf } from '../client/resources.ts';
import { type AnyObject, send } from '../client/send.ts';
import { type FleetObject, NAMESPACES } from './fleet.ts';

const PARALLEL_WRITES = 24;

export async function storeFleet(admin: Access, objects: readonly FleetObject[]): Promise<void> {
  for (const name of NAMESPACES) {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
    await applyObject(admin, namespace, { manager: 'fleet' });
  }
  const queue = objects.values();
  const store = async () => {
    for (const each of queue) await storeOne(admin, each);
  };
  await Promise.all(Array.from({ length: PARALLEL_WRITES }, store));
}

async function storeOne(admin: Access, { object, status }: FleetObject): Promise<void> {
  const { apiVersion, kind, metadata } = object;
  const collection = await pathOf(admin, { apiVersion, kind, metadata: { namespace: metadata.namespace } });
  await send(admin, 'POST', collection, { body: object });
  if (status) await patchStatus(admin, object, kind === 'Rollout' ? { ...status, revision: 1 } : status);
}

export async function patchStatus(
  admin: Access,
  { apiVersion, kind, metadata }: AnyObject,
  status: object,
): Promise<void> {
  const { namespace, name } = metadata;
  const path = await pathOf(admin, { apiVersion, kind, metadata: { namespace, name } }, 'status');
  await send(admin, 'PATCH', path, { body: { status }, contentType: 'application/merge-patch+json' });
}
