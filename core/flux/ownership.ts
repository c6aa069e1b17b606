/**
 * Was a change made by an apply? Told by who owns the field afterwards, not by the request's options: API server 1.36
 * sends UpdateOptions for patches too (DESIGN section 7).
 */
import { LAST_APPLIED } from '../../api/annotations.ts';
import type { KubeObject } from '../../api/kubernetes.ts';

/** Whether a server-side apply owns the field at `path` (plain map keys from the object's root), and nobody else does. */
export function appliedServerSide(object: KubeObject<any, any>, path: readonly string[]): boolean {
  const entries = (object.metadata.managedFields ?? []).filter((entry) => !entry.subresource);
  const exact = entries.filter((entry) => ownsField(entry.fieldsV1, path));
  const owners = exact.length > 0 ? exact : entries.filter((entry) => ownsWholeAncestor(entry.fieldsV1, path));
  return owners.length > 0 && owners.every((entry) => entry.operation === 'Apply');
}

/** Whether the request with this field manager is a server-side apply, and of `path` where that is given. */
export function isApplyBy(
  manager: string | undefined,
  object: KubeObject<any, any>,
  path?: readonly string[],
): boolean {
  return (object.metadata.managedFields ?? []).some(
    (entry) =>
      !entry.subresource &&
      entry.operation === 'Apply' &&
      entry.manager === manager &&
      (!path || ownsField(entry.fieldsV1, path)),
  );
}

/**
 * Whether a client-side `kubectl apply` put back the literal it had applied before: old and new configuration hold the
 * same value for the field, and that is what the object says now.
 */
export function reappliedClientSide(
  object: KubeObject<any, any>,
  oldObject: KubeObject<any, any>,
  path: readonly string[],
): boolean {
  const before = valueAt(lastApplied(oldObject), path);
  const after = valueAt(lastApplied(object), path);
  return after !== undefined && sameJson(before, after) && sameJson(after, valueAt(object, path));
}

/** The value at a path of plain map keys; undefined when there is none. */
export function valueAt(object: unknown, path: readonly string[]): unknown {
  let at: unknown = object;
  for (const key of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}

/** JSON values are equal whatever the order of their keys. Not recursive: JSON may be deeper than the stack. */
export function sameJson(one: unknown, other: unknown): boolean {
  const todo = [[one, other]];
  while (todo.length > 0) {
    const [a, b] = todo.pop()!;
    if (a === b) continue;
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
    if (Array.isArray(a) !== Array.isArray(b)) return false;
    const entries = Object.entries(a!);
    if (entries.length !== Object.keys(b!).length) return false;
    for (const [key, value] of entries) {
      if (!Object.hasOwn(b!, key)) return false;
      todo.push([value, (b as Record<string, unknown>)[key]]);
    }
  }
  return true;
}

function ownsField(fields: unknown, path: readonly string[]): boolean {
  return valueAt(fields, path.map(fieldKey)) !== undefined;
}

/** An atomic map is owned as one: the entry lists it and nothing inside it. */
function ownsWholeAncestor(fields: unknown, path: readonly string[]): boolean {
  return path.some((_, end) => {
    const at = end === 0 ? undefined : valueAt(fields, path.slice(0, end).map(fieldKey));
    return typeof at === 'object' && at !== null && Object.keys(at).length === 0;
  });
}

function fieldKey(key: string): string {
  return `f:${key}`;
}

function lastApplied(object: KubeObject<any, any>): unknown {
  try {
    return JSON.parse(object.metadata.annotations?.[LAST_APPLIED] ?? 'null');
  } catch {
    return undefined;
  }
}
