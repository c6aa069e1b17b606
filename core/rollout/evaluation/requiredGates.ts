/**
 * The Gates that stand in the way of a Rollout's deployments: those that it requires itself, which it names in `spec.gates` or
 * which select it, and those of the objects bound to it.
 */

import type { NamespacedName } from '../../../api/kubernetes.ts';
import type { FluxBinding, Gate, Rollout } from '../../../api/types.ts';
import { gateRefsOf, gatesOf, TOO_MANY } from '../../gate/gateRefs.ts';
import { gateSelectsRollout } from '../../gate/gateSelection.ts';
import { sameJson } from '../../kube/json.ts';
import { identityOf, refKey } from '../../kube/names.ts';
import { LIMITS } from '../../limits.ts';
import { boundTo } from '../deployment/progress.ts';

/** What may select the Rollouts of one namespace, as read for it. */
export interface Selectors {
  /** Gates that do not select are ignored. */
  gates: readonly Gate[];
  /** Labels of the Rollout's Namespace. */
  namespaceLabels: Readonly<Record<string, string>>;
  /** There are more Gates than one list may bring: they count as closed. */
  truncated?: boolean;
}

/** Those that it names first. */
function ownGates(rollout: Rollout, { gates, namespaceLabels }: Selectors): NamespacedName[] {
  const selecting = gates.filter((gate) => gateSelectsRollout(gate, rollout, namespaceLabels));
  return [...gateRefsOf(rollout), ...selecting.map(identityOf)];
}

/** The Gates that the bound objects require. */
export function boundGates(rollout: Rollout, bindings: readonly FluxBinding[]): NamespacedName[] {
  return boundTo(rollout, bindings).flatMap(({ spec }) => gatesOf(spec));
}

/** All of them, each once. More than the limit are not evaluated one by one: they count as one closed Gate that says so. */
export function gatesToPass(
  rollout: Rollout,
  bindings: readonly FluxBinding[],
  selectors: Selectors,
): NamespacedName[] {
  const all = [...ownGates(rollout, selectors), ...boundGates(rollout, bindings)];
  const byKey = new Map(all.map((ref) => [refKey(ref), ref]));
  if (selectors.truncated || byKey.size > LIMITS.requiredGates) return [TOO_MANY];
  return [...byKey.keys()].sort().map((key) => byKey.get(key)!);
}

/** Whether a write can make the Rollout require fewer Gates: without reading any. */
export function mayDropGates(rollout: Rollout, before: Rollout): boolean {
  const kept = new Set(gateRefsOf(rollout).map(refKey));
  return !sameLabels(rollout, before) || gateRefsOf(before).some((ref) => !kept.has(refKey(ref)));
}

/** The Gates that a write no longer requires: it names them no longer, or leaves their selection. Requiring more is never a way around one. */
export function droppedGates(rollout: Rollout, before: Rollout, selectors: Selectors): NamespacedName[] {
  const kept = new Set(ownGates(rollout, selectors).map(refKey));
  const dropped = ownGates(before, selectors).filter((ref) => !kept.has(refKey(ref)));
  return selectors.truncated && !sameLabels(rollout, before) ? [...dropped, TOO_MANY] : dropped;
}

function sameLabels(rollout: Rollout, before: Rollout): boolean {
  return sameJson(rollout.metadata.labels ?? {}, before.metadata.labels ?? {});
}

/** Whether a write of the status is a deployment. Past ones cannot change: another id at the top is another deployment. */
export function addsDeployment({ status }: Rollout, { status: before }: Rollout): boolean {
  const [head] = status?.history ?? [];
  const [known] = before?.history ?? [];
  return head !== undefined && (!known || head.id !== known.id);
}
