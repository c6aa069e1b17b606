/** What a closed Gate forbids on the Rollout that requires it (DESIGN section 7): to stop requiring it, and to go. */
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { Rollout } from '../../api/types.ts';

/** The Gates the Rollout itself names. */
export function ownGates({ metadata, spec }: Rollout): NamespacedName[] {
  return (spec?.gates ?? []).map(({ name, namespace }) => ({ namespace: namespace || metadata.namespace || '', name }));
}

/** The Gates that a write no longer requires. Requiring more is never a way around one. */
export function droppedGates(rollout: Rollout, before: Rollout): NamespacedName[] {
  const kept = new Set(ownGates(rollout).map(path));
  return ownGates(before).filter((ref) => !kept.has(path(ref)));
}

/** A deployment of the past cannot change: another id at the top is another deployment. */
export function addsDeployment({ status }: Rollout, { status: before }: Rollout): boolean {
  const [head] = status?.history ?? [];
  const [known] = before?.history ?? [];
  return head !== undefined && (!known || head.id !== known.id);
}

function path({ namespace, name }: NamespacedName): string {
  return `${namespace}/${name}`;
}
