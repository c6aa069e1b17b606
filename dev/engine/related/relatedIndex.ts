/**
 * Which parents a related object concerns. Rules are kept in buckets by the most selective thing every match has (a
 * name, a label, a namespace), so that an event is compared with the few rules that may match it, not with those of all
 * parents.
 */
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { CompiledRule, NamespaceLabels } from './relatedRule.ts';

interface Entry {
  parent: string;
  rule: CompiledRule;
}

export class RelatedIndex {
  readonly #buckets = new Map<string, Set<Entry>>();
  readonly #ofParent = new Map<string, { bucket: string; entry: Entry }[]>();

  set(parent: string, rules: readonly CompiledRule[]): void {
    this.delete(parent);
    const places = rules.flatMap((rule) => bucketsOf(rule).map((bucket) => ({ bucket, entry: { parent, rule } })));
    for (const { bucket, entry } of places) {
      const entries = this.#buckets.get(bucket);
      if (entries) entries.add(entry);
      else this.#buckets.set(bucket, new Set([entry]));
    }
    this.#ofParent.set(parent, places);
  }

  delete(parent: string): void {
    for (const { bucket, entry } of this.#ofParent.get(parent) ?? []) {
      const entries = this.#buckets.get(bucket);
      entries?.delete(entry);
      if (entries?.size === 0) this.#buckets.delete(bucket);
    }
    this.#ofParent.delete(parent);
  }

  /** Parents with a rule that matches this object of the given resource. */
  parentsOf(apiVersion: string, resource: string, object: KubeObject, namespaceLabels: NamespaceLabels): Set<string> {
    const parents = new Set<string>();
    for (const bucket of bucketsFor(`${apiVersion} ${resource}`, object)) {
      for (const { parent, rule } of this.#buckets.get(bucket) ?? []) {
        if (!parents.has(parent) && rule.matches(object, namespaceLabels)) parents.add(parent);
      }
    }
    return parents;
  }
}

/** The buckets of a rule. Every object that it matches has at least one of them in `bucketsFor`. */
function bucketsOf(rule: CompiledRule): string[] {
  const resource = `${rule.apiVersion} ${rule.resource}`;
  if (rule.names) return [...rule.names].map((name) => `${resource} name ${rule.namespace ?? '*'}/${name}`);
  if (rule.anchor !== undefined) return [`${resource} label ${rule.anchor}`];
  return [`${resource} namespace ${rule.namespace ?? '*'}`];
}

/** The buckets whose rules may match an object. */
function bucketsFor(resource: string, { metadata }: KubeObject): string[] {
  const namespace = metadata.namespace ?? '';
  const buckets = [
    `${resource} name ${namespace}/${metadata.name}`,
    `${resource} name */${metadata.name}`,
    `${resource} namespace ${namespace}`,
    `${resource} namespace *`,
  ];
  for (const [key, value] of Object.entries(metadata.labels ?? {})) {
    buckets.push(`${resource} label ${key}`, `${resource} label ${key}=${value}`);
  }
  return buckets;
}
