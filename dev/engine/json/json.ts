/** JSON values: equality as Metacontroller sees it, and the text Go would write. */
import { isMap } from '../../../core/kube/json.ts';

export type JsonObject = Record<string, unknown>;

/** Deep equality; an absent key differs from null and from an empty object, as it does for Metacontroller. */
export function jsonEqual(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => jsonEqual(item, b[index]));
  }
  if (Array.isArray(b)) return false;
  const left = a as JsonObject;
  const right = b as JsonObject;
  const keys = Object.keys(left);
  if (keys.length !== Object.keys(right).length) return false;
  return keys.every((key) => Object.hasOwn(right, key) && jsonEqual(left[key], right[key]));
}

const ESCAPED = /[<>&\u2028\u2029]/g;

/** Keys sorted and HTML characters escaped, as Go does: both engines then write the same last-applied annotation. */
export function goJson(value: unknown): string {
  return JSON.stringify(value, sortKeys).replace(
    ESCAPED,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function sortKeys(_key: string, value: unknown): unknown {
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
