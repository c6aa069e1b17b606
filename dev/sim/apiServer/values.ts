/** Frozen, shared JSON values: the simulation neither copies nor compares a value twice. */
import { isDeepStrictEqual } from 'node:util';

const settledValues = new WeakSet<object>();

/** The value after a round trip through JSON, frozen; the same value if it is frozen already. */
export function settled<T>(value: T): T {
  if (typeof value !== 'object' || value === null || settledValues.has(value)) return value;
  let result: any;
  if (Array.isArray(value)) result = value.map((item) => settled(item ?? null));
  else {
    result = {};
    for (const [key, each] of Object.entries(value)) {
      if (each === undefined) continue;
      if (key === '__proto__') Object.defineProperty(result, key, { value: settled(each), enumerable: true });
      else result[key] = settled(each);
    }
  }
  settledValues.add(Object.freeze(result));
  return result;
}

/** `value`, with each part that equals the part of `old` in the same place replaced by the latter. */
export function sharing<T>(value: T, old: unknown): T {
  if (value === old || typeof value !== 'object' || value === null || typeof old !== 'object' || old === null)
    return value;
  if (Array.isArray(value)) return isDeepStrictEqual(value, old) ? (old as T) : value;
  const before = old as Record<string, unknown>;
  let isSame = Object.keys(value).length === Object.keys(before).length;
  const entries = Object.entries(value).map(([key, each]) => {
    const shared = Object.hasOwn(before, key) ? sharing(each, before[key]) : each;
    isSame &&= Object.hasOwn(before, key) && shared === before[key];
    return [key, shared];
  });
  return isSame ? (old as T) : settled(Object.fromEntries(entries));
}
