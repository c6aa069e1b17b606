/** Rules for related objects that are known by name. */
import type { NamespacedName } from '../api/kubernetes.ts';
import type { RelatedResourceRule } from '../api/metacontroller.ts';
import type { ResourceRef } from '../api/ports.ts';

/** One for each namespace: names without a namespace would match in all of them. None for no names, which would match everything (fact M11). */
export function namedRules(
  { apiVersion, resource }: Pick<ResourceRef, 'apiVersion' | 'resource'>,
  refs: readonly NamespacedName[],
): RelatedResourceRule[] {
  const byNamespace = Map.groupBy(refs, ({ namespace }) => namespace);
  return [...byNamespace].map(([namespace, named]) => ({
    apiVersion,
    resource,
    namespace,
    names: named.map(({ name }) => name),
  }));
}
