/** An object by kind: group and resource come from the table of kinds. */
import { KINDS, type KindName } from '../../api/kinds.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { ObjectRef } from './application.ts';

export function objectRef(kind: KindName, { namespace, name }: NamespacedName): ObjectRef {
  const { group, resource } = KINDS[kind];
  return { group, kind, resource, namespace, name };
}

/** Undefined for a kind that is not in the table. */
export function targetRef(kind: string, ref: NamespacedName): ObjectRef | undefined {
  return Object.hasOwn(KINDS, kind) ? objectRef(kind as KindName, ref) : undefined;
}
