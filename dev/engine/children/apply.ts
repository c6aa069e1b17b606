/** The object to write for a desired, partial object: three-way merge with the configuration applied last. */
import type { KubeObject } from '../../../api/kubernetes.ts';
import { isMap } from '../../../core/kube/json.ts';
import { goJson, type JsonObject } from '../json/json.ts';
import { describe } from '../json/objects.ts';
import { mergeThreeWay } from './merge.ts';

export const LAST_APPLIED = 'metacontroller.k8s.io/last-applied-configuration';

/** Set by the API server: a hook that answers them changes nothing. */
const SYSTEM_FIELDS = [
  'selfLink',
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'managedFields',
];

/** A copy that carries the desired object itself as its last-applied annotation. */
export function withLastApplied(object: KubeObject, applied: KubeObject): KubeObject {
  const annotations = { ...object.metadata.annotations, [LAST_APPLIED]: goJson(applied) };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** Equal to `observed` in every field when there is nothing to write. Throws when the two do not fit together. */
export function applyUpdate(observed: KubeObject, desired: KubeObject): KubeObject {
  const wanted = withoutLastApplied(desired);
  const merged = mergeThreeWay(toJson(observed), lastApplied(observed), toJson(wanted));
  const metadata = { ...(merged.metadata as JsonObject) };
  for (const field of SYSTEM_FIELDS) restore(metadata, toJson(observed.metadata), field);
  // A parent has no say in the status of its children.
  restore(merged, toJson(observed), 'status');
  return withLastApplied({ ...merged, metadata } as unknown as KubeObject, wanted);
}

function withoutLastApplied(object: KubeObject): KubeObject {
  const { [LAST_APPLIED]: applied, ...annotations } = object.metadata.annotations ?? {};
  return applied === undefined ? object : { ...object, metadata: { ...object.metadata, annotations } };
}

function lastApplied(observed: KubeObject): JsonObject {
  const text = observed.metadata.annotations?.[LAST_APPLIED];
  if (!text) return {};
  try {
    const value: unknown = JSON.parse(text);
    if (isMap(value)) return value;
  } catch {
    // Reported below, with the object it is on.
  }
  throw new Error(`${describe(observed)}: annotation ${LAST_APPLIED} is not a JSON object`);
}

function restore(target: JsonObject, observed: JsonObject, field: string): void {
  if (Object.hasOwn(observed, field)) target[field] = observed[field];
  else delete target[field];
}

function toJson(value: object): JsonObject {
  return value as JsonObject;
}
