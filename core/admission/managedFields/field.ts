/** Reading and setting the fields that Rollouts own. Objects go in and come out; nothing is changed in place. */
import type { FluxObject } from '../../../api/flux.ts';
import type { Pin } from '../../../api/types.ts';
import { isMap } from '../../kube/json.ts';
import { pinPath } from './annotations.ts';

/** source-controller prefers these to `spec.ref.tag`, in this order; a pinned tag beside them would mean nothing. */
const STRONGER_THAN_TAG = ['digest', 'semver'] as const;

type Json = Record<string, unknown>;

/** The value the object has for the field, undefined when it has none (or none that is text). */
export function readPin(object: FluxObject, pin: Pin): string | undefined {
  let at: unknown = object;
  for (const key of pinPath(pin)) at = isMap(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  return typeof at === 'string' ? at : undefined;
}

/** `digest`, `semver`: the fields beside the pinned tag that Flux would prefer to it. */
export function strongerRefs(object: FluxObject, pin: Pin): string[] {
  const ref = object.spec?.ref;
  if (pin.variable !== undefined || !isMap(ref)) return [];
  return STRONGER_THAN_TAG.filter((key) => ref[key] !== undefined);
}

/**
 * The object with the fields set to these values (undefined: without it) and nothing else changed, but that a pinned tag
 * loses what is stronger than it. The same object when it is so already. All pins of one object have one parent.
 */
export function writePins<T extends FluxObject>(object: T, values: readonly [Pin, string | undefined][]): T {
  const without = new Set<string>();
  const set = new Map<string, string>();
  for (const [pin, value] of values) {
    const stronger = value === undefined ? [] : strongerRefs(object, pin);
    for (const key of stronger) without.add(key);
    const key = pinPath(pin).at(-1)!;
    if (readPin(object, pin) === value) continue;
    if (value === undefined) without.add(key);
    else set.set(key, value);
  }
  if (without.size === 0 && set.size === 0) return object;
  return update(object as unknown as Json, pinPath(values[0]![0]).slice(0, -1), set, without) as unknown as T;
}

/** An absent parent is created; one that is not a map is left for the schema to refuse. */
function update(at: Json, [key, ...rest]: string[], set: Map<string, string>, without: Set<string>): Json {
  if (key === undefined) {
    const kept = Object.entries(at).filter(([name]) => !without.has(name));
    return { ...Object.fromEntries(kept), ...Object.fromEntries(set) };
  }
  const child = Object.hasOwn(at, key) ? at[key] : undefined;
  if (child === undefined || child === null) {
    return set.size === 0 ? at : { ...at, [key]: update({}, rest, set, without) };
  }
  return isMap(child) ? { ...at, [key]: update(child, rest, set, without) } : at;
}
