/** Related rules of hook version v2: which combinations are valid and which objects they mean. */
import type { KubeObject } from '../../../api/kubernetes.ts';
import { compileSelector } from '../../../core/kube/selector.ts';
import type { Resource } from '../../client/resources.ts';
import type { ObjectStore } from '../cluster/store.ts';
import type { RelatedRule } from '../hooks/answers.ts';

/** Labels of a namespace, or undefined when there is none of that name. */
export type NamespaceLabels = (namespace: string) => Record<string, string> | undefined | null;

export interface CompiledRule {
  apiVersion: string;
  resource: string;
  namespace: string | undefined;
  /** Undefined: any name. */
  names: ReadonlySet<string> | undefined;
  usesNamespaceSelector: boolean;
  /** For an object of this rule's resource. */
  matches(object: KubeObject, namespaceLabels: NamespaceLabels): boolean;
}

/** Throws for a combination Metacontroller refuses, naming the rule. */
export function compileRule(rule: RelatedRule, target: Resource): CompiledRule {
  const refuse = (why: string): never => {
    throw new Error(`related rule ${JSON.stringify(rule)}: ${why}`);
  };
  // An empty list means "any name", as if it were not there.
  const names = rule.names?.length ? new Set(rule.names) : undefined;
  const usesNamespaceSelector = rule.namespaceSelector !== undefined && rule.namespaceSelector !== null;
  if (names && (rule.labelSelector || usesNamespaceSelector)) {
    refuse('names cannot be combined with labelSelector or namespaceSelector');
  }
  if (rule.namespace && usesNamespaceSelector) refuse('namespace cannot be combined with namespaceSelector');
  if (usesNamespaceSelector && !target.namespaced) refuse('namespaceSelector needs a namespaced resource');
  const matchesLabels = compileSelector(rule.labelSelector ?? undefined);
  const matchesNamespace = compileSelector(rule.namespaceSelector ?? undefined);
  // On a cluster-scoped resource a namespace has no effect.
  const namespace = target.namespaced && rule.namespace ? rule.namespace : undefined;
  return {
    apiVersion: rule.apiVersion,
    resource: rule.resource,
    namespace,
    names,
    usesNamespaceSelector,
    matches({ metadata }, namespaceLabels) {
      if (namespace !== undefined && metadata.namespace !== namespace) return false;
      if (names && !names.has(metadata.name ?? '')) return false;
      if (!matchesLabels(metadata.labels)) return false;
      if (!usesNamespaceSelector) return true;
      const found = namespaceLabels(metadata.namespace ?? '');
      return found !== null && matchesNamespace(found);
    },
  };
}

/** The objects of the store that the rule means; by key where the rule gives namespace and names. */
export function* select(
  rule: CompiledRule,
  store: ObjectStore,
  namespaceLabels: NamespaceLabels,
): Generator<KubeObject> {
  if (rule.names && rule.namespace !== undefined) {
    for (const name of rule.names) {
      const object = store.get(`${rule.namespace}/${name}`);
      if (object) yield object;
    }
    return;
  }
  for (const object of store.list(rule.namespace)) {
    if (rule.matches(object, namespaceLabels)) yield object;
  }
}
