/** What an explanation is made from: the objects, as far as the reader may read them. */
import type { KindName } from '../../api/kinds.ts';
import type { NamespacedName } from '../../api/kubernetes.ts';
import type { FluxBinding, Gate, HealthCheck, Rollout, RolloutGate } from '../../api/types.ts';

/** A kind that could not be read in a namespace. */
export interface Unread {
  kind: KindName;
  /** Absent: in none. */
  namespace?: string;
  /** `forbidden`, `not installed`, or what the API server said. */
  why: string;
}

/** Objects of other Rollouts are ignored: whoever has read whole namespaces passes them as they are. */
export interface Surroundings {
  gates: readonly Gate[];
  rolloutGates: readonly RolloutGate[];
  bindings: readonly FluxBinding[];
  healthChecks: readonly HealthCheck[];
  /** Rollouts that may be stages. */
  rollouts: readonly Rollout[];
  unread: readonly Unread[];
}

export const NO_SURROUNDINGS: Surroundings = {
  gates: [],
  rolloutGates: [],
  bindings: [],
  healthChecks: [],
  rollouts: [],
  unread: [],
};

/** Why objects of that kind are not among the surroundings; undefined where they were read. */
export function unreadBecause({ unread }: Surroundings, kind: KindName, namespace: string): string | undefined {
  return unread.find((each) => each.kind === kind && (each.namespace ?? namespace) === namespace)?.why;
}

/** `RolloutGates in apps: forbidden`. */
export function unreadText({ kind, namespace, why }: Unread): string {
  return `${kind}s${namespace ? ` in ${namespace}` : ''}: ${why}`;
}

/** Finds an object by namespace and name. */
export function finder<T extends { metadata: { namespace?: string; name?: string } }>(
  objects: readonly T[],
): (ref: NamespacedName) => T | undefined {
  const byKey = new Map(objects.map((each) => [`${each.metadata.namespace ?? ''}/${each.metadata.name}`, each]));
  return ({ namespace, name }) => byKey.get(`${namespace}/${name}`);
}
