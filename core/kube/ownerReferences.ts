import type { KubeObject } from '../../api/kubernetes.ts';

type Owned = Pick<KubeObject, 'metadata'>;

/** With an owner that is deleted, or never existed, the garbage collector deletes the object. Losing one deletes nothing. */
export function gainsOwner({ metadata }: Owned, before: Owned): boolean {
  const known = new Set((before.metadata.ownerReferences ?? []).map(({ uid }) => uid));
  return (metadata.ownerReferences ?? []).some(({ uid }) => !known.has(uid));
}
