import type { KubeObject, OwnerReference } from '../../api/kubernetes.ts';

type Owned = Pick<KubeObject, 'metadata'>;

/**
 * Whether an object has an owner reference that it did not have before.
 * The garbage collector deletes an object whose owner is deleted or never existed; it looks for the owner by group,
 * kind and name as well as by uid. Losing a reference deletes nothing.
 */
export function gainsOwner({ metadata }: Owned, before: Owned): boolean {
  const known = new Set(before.metadata.ownerReferences?.map(ownerKey));
  return (metadata.ownerReferences ?? []).some((reference) => !known.has(ownerKey(reference)));
}

/**
 * Without `controller` and `blockOwnerDeletion`, which say nothing of the object's own deletion; the garbage collector
 * changes the latter.
 */
function ownerKey({ apiVersion, kind, name, uid }: OwnerReference): string {
  return JSON.stringify([apiVersion, kind, name, uid]);
}
