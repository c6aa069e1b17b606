/**
 * The changes of a write in what Gates govern: the spec, the annotations that name Gates or Rollouts, and the owner
 * references. They are visited, not listed, because a hostile write may have any number of them.
 */
import { BOUND_ROLLOUT, REQUIRED_GATES, SUBSTITUTE } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import { childOf, isMap, sameJson } from '../kube/json.ts';
import { NO_WRITERS, type Writers, writersAt } from '../kube/writers.ts';
import { LIMITS } from '../limits.ts';
import { firstFew, MAX_LISTED } from '../text/firstFew.ts';

export interface Change {
  /** Plain map keys from the object's root. The walk reuses this array: copy it to keep it. */
  path: readonly string[];
  /** The value in the new object; undefined if it is removed. */
  value: unknown;
  writers: Writers;
}

type Visit = (change: Change) => void;

/** Visits the changes, each with the owners of the changed field. */
export function governedChanges(object: FluxObject, old: FluxObject, visit: Visit, writers = NO_WRITERS): void {
  const { metadata: now } = object;
  const { metadata: before } = old;
  compare(['spec'], object.spec, old.spec, writers, visit);
  compare(['metadata', 'annotations'], now.annotations, before.annotations, writers, (change) => {
    if (isGoverned(change.path[2]!)) visit(change);
  });
  if (sameJson(now.ownerReferences ?? [], before.ownerReferences ?? [])) return;
  const path = ['metadata', 'ownerReferences'];
  visit({ path, value: now.ownerReferences, writers: writersAt(path, writers) });
}

/** Visits the changes of labels. */
export function labelChanges(object: FluxObject, old: FluxObject, visit: Visit, writers: Writers): void {
  compare(['metadata', 'labels'], object.metadata.labels, old.metadata.labels, writers, visit);
}

function compare(path: string[], now: unknown, before: unknown, writers: Writers, visit: Visit): void {
  walk(now ?? {}, before ?? {}, path, writersAt(path, writers), visit);
}

function isGoverned(annotation: string): boolean {
  return [REQUIRED_GATES, BOUND_ROLLOUT, SUBSTITUTE].includes(annotation) || annotation.startsWith(`${SUBSTITUTE}.`);
}

/**
 * Visits the deepest map keys that differ. A list counts as one value, because it has one owner (Flux's lists are
 * atomic), and so does a value at the limit of nesting. A map that appears or disappears is compared key by key,
 * because field owners are recorded for the deepest keys.
 */
function walk(a: unknown, b: unknown, path: string[], writers: Writers, visit: Visit): void {
  if (path.length > LIMITS.nesting || !(hasFieldsBeside(a, b) || hasFieldsBeside(b, a))) {
    if (!sameJson(a, b)) visit({ path, value: a, writers });
    return;
  }
  const keys = Object.keys(a ?? {});
  for (const key of Object.keys(b ?? {})) if (!Object.hasOwn(a ?? {}, key)) keys.push(key);
  for (const key of keys.sort()) {
    const [below, belowBefore] = [childOf(a, key), childOf(b, key)];
    if (below === belowBefore) continue;
    path.push(key);
    walk(below, belowBefore, path, writers.at(key), visit);
    path.pop();
  }
}

function hasFieldsBeside(value: unknown, other: unknown): boolean {
  return isMap(value) && (isMap(other) || (other === undefined && Object.keys(value).length > 0));
}

const MAX_PATH_CHARACTERS = 300;

/** The first few paths, for a message: a write may change any number of fields. */
export class FewPaths {
  count = 0;
  readonly #first: string[] = [];

  add(path: readonly string[]): void {
    this.count++;
    if (this.#first.length < MAX_LISTED) this.#first.push(path.join('.').slice(0, MAX_PATH_CHARACTERS));
  }

  /** The first few paths, and the number of the others. */
  get text(): string {
    return firstFew(this.#first, MAX_LISTED, this.count);
  }
}
