/** What a write changes of what a closed gate holds. */
import { GATES, ROLLOUT, SUBSTITUTE } from '../../../api/annotations.ts';
import type { FluxObject } from '../../../api/flux.ts';
import { childOf, isMap, sameJson } from '../../kube/json.ts';
import { NO_WRITERS, type Writers } from '../../kube/managedFields.ts';
import { LIMITS } from '../../limits.ts';

export interface Change {
  /** Plain map keys from the object's root. The walk reuses this array: copy it to keep it. */
  path: readonly string[];
  /** What the new object has there; undefined: nothing. */
  value: unknown;
  writers: Writers;
}

export type See = (change: Change) => void;

const SUBSTITUTE_ANNOTATION = /^rollout\.kuberik\.com\/substitute\./;

/** The spec, the annotations that name Gates and Rollouts, and the owner references, where they differ. */
export function governedChanges(
  object: FluxObject,
  oldObject: FluxObject,
  see: See,
  writers: Writers = NO_WRITERS,
): void {
  const governedOnly: See = (change) => isGoverned(change.path[2]!) && see(change);
  walk(object.spec ?? {}, oldObject.spec ?? {}, at(['spec'], writers), see);
  const { annotations = {}, ownerReferences = [] } = object.metadata;
  walk(annotations, oldObject.metadata.annotations ?? {}, at(['metadata', 'annotations'], writers), governedOnly);
  if (!sameJson(ownerReferences, oldObject.metadata.ownerReferences ?? [])) {
    see({ ...at(['metadata', 'ownerReferences'], writers), value: object.metadata.ownerReferences });
  }
}

export function labelChanges(object: FluxObject, oldObject: FluxObject, see: See, writers: Writers = NO_WRITERS): void {
  walk(object.metadata.labels ?? {}, oldObject.metadata.labels ?? {}, at(['metadata', 'labels'], writers), see);
}

function isGoverned(annotation: string): boolean {
  return (
    annotation === GATES ||
    annotation === ROLLOUT ||
    annotation === SUBSTITUTE ||
    SUBSTITUTE_ANNOTATION.test(annotation)
  );
}

interface Place {
  path: string[];
  writers: Writers;
}

function at(path: string[], writers: Writers): Place {
  return { path, writers: path.reduce((found, key) => found.at(key), writers) };
}

/**
 * The deepest map keys that differ; a list counts as one value, as it does for its owners (Flux's lists are atomic), and
 * so does what is nested deeper than the limit. A whole map that appears or disappears is compared leaf by leaf: it is
 * the leaves that have owners.
 */
function walk(a: unknown, b: unknown, { path, writers }: Place, see: See): void {
  if (path.length > LIMITS.nesting || !(hasFieldsBeside(a, b) || hasFieldsBeside(b, a))) {
    if (!sameJson(a, b)) see({ path, value: a, writers });
    return;
  }
  const keys = Object.keys(a ?? {});
  for (const key of Object.keys(b ?? {})) if (!Object.hasOwn(a ?? {}, key)) keys.push(key);
  for (const key of keys.sort()) {
    const [below, belowBefore] = [childOf(a, key), childOf(b, key)];
    if (below === belowBefore) continue;
    path.push(key);
    walk(below, belowBefore, { path, writers: writers.at(key) }, see);
    path.pop();
  }
}

function hasFieldsBeside(value: unknown, other: unknown): boolean {
  return isMap(value) && (isMap(other) || (other === undefined && Object.keys(value).length > 0));
}
