/** What a write changes of what a closed gate holds. */
import { GATES, ROLLOUT, SUBSTITUTE } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import { sameJson, valueAt } from './ownership.ts';

export type Path = readonly string[];

const PIN_MARK = /^rollout\.kuberik\.com\/substitute\./;

/** Paths of the spec, of the marks that name Gates and Rollouts, and of the owner references that differ. */
export function governedChanges(object: FluxObject, oldObject: FluxObject): Path[] {
  const changes = differences(object.spec ?? {}, oldObject.spec ?? {}, ['spec']);
  const marks = differences(object.metadata.annotations ?? {}, oldObject.metadata.annotations ?? {}, [
    'metadata',
    'annotations',
  ]).filter(([, , key]) => isMark(key!));
  changes.push(...marks);
  if (!sameJson(object.metadata.ownerReferences ?? [], oldObject.metadata.ownerReferences ?? [])) {
    changes.push(['metadata', 'ownerReferences']);
  }
  return changes;
}

export function labelChanges(object: FluxObject, oldObject: FluxObject): Path[] {
  return differences(object.metadata.labels ?? {}, oldObject.metadata.labels ?? {}, ['metadata', 'labels']);
}

export function isRemoval(path: Path, object: FluxObject): boolean {
  return valueAt(object, path) === undefined;
}

function isMark(annotation: string): boolean {
  return annotation === GATES || annotation === ROLLOUT || annotation === SUBSTITUTE || PIN_MARK.test(annotation);
}

/** The deepest map keys that differ; a list counts as one value, as it does for its owners (Flux's lists are atomic). */
function differences(a: unknown, b: unknown, path: Path): Path[] {
  if (sameJson(a, b)) return [];
  if (!isMap(a) || !isMap(b)) return [path];
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
  return keys.flatMap((key) => {
    const inA = Object.hasOwn(a, key);
    const inB = Object.hasOwn(b, key);
    // A whole map that appears or goes is looked at leaf by leaf: its leaves have the owners.
    if (inA !== inB) return leaves(inA ? a[key] : b[key], [...path, key]);
    return differences(a[key], b[key], [...path, key]);
  });
}

function leaves(value: unknown, path: Path): Path[] {
  if (!isMap(value) || Object.keys(value).length === 0) return [path];
  return Object.keys(value).flatMap((key) => leaves(value[key], [...path, key]));
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
