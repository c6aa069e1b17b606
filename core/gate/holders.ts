/** What a Gate holds: Flux objects by their bindings, and Rollouts. */
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { FluxBinding, Rollout } from '../../api/types.ts';

/** `Kustomization apps/web`, sorted. */
export function holdersOf(gate: NamespacedName, bindings: FluxBinding[], rollouts: Rollout[]): string[] {
  const names = (ref: { name: string; namespace?: string }, namespace: string | undefined) =>
    ref.name === gate.name && (ref.namespace ?? namespace) === gate.namespace;
  const objects = bindings
    .filter(({ spec, metadata }) => spec?.gates?.some((ref) => names(ref, metadata.namespace)))
    .map(({ spec, metadata }) => `${spec?.target.kind} ${metadata.namespace}/${spec?.target.name}`);
  const held = rollouts
    .filter(({ spec, metadata }) => spec?.gates?.some((ref) => names(ref, metadata.namespace)))
    .map(({ metadata }) => `Rollout ${metadata.namespace}/${metadata.name}`);
  return [...objects, ...held].sort();
}
