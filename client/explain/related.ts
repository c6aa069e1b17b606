/** The objects that an explanation depends on, if the user may read them. */
import type { FluxObject } from '../../api/flux.ts';
import { BOUND_KINDS, KINDS, type KindName } from '../../api/kinds.ts';
import type { KubeObject, NamespacedName } from '../../api/kubernetes.ts';
import type { FluxBinding, Gate, HealthCheck, Rollout, RolloutGate } from '../../api/types.ts';
import { memoize, memoizeByObject } from '../../core/collection/memo.ts';
import { type RequiredGates, requiredByBinding, requiredIn, unionOfRequired } from '../../core/gate/closedGates.ts';
import { ANY_REF, gatesNamedBy } from '../../core/gate/gateRefs.ts';
import { byRefKey, refKey } from '../../core/kube/names.ts';
import { pluralOf } from '../../core/text/count.ts';

/** Why a kind could not be read. */
export const UNREAD = {
  forbidden: "you aren't allowed to read this kind",
  absent: 'the cluster does not have this kind',
} as const;

/** A kind that could not be read in a namespace. */
export interface Unread {
  kind: KindName | 'Namespace' | 'Event';
  /** The namespace; absent: all. */
  namespace?: string;
  /** A clause, such as those of `UNREAD`. */
  why: string;
}

/** The related objects of a Rollout. Objects of other Rollouts are ignored, so whole namespaces may be passed. */
export interface RelatedObjects {
  gates: readonly Gate[];
  rolloutGates: readonly RolloutGate[];
  bindings: readonly FluxBinding[];
  healthChecks: readonly HealthCheck[];
  /** The bound Flux objects, whose status shows whether they have failed. */
  objects: readonly FluxObject[];
  /** Rollouts that may be upstream. */
  rollouts: readonly Rollout[];
  /**
   * The Namespaces, if a Rollout watches HealthChecks of other namespaces (selected by the Namespaces' labels, and
   * watched with consent in their annotations); or the reason why they were not read.
   */
  namespaces?: readonly KubeObject[] | { unread: string };
  unread: readonly Unread[];
}

export const NO_RELATED: RelatedObjects = {
  gates: [],
  rolloutGates: [],
  bindings: [],
  healthChecks: [],
  objects: [],
  rollouts: [],
  unread: [],
};

/** Why the objects of a kind were not read; undefined if they were. */
export function unreadReason({ unread }: RelatedObjects, kind: KindName, namespace: string): string | undefined {
  return unread.find((each) => each.kind === kind && (each.namespace ?? namespace) === namespace)?.why;
}

/** The unread kinds that matter to a Rollout: without the Flux kinds of which no object is bound to it. */
export function unreadAbout({ unread }: RelatedObjects, bound: readonly FluxBinding[]): Unread[] {
  const kinds = new Set(bound.map(({ spec }) => spec?.target.kind));
  const isFlux = new Set<string>(BOUND_KINDS.map(({ kind }) => kind));
  return unread.filter(({ kind }) => !isFlux.has(kind) || kinds.has(kind));
}

/** Unread kinds as text, `RolloutGates in apps: you aren't allowed to read this kind`, sorted. */
export function unreadTexts(unread: readonly Unread[]): string[] {
  return unread
    .map(({ kind, namespace, why }) => `${pluralOf(kind)}${namespace ? ` in ${namespace}` : ''}: ${why}`)
    .sort();
}

/** The reference in `namespace/name`, the reverse of `refKey`. `home`: the namespace of a name alone. */
export function parseRefKey(key: string, home = ''): NamespacedName {
  const slash = key.indexOf('/');
  return { namespace: slash < 0 ? home : key.slice(0, slash), name: key.slice(slash + 1) };
}

/**
 * What may block a version: the Gates that the Rollout names, those of the objects bound to it, and those that its
 * status reports as closed.
 */
export function relatedGates(rollout: Rollout, bound: readonly FluxBinding[]): RequiredGates {
  const { gates = [] } = rollout.status ?? {};
  const reported = gates.flatMap(({ kind, name }) => (kind === KINDS.Gate.kind ? parseRefKey(name) : []));
  const ofBound = bound.map(({ spec }) => requiredByBinding(spec));
  return unionOfRequired([{ refs: gatesNamedBy(rollout, ANY_REF) }, ...ofBound, requiredIn(reported)]);
}

type Named = Pick<KubeObject, 'metadata'>;

/** The index of a list, memoized for each list: thousands of Rollouts search the same lists. */
const indexByKey = memoizeByObject((objects: readonly Named[]) => byRefKey(objects));

/** A function that finds an object by namespace and name. The list must not change afterwards. */
export function finder<T extends Named>(objects: readonly T[]): (ref: NamespacedName) => T | undefined {
  const byKey = indexByKey(objects);
  return (ref) => byKey.get(refKey(ref)) as T | undefined;
}

const groupByKind = memoizeByObject((objects: readonly FluxObject[]) => Map.groupBy(objects, ({ kind }) => kind));

/** Like `finder`, for a list of several kinds. */
export function objectFinder(
  objects: readonly FluxObject[],
): (kind: string, ref: NamespacedName) => FluxObject | undefined {
  const kinds = groupByKind(objects);
  return (kind, ref) => finder(kinds.get(kind) ?? NO_OBJECTS)(ref);
}

const NO_OBJECTS: readonly FluxObject[] = [];

/** Whether the Rollout watches HealthChecks of other namespaces. */
export function watchesOtherNamespaces({ spec }: Rollout): boolean {
  return spec?.healthCheckSelector?.namespaceSelector !== undefined;
}

export function byNamespace<T extends Named>(objects: readonly T[]): Map<string, T[]> {
  return Map.groupBy(objects, ({ metadata }) => metadata.namespace ?? '');
}

/** A function that returns the related objects of a namespace, with Gates, Rollouts and Namespaces of all. */
export function relatedByNamespace(related: RelatedObjects): (namespace: string) => RelatedObjects {
  const [rolloutGates, bindings] = [byNamespace(related.rolloutGates), byNamespace(related.bindings)];
  const [healthChecks, objects] = [byNamespace(related.healthChecks), byNamespace(related.objects)];
  return memoize((namespace) => ({
    ...related,
    rolloutGates: rolloutGates.get(namespace) ?? [],
    bindings: bindings.get(namespace) ?? [],
    healthChecks: healthChecks.get(namespace) ?? [],
    objects: objects.get(namespace) ?? [],
    unread: related.unread.filter((each) => each.kind === 'Gate' || (each.namespace ?? namespace) === namespace),
  }));
}
