/**
 * Was a change made by an apply? Told by who owns the field afterwards, not by the request's options: the API server
 * sends UpdateOptions for patches too (docs/architecture.md, fact F11).
 */
import { LAST_APPLIED } from '../../api/annotations.ts';
import type { KubeObject, ManagedFieldsEntry } from '../../api/kubernetes.ts';
import { childOf, sameJson } from './json.ts';

/**
 * Who wrote the field that this stands at. Walked down beside the object key by key, so that a write with many changes
 * reads managedFields and both last-applied annotations once, and no path twice.
 */
export interface Writers {
  /** Of a plain map key below. */
  at(key: string): Writers;
  /** Whether an apply put `value` there: a server-side one, or a client-side one that repeats itself. */
  applied(value: unknown): boolean;
}

/** The writers of an object's root. `oldObject` is absent on CREATE. */
export function writersOf(object: KubeObject<any, any>, oldObject: KubeObject<any, any> | undefined): Writers {
  return writers(ownersOf(mainEntries(object)), lastApplied(oldObject), lastApplied(object));
}

function writers(owners: Owners, before: unknown, after: unknown): Writers {
  return {
    at: (key) => writers(ownersBelow(owners, key), childOf(before, key), childOf(after, key)),
    applied: (value) => isServerSide(owners) || isRepeated(before, after, value),
  };
}

/** For walks that ask nobody. */
export const NO_WRITERS: Writers = { at: () => NO_WRITERS, applied: () => false };

/** Whether the request with this field manager is a server-side apply, and of `path` where that is given. */
export function isApplyBy(
  manager: string | undefined,
  object: KubeObject<any, any>,
  path: readonly string[] = [],
): boolean {
  const entries = mainEntries(object).filter((entry) => entry.operation === 'Apply' && entry.manager === manager);
  if (path.length === 0) return entries.length > 0;
  return path.reduce(ownersBelow, ownersOf(entries)).byApply;
}

/** A server-side apply owns the field, and nobody else does. */
function isServerSide({ byApply, byOther, whole }: Owners): boolean {
  return byApply || byOther ? !byOther : whole.byApply && !whole.byOther;
}

/**
 * A client-side `kubectl apply` put back the literal it had applied before: old and new configuration hold the same
 * value for the field, and that is what the object says now.
 */
function isRepeated(before: unknown, after: unknown, value: unknown): boolean {
  return after !== undefined && sameJson(before, after) && sameJson(after, value);
}

function mainEntries(object: KubeObject<any, any>): ManagedFieldsEntry[] {
  return (object.metadata.managedFields ?? []).filter((entry) => !entry.subresource);
}

function lastApplied(object: KubeObject<any, any> | undefined): unknown {
  try {
    return JSON.parse(object?.metadata.annotations?.[LAST_APPLIED] ?? 'null');
  } catch {
    return undefined;
  }
}
