/**
 * The writers of changed fields: whether an apply made the change, by the field's owner after the write. The options of
 * the request don't show it, because the API server sends UpdateOptions for patches too (docs/facts.md, F11).
 */
import { LAST_APPLIED } from '../../api/annotations.ts';
import type { AnyObject, EpochMs, ManagedFieldsEntry } from '../../api/kubernetes.ts';
import { childOf, sameJson } from './json.ts';
import { latestTime, parseTime } from './time.ts';

/**
 * The owners of a field after a write. A caller walks down key by key together with the object, so that a write with
 * many changes reads managedFields and both last-applied annotations once, and no path twice.
 */
export interface Writers {
  /** The owners of a map's key. */
  at(key: string): Writers;
  /** Whether an apply set the value: a server-side apply, or a client-side apply that repeats its literal. */
  applied(value: unknown): boolean;
  /** Whether a client-side apply that repeats its literal set the value. */
  repeated(value: unknown): boolean;
}

/** The owners of an object's root. `old` is absent on CREATE. */
export function writersOf(object: AnyObject, old: AnyObject | undefined): Writers {
  return writers(ownersOf(mainEntries(object)), lastApplied(old), lastApplied(object));
}

function writers(owners: Owners, before: unknown, after: unknown): Writers {
  return {
    at: (key) => writers(ownersBelow(owners, key), childOf(before, key), childOf(after, key)),
    applied: (value) => isServerSide(owners) || isRepeated(before, after, value),
    repeated: (value) => isRepeated(before, after, value),
  };
}

/** The owners at a path. */
export function writersAt(path: readonly string[], root: Writers): Writers {
  return path.reduce((found, key) => found.at(key), root);
}

/** The owners for a caller that doesn't need them. */
export const NO_WRITERS: Writers = { at: () => NO_WRITERS, applied: () => false, repeated: () => false };

/** Whether the request of this field manager is a server-side apply; with `path`, whether it applies that field. */
export function isApplyBy(manager: string | undefined, object: AnyObject, path: readonly string[] = []): boolean {
  const entries = mainEntries(object).filter((entry) => entry.operation === 'Apply' && entry.manager === manager);
  if (path.length === 0) return entries.length > 0;
  return path.reduce(ownersBelow, ownersOf(entries)).byApply;
}

/** Whether a server-side apply is the only owner of the field. */
function isServerSide({ byApply, byOther, whole }: Owners): boolean {
  const owner = byApply || byOther ? { byApply, byOther } : whole;
  return owner.byApply && !owner.byOther;
}

/**
 * Whether a client-side `kubectl apply` repeated the literal that it had applied before. If so, the old and the new
 * last-applied annotation have the same value of the field, and the object has it now.
 */
function isRepeated(before: unknown, after: unknown, value: unknown): boolean {
  return after !== undefined && sameJson(before, after) && sameJson(after, value);
}

/** The last write of a field outside the status, `scale` included: the API server records it for each field manager. */
export function lastSpecChange({ metadata }: AnyObject): EpochMs | undefined {
  const fields = (metadata.managedFields ?? []) as { subresource?: string; time?: string }[];
  return latestTime([
    parseTime(metadata.creationTimestamp),
    ...fields.filter(({ subresource }) => subresource !== 'status').map(({ time }) => parseTime(time)),
  ]);
}

function mainEntries(object: AnyObject): ManagedFieldsEntry[] {
  return (object.metadata.managedFields ?? []).filter((entry) => !entry.subresource);
}

function lastApplied(object: AnyObject | undefined): unknown {
  try {
    return JSON.parse(object?.metadata.annotations?.[LAST_APPLIED] ?? 'null');
  } catch {
    return undefined;
  }
}

interface Operations {
  byApply: boolean;
  byOther: boolean;
}

/** All entries of managedFields as one tree of owners. */
interface Owners extends Operations {
  /** Operations that own a map above the field as a whole: their entries list that map and nothing inside it. */
  whole: Operations;
  node: Node | undefined;
}

interface Node extends Operations {
  /** Operations whose entries list this key and nothing inside it. */
  whole: Operations;
  children: Map<string, Node>;
}

const NO_OPERATIONS: Operations = { byApply: false, byOther: false };
const NO_OWNERS: Owners = { ...NO_OPERATIONS, whole: NO_OPERATIONS, node: undefined };

/** The owners of the root, as a tree. */
function ownersOf(entries: readonly ManagedFieldsEntry[]): Owners {
  const root = newNode();
  for (const { operation, fieldsV1 } of entries) add(root, fieldsV1, operation === 'Apply' ? 'byApply' : 'byOther');
  return { ...NO_OWNERS, node: root };
}

function ownersBelow({ node, whole: above }: Owners, key: string): Owners {
  const child = node?.children.get(`f:${key}`);
  const whole: Operations = node
    ? { byApply: above.byApply || node.whole.byApply, byOther: above.byOther || node.whole.byOther }
    : above;
  return { byApply: child?.byApply ?? false, byOther: child?.byOther ?? false, whole, node: child };
}

/** Adds the fields of an entry to the tree. Not recursive: JSON may be deeper than the stack. */
function add(root: Node, fieldsV1: unknown, operation: keyof Operations): void {
  const todo: [Node, unknown][] = [[root, fieldsV1]];
  while (todo.length > 0) {
    const [node, fields] = todo.pop()!;
    if (typeof fields !== 'object' || fields === null) continue;
    const entries = Object.entries(fields);
    if (entries.length === 0 && node !== root) node.whole[operation] = true;
    for (const [key, below] of entries) {
      if (!key.startsWith('f:')) continue;
      const child = node.children.get(key) ?? newNode();
      node.children.set(key, child);
      child[operation] = true;
      todo.push([child, below]);
    }
  }
}

function newNode(): Node {
  return { ...NO_OPERATIONS, whole: { ...NO_OPERATIONS }, children: new Map() };
}
