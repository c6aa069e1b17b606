/**
 * The status that kustomize-controller writes for a sync, in its order: Ready=Unknown; then the final Ready; then, in a separate
 * write, the request to reconcile that it found at the beginning.
 */
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { AnyObject } from '../client/send.ts';
import { conditionAt, conditions } from './conditions.ts';
import { ref } from './objects.ts';
import type { User } from './user.ts';

export interface Ready {
  status: 'True' | 'False' | 'Unknown';
  reason: string;
  message: string;
}

export const notReady = (reason: string, message: string): Ready => ({ status: 'False', reason, message });

/** Writes that the sync has begun. Resolves to the Kustomization, or undefined if it doesn't exist. */
export async function beginSync(flux: User, owner: NamespacedName): Promise<AnyObject | undefined> {
  const begun = await flux.find(ref('kustomization', owner.namespace, owner.name));
  const progress = { status: 'Unknown', reason: 'Progressing', message: 'Reconciliation in progress' } as const;
  if (begun && !begun.spec.suspend) await writeReady(flux, begun, progress);
  return begun;
}

/** Writes the end of the sync. A suspended Kustomization keeps its conditions, but marks the request as handled. `inventory`: unchanged if absent. */
export async function endSync(
  flux: User,
  begun: AnyObject,
  ready: Ready,
  inventory?: readonly AnyObject[],
): Promise<void> {
  const { generation, annotations } = begun.metadata;
  if (!begun.spec.suspend) await writeReady(flux, begun, ready);
  await flux.patchStatus(ref('kustomization', begun.metadata.namespace, begun.metadata.name!), {
    lastHandledReconcileAt: annotations?.['reconcile.fluxcd.io/requestedAt'],
    ...(ready.status === 'True' && { observedGeneration: generation }),
    ...(inventory && { inventory: { entries: inventory.map(entryOf) } }),
  });
}

export function entryOf({ apiVersion, kind, metadata: { namespace, name } }: AnyObject) {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  return { id: `${namespace}_${name}_${group}_${kind}`, v: version };
}

async function writeReady(flux: User, begun: AnyObject, { status, reason, message }: Ready): Promise<void> {
  const { namespace, name = '', generation } = begun.metadata;
  const live = await flux.get(ref('kustomization', namespace, name));
  const ready = conditionAt(flux, 'Ready', generation, status, reason, message);
  await flux.patchStatus(ref('kustomization', namespace, name), { conditions: conditions(live, [ready]) });
}
