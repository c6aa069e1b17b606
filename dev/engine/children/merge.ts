/**
 * Three-way merge in the manner of `kubectl apply`: what was applied last and is no longer wanted is removed, what is
 * wanted is set, everything else stays. Lists of objects are merged by a key where one can be guessed, others are
 * replaced.
 */
import { isMap } from '../../../core/kube/json.ts';
import type { JsonObject } from '../json/json.ts';

/** Field names taken for the key of a list, the first one that all items have. */
const LIST_KEYS = ['containerPort', 'port', 'mountPath', 'name', 'uid', 'ip', 'path'];

/** A new object; what is not changed is shared with `observed`. */
export function mergeThreeWay(observed: JsonObject, lastApplied: JsonObject, desired: JsonObject): JsonObject {
  const merged = { ...observed };
  for (const key of Object.keys(lastApplied)) {
    if (!Object.hasOwn(desired, key)) delete merged[key];
  }
  for (const [key, value] of Object.entries(desired)) merged[key] = merge(merged[key], lastApplied[key], value);
  return merged;
}

/** A value whose type differs from the observed one counts as absent: Metacontroller never turns a list into a text. */
function merge(observed: unknown, lastApplied: unknown, desired: unknown): unknown {
  if (isMap(observed)) return mergeThreeWay(observed, objectOrEmpty(lastApplied), objectOrEmpty(desired));
  if (!Array.isArray(observed)) return desired;
  const merged = mergeKeyedLists(observed, listOrEmpty(lastApplied), listOrEmpty(desired));
  return merged ?? (Array.isArray(desired) ? desired : null);
}

/** Undefined when the items have no key in common. */
function mergeKeyedLists(observed: unknown[], lastApplied: unknown[], desired: unknown[]): unknown[] | undefined {
  const listKey = listKeyOf([...observed, ...lastApplied, ...desired]);
  if (listKey === undefined) return undefined;
  const keyOf = (item: unknown) => String((item as JsonObject)[listKey]);
  const keyed = (items: unknown[]) => Object.fromEntries(items.map((item) => [keyOf(item), item]));
  const merged = mergeThreeWay(keyed(observed), keyed(lastApplied), keyed(desired));
  // Observed items keep their places, new ones follow in the order they are wanted.
  const order = new Set([...observed, ...desired].map(keyOf));
  return [...order].filter((key) => Object.hasOwn(merged, key)).map((key) => merged[key]);
}

function listKeyOf(items: unknown[]): string | undefined {
  if (items.length === 0 || !items.every(isMap)) return undefined;
  return LIST_KEYS.find((key) => items.every((item) => Object.hasOwn(item, key)));
}

function objectOrEmpty(value: unknown): JsonObject {
  return isMap(value) ? value : {};
}

function listOrEmpty(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
