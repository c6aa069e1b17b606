/** managedFields as an API server keeps them: leaves of maps, a list as one value. */
import type { ManagedFieldsEntry } from '../../../api/kubernetes.ts';
import type { AnyObject } from './apiServer.ts';

type Fields = Record<string, any>;

const isMap = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value);

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

/** The object with the entries that this write leaves: an apply owns all it says, an update what it changes. */
export function withOwners(
  object: AnyObject,
  oldObject: AnyObject | undefined,
  manager: string,
  operation: 'Apply' | 'Update',
): AnyObject {
  const before = oldObject ? owned(oldObject) : new Map<string, string[]>();
  const changed = [...owned(object)].filter(([key]) => !before.has(key)).map(([, path]) => path);
  const mine = operation === 'Apply' ? [...owned(object).values()].filter((path) => !OURS.test(path.at(-1)!)) : changed;
  const entries = (oldObject?.metadata.managedFields ?? [])
    .filter((entry) => !(entry.manager === manager && entry.operation === operation))
    .map((entry) => ({ ...entry, fieldsV1: without(entry.fieldsV1 ?? {}, changed) }));
  const entry: ManagedFieldsEntry = { manager, operation, fieldsType: 'FieldsV1', fieldsV1: fieldsOf(mine) };
  return { ...object, metadata: { ...object.metadata, managedFields: [...entries, entry] } };
}
