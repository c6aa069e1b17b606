/** What requires a Gate, open or closed: Flux objects by their bindings, and Rollouts. A closed Gate holds all of them. */
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { FluxBinding, Rollout } from '../../api/types.ts';
import { gateRefsOf } from './refs.ts';

/** `Kustomization apps/web`, sorted. */
export function requirersOf(gate: NamespacedName, bindings: FluxBinding[], rollouts: Rollout[]): string[] {
  const isNamed = (refs: readonly NamespacedName[]) =>
    refs.some(({ namespace, name }) => namespace === gate.namespace && name === gate.name);
  const objects = bindings
    .filter(({ spec }) => isNamed(spec?.gates ?? []))
    .map(({ spec, metadata }) => `${spec?.target.kind} ${metadata.namespace}/${spec?.target.name}`);
  const requiring = rollouts
    .filter((rollout) => isNamed(gateRefsOf(rollout)))
    .map(({ metadata }) => `Rollout ${metadata.namespace}/${metadata.name}`);
  return [...objects, ...requiring].sort();
}
