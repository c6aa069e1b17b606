/** The Gates that stand in the way of a Rollout's deployments: its own, and those of the objects bound to it. */
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { FluxBinding, Rollout } from '../../api/types.ts';
import { boundTo } from '../deployment/progress.ts';
import { gateRefsOf, TOO_MANY } from '../gate/refs.ts';
import { refKey } from '../kube/names.ts';
import { LIMITS } from '../limits.ts';

/** The Gates that the bound objects require. */
export function boundGates(rollout: Rollout, bindings: readonly FluxBinding[]): NamespacedName[] {
  const refs = boundTo(rollout, bindings).flatMap(({ spec }) => spec?.gates ?? []);
  return refs.map(({ namespace, name }) => ({ namespace, name }));
}

/** Both, each once. More than the limit are not judged one by one: they count as one closed Gate that says so. */
export function gatesToPass(rollout: Rollout, bindings: readonly FluxBinding[]): NamespacedName[] {
  const all = [...gateRefsOf(rollout), ...boundGates(rollout, bindings)];
  const byKey = new Map(all.map((ref) => [refKey(ref), ref]));
  if (byKey.size > LIMITS.requiredGates) return [TOO_MANY];
  return [...byKey.keys()].sort().map((key) => byKey.get(key)!);
}

/** The Gates that a write no longer requires. Requiring more is never a way around one. */
export function droppedGates(rollout: Rollout, before: Rollout): NamespacedName[] {
  const kept = new Set(gateRefsOf(rollout).map(refKey));
  return gateRefsOf(before).filter((ref) => !kept.has(refKey(ref)));
}

/** Whether a write of the status is a deployment. Past ones cannot change: another id at the top is another deployment. */
export function addsDeployment({ status }: Rollout, { status: before }: Rollout): boolean {
  const [head] = status?.history ?? [];
  const [known] = before?.history ?? [];
  return head !== undefined && (!known || head.id !== known.id);
}
