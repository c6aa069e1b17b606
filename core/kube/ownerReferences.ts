import type { KubeObject, OwnerReference } from '../../api/kubernetes.ts';

type Owned = Pick<KubeObject, 'metadata'>;

/**
 * Whether an object has a new owner reference. The garbage collector deletes an object whose owner is deleted or never
 * existed; it looks for the owner by group, kind and name as well as by uid. Without a reference nothing is deleted.
 */
export function gainsOwner({ metadata }: Owned, old: Owned): boolean {
  const known = new Set(old.metadata.ownerReferences?.map(ownerKey));
  return (metadata.ownerReferences ?? []).some((reference) => !known.has(ownerKey(reference)));
}

/** Whether the object of this uid controls the object, which may be another one of the expected name. */
export function isControlledBy({ metadata }: Owned, uid: string | undefined): boolean {
  return (metadata.ownerReferences ?? []).some((owner) => owner.controller === true && owner.uid === uid);
}

/**
 * Identifies an owner. `controller` and `blockOwnerDeletion` don't count: neither deletes the object, and the garbage
 * collector changes the second.
 */
function ownerKey({ apiVersion, kind, name, uid }: OwnerReference): string {
  return JSON.stringify([apiVersion, kind, name, uid]);
}
