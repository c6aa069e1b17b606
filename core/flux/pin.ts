/** Reading and setting the fields that Rollouts own. Objects go in and come out; nothing is changed in place. */
import type { FluxObject } from '../../api/flux.ts';
import type { Pin } from '../../api/types.ts';
import { pinPath } from './marks.ts';

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
 * The object with the field set to `value` (undefined: without it) and nothing else changed, but that a pinned tag loses
 * what is stronger than it. The same object when it is so already.
 */
export function writePin<T extends FluxObject>(object: T, pin: Pin, value: string | undefined): T {
  const stronger = value === undefined ? [] : strongerRefs(object, pin);
  if (readPin(object, pin) === value && stronger.length === 0) return object;
  return update(object as unknown as Json, pinPath(pin), value, stronger) as unknown as T;
}

/** A parent that is absent is made; one that is no map is left to the schema's own refusal. */
function update(at: Json, [key, ...rest]: string[], value: string | undefined, without: string[]): Json {
  if (rest.length === 0) {
    const copy = { ...at };
    for (const name of without) delete copy[name];
    if (value === undefined) delete copy[key!];
    else copy[key!] = value;
    return copy;
  }
  const child = Object.hasOwn(at, key!) ? at[key!] : undefined;
  if (child === undefined || child === null)
    return value === undefined ? at : { ...at, [key!]: update({}, rest, value, without) };
  return isMap(child) ? { ...at, [key!]: update(child, rest, value, without) } : at;
}

function isMap(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
