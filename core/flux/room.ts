/** Annotations are limited to 256 KiB: whoever fills them leaves no room for a suspension, and has found a way around it. */
import { BYPASSED_BY, DEPLOYED, GATE_STATE, SELECTED_BY, SUSPENDED } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';

/** Kubernetes: total of keys and values, in bytes. */
const MAX_TOTAL = 256 * 1024;
/** Longest reference to a Gate: namespace, slash, name, comma. */
const REFERENCE = 63 + 1 + 253 + 1;
/** Memory, record of a broken glass, and what Flux itself adds. */
const SMALL_ONES = 2048;
const OURS: readonly string[] = [BYPASSED_BY, DEPLOYED, GATE_STATE, SELECTED_BY, SUSPENDED];

/** The sentence that refuses a write which fills the room; undefined when there is enough, or no less than before. */
export function refuseFilling(
  object: FluxObject,
  oldObject: FluxObject | undefined,
  requiredGates: number,
): string | undefined {
  if (requiredGates === 0) return undefined;
  const limit = MAX_TOTAL - SMALL_ONES - 2 * requiredGates * REFERENCE - sizeOf(object, [DEPLOYED]);
  const size = sizeOf(
    object,
    Object.keys(object.metadata.annotations ?? {}).filter((key) => !OURS.includes(key)),
  );
  const before = oldObject ? sizeOf(oldObject, Object.keys(oldObject.metadata.annotations ?? {})) : 0;
  if (size <= limit || size <= before) return undefined;
  return (
    `metadata.annotations: ${size} bytes leave no room for what a closed gate writes there ` +
    `(${requiredGates} gates required): at most ${Math.max(0, limit)} bytes.`
  );
}

function sizeOf(object: FluxObject, keys: readonly string[]): number {
  const bytes = (text: string) => new TextEncoder().encode(text).length;
  return keys.reduce((sum, key) => {
    const value = object.metadata.annotations?.[key];
    return value === undefined ? sum : sum + bytes(key) + bytes(value);
  }, 0);
}
