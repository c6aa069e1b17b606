/** Size limits: whoever fills an object so that a closed gate cannot write on it any more has found a way around that gate. */
import {
  ARTIFACT,
  AWAITS_ARTIFACT,
  BYPASSED_BY,
  DEPLOYED,
  GATE_STATE,
  SELECTED_BY,
  SUSPENDED,
} from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import { goJsonBytes } from '../kube/goJson.ts';
import { isDeeperThan, sameJson } from '../kube/json.ts';
import { LIMITS } from '../limits.ts';

/** Kubernetes: total of keys and values of all annotations, in bytes. */
const MAX_ANNOTATIONS = 256 * 1024;
/** etcd takes 1.5 MiB; the status and managedFields, which may be longer than the fields they list, need the rest. */
const MAX_OBJECT = 512 * 1024;
/** Longest reference to a Gate: namespace, slash, name, which closing it is, comma. */
const REFERENCE = 63 + 1 + 253 + 64 + 1;
/** Memory, record of a bypass, and what Flux itself adds. */
const SMALL_ONES = 2048;
const OURS: readonly string[] = [ARTIFACT, AWAITS_ARTIFACT, BYPASSED_BY, DEPLOYED, GATE_STATE, SELECTED_BY, SUSPENDED];

/** The sentence that refuses a write which leaves too little room; undefined when there is enough, or no less than before. */
export function refuseFilling(
  object: FluxObject,
  oldObject: FluxObject | undefined,
  requiredGates: number,
): string | undefined {
  if (requiredGates === 0) return undefined;
  return crowdedAnnotations(object, oldObject, requiredGates) ?? crowdedObject(object, oldObject);
}

function crowdedAnnotations(object: FluxObject, oldObject: FluxObject | undefined, gates: number): string | undefined {
  const limit = MAX_ANNOTATIONS - SMALL_ONES - 2 * gates * REFERENCE - sizeOf(object, [DEPLOYED]);
  const size = sizeOf(
    object,
    Object.keys(object.metadata.annotations ?? {}).filter((key) => !OURS.includes(key)),
  );
  const before = oldObject ? sizeOf(oldObject, Object.keys(oldObject.metadata.annotations ?? {})) : 0;
  if (size <= limit || size <= before) return undefined;
  return (
    `metadata.annotations: ${size} bytes leave no room for what a closed gate writes there ` +
    `(${gates} gates required): at most ${Math.max(0, limit)} bytes.`
  );
}

function crowdedObject(object: FluxObject, oldObject: FluxObject | undefined): string | undefined {
  const size = contentSize(object);
  if (size <= MAX_OBJECT || (oldObject && size <= contentSize(oldObject))) return undefined;
  return (
    `${size} bytes without status and managedFields leave no room for what a closed gate writes on the object, ` +
    `which can have 1.5 MiB in all: at most ${MAX_OBJECT} bytes.`
  );
}

/** Without our own annotations: what a decorator writes does not count as growth. */
function contentSize({ metadata, spec }: FluxObject): number {
  const { managedFields: _, annotations = {}, ...rest } = metadata;
  const theirs = Object.entries(annotations).filter(([key]) => !OURS.includes(key));
  return goJsonBytes([rest, Object.fromEntries(theirs), spec]);
}

function sizeOf(object: FluxObject, keys: readonly string[]): number {
  const bytes = (text: string) => new TextEncoder().encode(text).length;
  return keys.reduce((sum, key) => {
    const value = object.metadata.annotations?.[key];
    return value === undefined ? sum : sum + bytes(key) + bytes(value);
  }, 0);
}

/**
 * The sentence that refuses a spec too deep to be compared field by field. What is stored already stays writable beside its spec:
 * else whoever nests deep enough could not be suspended.
 */
export function refuseNesting(object: FluxObject, oldObject: FluxObject | undefined): string | undefined {
  if (!isDeeperThan(LIMITS.nesting, object.spec)) return undefined;
  if (oldObject && sameJson(besideSuspend(object), besideSuspend(oldObject))) return undefined;
  return `spec is nested more than ${LIMITS.nesting} levels deep, which is the limit for what Gates and Rollouts hold: nest it less deeply.`;
}

function besideSuspend({ spec }: FluxObject): unknown {
  const { suspend: _, ...rest } = spec ?? {};
  return rest;
}
