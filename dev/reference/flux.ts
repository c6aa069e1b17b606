/** docs/gates.md and docs/rollouts.md, as plainly as possible: the Gates of a Flux object, and its managed fields. */
export interface FluxObject {
  apiVersion: string;
  kind: string;
  metadata: {
    name?: string;
    namespace?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    deletionTimestamp?: string;
  };
  spec?: any;
}

interface Selector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

/** The names in an annotation such as `a,ns/b`, as `namespace/name`. */
export function names(annotation: string | undefined, namespace: string): string[] {
  const parts = (annotation ?? '').split(',').map((part) => part.trim());
  return parts.filter((part) => part !== '').map((part) => (part.includes('/') ? part : `${namespace}/${part}`));
}

export function matches(selector: Selector | undefined, labels: Record<string, string> = {}): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector ?? {};
  const has = (key: string) => Object.hasOwn(labels, key);
  if (!Object.entries(matchLabels).every(([key, value]) => has(key) && labels[key] === value)) return false;
  return matchExpressions.every(({ key, operator, values = [] }) => {
    if (operator === 'Exists') return has(key);
    if (operator === 'DoesNotExist') return !has(key);
    const isIn = has(key) && values.includes(labels[key]!);
    return operator === 'In' ? isIn : !isIn;
  });
}

/** Whether a Gate without a namespaceSelector selects the object: one of its namespace, and of its kinds and labels. */
export function isSelectedBy(
  { metadata: { namespace }, spec }: Pick<FluxObject, 'metadata' | 'spec'>,
  { kind, metadata }: FluxObject,
): boolean {
  const { kinds = [], labelSelector, namespaceSelector } = spec?.selects ?? {};
  if (!spec?.selects || namespaceSelector || namespace !== metadata.namespace || kind === 'ImagePolicy') return false;
  return (kinds.length === 0 || kinds.includes(kind)) && matches(labelSelector, metadata.labels);
}

/** A name that Flux substitutes. Assigning `__proto__` in JavaScript sets no key. */
const VARIABLE = /^(?!__proto__$)[_A-Za-z][_A-Za-z0-9]*$/;
const SUBSTITUTE_FROM = /^rollout\.kuberik\.com\/substitute\.([_A-Za-z][_A-Za-z0-9]*)\.from$/;

/** The Rollout of each managed field; the field is a variable, or `tag`. */
export function managedFieldsOf({ kind, metadata: { annotations = {} } }: FluxObject): Map<string, string> {
  const claims: [field: string, rollout: string][] = [];
  const pair = annotations['rollout.kuberik.com/rollout'];
  if (kind === 'OCIRepository' && pair !== undefined) claims.push(['tag', pair]);
  if (kind === 'Kustomization') {
    for (const [key, rollout] of Object.entries(annotations)) {
      const variable = SUBSTITUTE_FROM.exec(key)?.[1];
      if (variable !== undefined) claims.push([variable, rollout]);
    }
    const variable = annotations['rollout.kuberik.com/substitute'];
    if (pair !== undefined && variable !== undefined && VARIABLE.test(variable)) claims.push([variable, pair]);
  }
  const owners = new Map<string, Set<string>>();
  for (const [field, rollouts] of claims) {
    const list = rollouts.split(',').map((name) => name.trim());
    owners.set(field, new Set([...(owners.get(field) ?? []), ...list]));
  }
  // "Two Rollouts that claim one variable or one OCIRepository own nothing of it."
  return new Map([...owners].flatMap(([field, list]) => (list.size === 1 ? [[field, [...list][0]!] as const] : [])));
}

export function managedValue({ spec }: FluxObject, field: string): unknown {
  return field === 'tag' ? spec?.ref?.tag : spec?.postBuild?.substitute?.[field];
}
