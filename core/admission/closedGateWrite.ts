/**
 * A write behind a closed Gate: a Git sync, or a `kubectl apply` that repeats its literal, is reverted; any other
 * change of what Gates govern is denied (docs/reference/writes.md).
 */
import { BOUND_ROLLOUT, REQUIRED_GATES, SUBSTITUTE } from '../../api/annotations.ts';
import type { FluxObject } from '../../api/flux.ts';
import { childOf, isMap, sameJson } from '../kube/json.ts';
import { isSystemDeleter } from '../kube/users.ts';
import { isApplyBy, NO_WRITERS, type Writers, writersAt, writersOf } from '../kube/writers.ts';
import { LIMITS } from '../limits.ts';
import { escapesSelection, type GateContext } from '../objectGates/objectGates.ts';
import { firstFew, MAX_LISTED } from '../text/firstFew.ts';
import { withStoredForm } from './storedForm.ts';

/** The part of a `FluxWrite` that decides it behind a closed Gate. */
interface HeldWrite {
  object: FluxObject;
  old: FluxObject;
  context: GateContext;
  user: string;
  fieldManager?: string;
  isSync?: boolean;
  /** Whether the write is a decorator's that suspends the object: then another webhook may have changed the spec. */
  beginsHold: boolean;
}

type ClosedGateOutcome =
  /**
   * The write changes nothing that Gates govern: `object` is the writer's, with equivalent values in their stored form.
   */
  | { is: 'passes'; object: FluxObject }
  /** A later sync repeats the changes: `object` is the stored one. */
  | { is: 'reverted'; object: FluxObject }
  /** `paths`: the fields that the write would change, for the message. */
  | { is: 'denied'; paths: string };

/**
 * Whether the write passes, is reverted or is denied. A value that the write changes in form only keeps its stored
 * form, so that neither spec nor generation changes behind a closed Gate.
 */
export function decideBehindClosedGate(write: HeldWrite): ClosedGateOutcome {
  const { old, fieldManager, context } = write;
  const object = withStoredForm(write.object, old);
  const isApply = isApplyBy(fieldManager, object) || isApplyBy(fieldManager, old);
  const escapes = escapesSelection(object, old, context);
  const denied = new FewPaths();
  let isReverted = false;
  const visit = (change: Change) => {
    if (isAlwaysFree(change, write)) return;
    if (isReappliedLater(change, write, isApply)) isReverted = true;
    // A user may change labels by which no Gate selects the object.
    else if (escapes || !isLabel(change)) denied.add(change.path);
  };
  const writers = writersOf(object, old);
  governedChanges(object, old, visit, writers);
  compare(['metadata', 'labels'], object.metadata.labels, old.metadata.labels, writers, visit);
  if (denied.count > 0) return { is: 'denied', paths: denied.text };
  return isReverted ? { is: 'reverted', object: withStoredContent(object, old) } : { is: 'passes', object };
}

/**
 * Whether a later apply repeats the change, so that it can be reverted without loss. A user's other changes are denied
 * instead, so that the user notices.
 *
 * | writer | sets a value | removes a field, which then has no owner |
 * |---|---|---|
 * | a Git sync | if an apply owns the value | if the sync is an apply |
 * | another one | if it repeats the literal of its last `kubectl apply` | never |
 */
function isReappliedLater({ value, writers }: Change, { isSync = false }: HeldWrite, isApply: boolean): boolean {
  if (value === undefined) return isSync && isApply;
  return isSync ? writers.applied(value) : writers.repeated(value);
}

/** Whether a closed Gate always allows the change. */
function isAlwaysFree({ path, value }: Change, { user, beginsHold }: HeldWrite): boolean {
  // The garbage collector removes owner references.
  if (path[1] === 'ownerReferences' && isSystemDeleter(user)) return true;
  if (beginsHold && path[0] === 'spec') return true;
  // A closed Gate suspends the object too. The user's suspension stays after the opening.
  return path.length === 2 && path[0] === 'spec' && path[1] === 'suspend' && value === true;
}

function isLabel({ path }: Change): boolean {
  return path[0] === 'metadata' && path[1] === 'labels';
}

/**
 * The new object with everything that an apply writes as it was stored, including managedFields. An apply that drops a
 * field also gives up its ownership: without that, a reverted removal would never be repeated (docs/facts.md, F3).
 */
function withStoredContent(object: FluxObject, { metadata: before, spec }: FluxObject): FluxObject {
  const { labels: _l, annotations: _a, ownerReferences: _o, managedFields: _m, ...rest } = object.metadata;
  const { labels, annotations, ownerReferences, managedFields } = before;
  const stored = Object.entries({ labels, annotations, ownerReferences, managedFields }).filter(([, value]) => value);
  return { ...object, metadata: { ...rest, ...Object.fromEntries(stored) }, ...(spec && { spec }) };
}

// The changes of a write. They are visited, not listed, because a hostile write may have any number of them.

interface Change {
  /** Plain map keys from the object's root. The walk reuses this array: copy it to keep it. */
  path: readonly string[];
  /** The value in the new object; undefined if it is removed. */
  value: unknown;
  writers: Writers;
}

type Visit = (change: Change) => void;

/** Visits the changes of the spec, of annotations that name Gates or Rollouts, and of the owner references. */
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
