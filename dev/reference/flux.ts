/** docs/gates.md and docs/rollouts.md, read aloud: what a Flux object requires, and what no write of it may do. */
import { meaning } from './values.ts';

export interface Thing {
  apiVersion: string;
  kind: string;
  metadata: {
    name?: string;
    namespace?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
    ownerReferences?: { uid: string }[];
    deletionTimestamp?: string;
  };
  spec?: any;
}

interface Selector {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

export interface Selects {
  kinds?: string[];
  namespaceSelector?: Selector;
  labelSelector?: Selector;
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

export function isSelected(
  object: Thing,
  selects: Selects,
  gateNamespace: string,
  namespaceLabels: Record<string, string>,
): boolean {
  // "all kinds of Flux, and no Rollouts"
  const isMeant = selects.kinds?.length ? selects.kinds.includes(object.kind) : object.kind !== 'Rollout';
  if (!isMeant) return false;
  const inNamespace = selects.namespaceSelector
    ? matches(selects.namespaceSelector, namespaceLabels)
    : object.metadata.namespace === gateNamespace;
  return inNamespace && matches(selects.labelSelector, object.metadata.labels);
}

/** A variable is what Flux substitutes; no map of JavaScript's can have a key `__proto__` of its own by assignment. */
const VARIABLE = /^(?!__proto__$)[_A-Za-z][_A-Za-z0-9]*$/;
const SUBSTITUTE_FROM = /^rollout\.kuberik\.com\/substitute\.([_A-Za-z][_A-Za-z0-9]*)\.from$/;

/** `variable` or `tag`, to the one Rollout that owns it. */
export function managedFieldsOf({ kind, metadata: { annotations = {} } }: Thing): Map<string, string> {
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

export function managedValue({ spec }: Thing, field: string): unknown {
  return field === 'tag' ? spec?.ref?.tag : spec?.postBuild?.substitute?.[field];
}

const MARKS = ['gate.fluxcd.io/gates', 'rollout.kuberik.com/rollout', 'rollout.kuberik.com/substitute'];

function marks({ metadata: { annotations = {} } }: Thing): Record<string, string> {
  const entries = Object.entries(annotations);
  return Object.fromEntries(
    entries.filter(([key]) => MARKS.includes(key) || key.startsWith('rollout.kuberik.com/substitute.')),
  );
}

/** "While one is closed, what requires it takes no change": what has changed all the same. */
export function thawed(after: Thing, before: Thing, bySystemDeleter: boolean): string[] {
  const { suspend: _, ...spec } = after.spec ?? {};
  const { suspend: __, ...specBefore } = before.spec ?? {};
  const owners = (object: Thing) => (object.metadata.ownerReferences ?? []).map(({ uid }) => uid);
  return [
    ...(meaning(spec) === meaning(specBefore) ? [] : ['spec']),
    ...(JSON.stringify(Object.entries(marks(after)).sort()) === JSON.stringify(Object.entries(marks(before)).sort())
      ? []
      : ['its annotations']),
    // Whoever may always delete may do so by an owner reference, too.
    ...(bySystemDeleter || meaning(owners(after)) === meaning(owners(before)) ? [] : ['its owner references']),
  ];
}
