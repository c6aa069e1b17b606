/** Customize rules that several hooks share: for the parent's own Namespace, and for objects known by name. */
import { NAMESPACES } from '../api/kinds.ts';
import type { NamespacedName } from '../api/kubernetes.ts';
import type { ObjectMap, RelatedResourceRule } from '../api/metacontroller.ts';
import type { ClusterReader, ResourceRef } from '../api/ports.ts';
import type { Gate } from '../api/types.ts';
import { listOfGatesBeyond } from '../core/gate/gateSelection.ts';
import { objectAt } from '../core/kube/objectMap.ts';
import { labelsSelectedBy } from '../live/gateReads.ts';

/**
 * The rule for the parent's Namespace, if any Gate selects beyond its own namespace. Otherwise none: each event of a
 * related kind is matched against every rule of every parent (ADR 2).
 */
export async function namespaceRules(namespace: string, cluster: ClusterReader): Promise<RelatedResourceRule[]> {
  return (await cluster.hasAny(listOfGatesBeyond())) ? [{ ...NAMESPACES, names: [namespace] }] : [];
}

/**
 * The labels of the parent's Namespace, if Gates select by them: read live if the parent's rules are older than such a
 * Gate.
 */
export async function ownNamespaceLabels(
  namespace: string,
  related: ObjectMap,
  gates: readonly Gate[],
  cluster: ClusterReader,
): Promise<Readonly<Record<string, string>>> {
  const home = objectAt(related, { group: '', kind: 'Namespace' }, undefined, namespace);
  return home ? (home.metadata.labels ?? {}) : labelsSelectedBy(gates, namespace, cluster);
}

/**
 * The rules for objects with these names, one for each namespace, because a rule without a namespace matches in all
 * namespaces. Without names there is no rule, because a rule without names matches everything (docs/facts.md, M11).
 */
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
