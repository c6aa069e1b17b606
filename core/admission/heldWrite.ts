/**
 * What a closed Gate makes of a write: a sync from Git is held, everything else is refused (docs/reference/writes.md,
 * W10 to W17).
 */
import { BOUND_ROLLOUT, REQUIRED_GATES, SUBSTITUTE } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import { firstFew, MAX_LISTED } from '../kube/firstFew.ts';
import { childOf, isMap, sameJson } from '../kube/json.ts';
import { isApplyBy, NO_WRITERS, type Writers, writersOf } from '../kube/writers.ts';
import { LIMITS } from '../limits.ts';
import { withStoredForm } from './storedForm.ts';

interface HeldWrite {
  object: FluxObject;
  oldObject: FluxObject;
  /** From the request's options: the manager that owns what an apply writes. */
  fieldManager: string | undefined;
  /** The field manager is one of a controller that applies from Git. */
  isSync: boolean;
  /** The garbage collector takes owner references away. */
  bySystemDeleter: boolean;
  /** Whether the write changes labels by which a closed Gate selects the object: that would be a way out. */
  leavesSelection: boolean;
}

type HeldOutcome =
  /** Nothing that gates govern changes. The object is the writer's, in its stored form. */
  | { is: 'free'; object: FluxObject }
  /** To be stored as it was. */
  | { is: 'held'; object: FluxObject }
  /** Refused: what it would change, for the message. */
  | { is: 'refused'; paths: FewPaths };

/**
 * A write that would be refused is decided again with its equivalent values in their stored form (storedForm.ts).
 * It is stored so too: behind a closed Gate no spec changes and no generation moves.
 */
export function decideHeld(write: HeldWrite): HeldOutcome {
  const outcome = decideAsWritten(write);
  if (outcome.is !== 'refused') return outcome;
  const object = withStoredForm(write.object, write.oldObject);
  return object === write.object ? outcome : decideAsWritten({ ...write, object });
}

function decideAsWritten(write: HeldWrite): HeldOutcome {
  const { object, oldObject, fieldManager, isSync, bySystemDeleter } = write;
  const writers = writersOf(object, oldObject);
  const removes = isSync && (isApplyBy(fieldManager, object) || isApplyBy(fieldManager, oldObject));
  // A removed field has no owner; the removal counts as the sync's if the sync is an apply.
  // A value that `kubectl apply` repeats is not a user's change.
  const isOfSync = ({ value, writers }: HeldChange) => {
    if (value === undefined) return removes;
    return isSync ? writers.applied(value) : writers.repeated(value);
  };
  const direct = new FewPaths();
  let hasHeld = false;
  const check = (change: HeldChange, isFreeOtherwise: boolean) => {
    if (isOfSync(change)) hasHeld = true;
    else if (!isFreeOtherwise) direct.add(change.path);
  };
  const seeGoverned: See = (change) => {
    const isCleaned = bySystemDeleter && change.path[1] === 'ownerReferences';
    if (!isCleaned && !suspends(change)) check(change, false);
  };
  governedChanges(object, oldObject, seeGoverned, writers);
  labelChanges(object, oldObject, (change) => check(change, !write.leavesSelection), writers);
  if (direct.count > 0) return { is: 'refused', paths: direct };
  return hasHeld ? { is: 'held', object: withStoredContent(object, oldObject) } : { is: 'free', object };
}

/**
 * Whether the change sets spec.suspend to true: a closed Gate does that anyway, and if the webhook is called twice, the
 * first call has done it.
 */
function suspends({ path, value }: HeldChange): boolean {
  return path.length === 2 && path[0] === 'spec' && path[1] === 'suspend' && value === true;
}

/**
 * The old object for all that an apply writes. managedFields too: an apply that drops a field gives up its ownership,
 * and a removal that was held would be forgotten forever (docs/facts.md, F3).
 */
function withStoredContent(object: FluxObject, { metadata: old, spec }: FluxObject): FluxObject {
  const { labels: _l, annotations: _a, ownerReferences: _o, managedFields: _m, ...rest } = object.metadata;
  const { labels, annotations, ownerReferences, managedFields } = old;
  const kept = Object.entries({ labels, annotations, ownerReferences, managedFields }).filter(([, value]) => value);
  return { ...object, metadata: { ...rest, ...Object.fromEntries(kept) }, ...(spec && { spec }) };
}

// What a write changes of what a closed Gate holds.

export interface HeldChange {
  /** Plain map keys from the object's root. The walk reuses this array: copy it to keep it. */
  path: readonly string[];
  /** What the new object has there; undefined: nothing. */
  value: unknown;
  writers: Writers;
}

export type See = (change: HeldChange) => void;

/** The spec, the annotations that name Gates and Rollouts, and the owner references, if they differ. */
export function governedChanges(object: FluxObject, oldObject: FluxObject, see: See, writers = NO_WRITERS): void {
  const { metadata: now } = object;
  const { metadata: before } = oldObject;
  compare(['spec'], object.spec, oldObject.spec, writers, see);
  compare(['metadata', 'annotations'], now.annotations, before.annotations, writers, (change) => {
    if (isGoverned(change.path[2]!)) see(change);
  });
  if (sameJson(now.ownerReferences ?? [], before.ownerReferences ?? [])) return;
  const path = ['metadata', 'ownerReferences'];
  see({ path, value: now.ownerReferences, writers: writersAt(path, writers) });
}

function labelChanges(object: FluxObject, oldObject: FluxObject, see: See, writers = NO_WRITERS): void {
  compare(['metadata', 'labels'], object.metadata.labels, oldObject.metadata.labels, writers, see);
}

function compare(path: string[], now: unknown, before: unknown, writers: Writers, see: See): void {
  walk(now ?? {}, before ?? {}, path, writersAt(path, writers), see);
}

function writersAt(path: readonly string[], writers: Writers): Writers {
  return path.reduce((found, key) => found.at(key), writers);
}

function isGoverned(annotation: string): boolean {
  return [REQUIRED_GATES, BOUND_ROLLOUT, SUBSTITUTE].includes(annotation) || annotation.startsWith(`${SUBSTITUTE}.`);
}

/**
 * The deepest map keys that differ; a list counts as one value, as it does for its owners (Flux's lists are atomic),
 * and so does what is nested deeper than the limit.
 * A whole map that appears or disappears is compared leaf by leaf: it is the leaves that have owners.
 */
function walk(a: unknown, b: unknown, path: string[], writers: Writers, see: See): void {
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
    walk(below, belowBefore, path, writers.at(key), see);
    path.pop();
  }
}

function hasFieldsBeside(value: unknown, other: unknown): boolean {
  return isMap(value) && (isMap(other) || (other === undefined && Object.keys(value).length > 0));
}

const MAX_PATH = 300;

/** Paths for a message: a write may change any number of fields, with names of any length. */
export class FewPaths {
  count = 0;
  readonly #first: string[] = [];

  add(path: readonly string[]): void {
    this.count++;
    if (this.#first.length < MAX_LISTED) this.#first.push(path.join('.').slice(0, MAX_PATH));
  }

  /** The first few, and how many more. */
  get text(): string {
    return firstFew(this.#first, this.count);
  }
}
