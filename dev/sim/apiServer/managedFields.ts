/** managedFields as an API server keeps them: leaves of maps, a list as one value. */
import type { ManagedFieldsEntry } from '../../../api/kubernetes.ts';
import { isMap } from '../../../core/kube/json.ts';
import type { AnyObject } from '../../client/send.ts';

type Fields = Record<string, any>;

function leaves(value: unknown, path: readonly string[] = []): string[][] {
  if (!isMap(value) || Object.keys(value).length === 0) return [[...path]];
  return Object.keys(value).flatMap((key) => leaves(value[key], [...path, key]));
}

function owned({ spec, metadata: { annotations, labels } }: AnyObject): Map<string, string[]> {
  const root = { ...(spec && { spec }), metadata: { ...(annotations && { annotations }), ...(labels && { labels }) } };
  return new Map(leaves(root).map((path) => [JSON.stringify([path, valueAt(root, path)]), path]));
}

function valueAt(root: unknown, path: readonly string[]): unknown {
  return path.reduce<any>((at, key) => (isMap(at) && Object.hasOwn(at, key) ? at[key] : undefined), root);
}

function fieldsOf(paths: Iterable<readonly string[]>): Fields {
  const root: Fields = {};
  for (const path of paths) {
    let at = root;
    for (const key of path) {
      const name = `f:${key}`;
      if (!Object.hasOwn(at, name)) at[name] = {};
      at = at[name];
    }
  }
  return root;
}

function without(fields: Fields, paths: readonly (readonly string[])[]): Fields {
  const copy = structuredClone(fields);
  for (const path of paths) {
    const parent = valueAt(
      copy,
      path.slice(0, -1).map((key) => `f:${key}`),
    );
    if (isMap(parent)) delete parent[`f:${path.at(-1)}`];
  }
  return copy;
}

const OURS = /^(gate\.fluxcd\.io\/(state|suspended|selected-by|bypassed-by)|rollout\.kuberik\.com\/deployed)$/;

/**
 * The object with managedFields after the write: an apply owns the fields in its body, an update the fields that it
 * changes.
 */
export function withOwners(
  object: AnyObject,
  oldObject: AnyObject | undefined,
  manager: string,
  operation: 'Apply' | 'Update',
  said: AnyObject = object,
  now?: string,
): AnyObject {
  const before = oldObject ? owned(oldObject) : new Map<string, string[]>();
  const after = owned(object);
  const changed = [...after].filter(([key]) => !before.has(key)).map(([, path]) => path);
  const stays = new Set([...after.values()].map((path) => JSON.stringify(path)));
  const gone = [...before.values()].filter((path) => !stays.has(JSON.stringify(path)));
  const isMine = (entry: ManagedFieldsEntry) => entry.manager === manager && entry.operation === operation;
  const entries = oldObject?.metadata.managedFields ?? [];
  const isSame = changed.length === 0 && gone.length === 0;
  if (operation === 'Update' && isSame) return { ...object, metadata: { ...object.metadata, managedFields: entries } };
  const mine =
    operation === 'Apply'
      ? [...owned(said).values()].filter((path) => !OURS.test(path.at(-1)!) && stays.has(JSON.stringify(path)))
      : [...pathsOf(entries.find(isMine)), ...changed].filter((path) => stays.has(JSON.stringify(path)));
  const others = entries
    .filter((entry) => !isMine(entry))
    .map((entry) => ({ ...entry, fieldsV1: without(entry.fieldsV1 ?? {}, [...changed, ...gone]) }))
    .filter((entry) => pathsOf(entry).length > 0);
  const time = (isSame && entries.find(isMine)?.time) || now;
  const fieldsV1 = fieldsOf(mine);
  const entry: ManagedFieldsEntry = { manager, operation, ...(time && { time }), fieldsType: 'FieldsV1', fieldsV1 };
  return {
    ...object,
    metadata: { ...object.metadata, managedFields: [...others, ...(mine.length > 0 ? [entry] : [])] },
  };
}

/**
 * A forced server-side apply: removes fields that the manager applied before and no longer sends, unless another
 * manager owns them too.
 */
export function applied(said: AnyObject, old: AnyObject | undefined, manager: string): AnyObject {
  if (!old) return said;
  const result = structuredClone(merge(old, said)) as AnyObject;
  const entries = old.metadata.managedFields ?? [];
  const isMine = (entry: ManagedFieldsEntry) => entry.manager === manager && entry.operation === 'Apply';
  const keep = new Set(
    [...owned(said).values(), ...entries.filter((entry) => !isMine(entry)).flatMap(pathsOf)].map((path) =>
      JSON.stringify(path),
    ),
  );
  for (const path of pathsOf(entries.find(isMine))) {
    const parent = valueAt(result, path.slice(0, -1));
    if (!keep.has(JSON.stringify(path)) && isMap(parent)) delete parent[path.at(-1)!];
  }
  return result;
}

function merge(old: unknown, said: unknown): unknown {
  if (!isMap(old) || !isMap(said)) return said;
  const result = { ...old };
  for (const [key, value] of Object.entries(said)) result[key] = merge(old[key], value);
  return result;
}

function pathsOf(entry: ManagedFieldsEntry | undefined): string[][] {
  return leaves(entry?.fieldsV1 ?? {})
    .filter((path) => path.length > 0)
    .map((path) => path.map((key) => key.slice(2)));
}
