/** Objects in the maps that Metacontroller sends, in any API version. */
import type { AnyObject, KubeObject } from '../../api/kubernetes.ts';
import type { ObjectMap } from '../../api/metacontroller.ts';
import { refKey } from './names.ts';

/** A row of api/kinds.ts, or its plural and API group alone. */
type GroupKind = { group: string; kind: string };

/** All objects of a kind, sorted by namespace and name, because the order of the map is random. */
export function objectsOf<T extends AnyObject = KubeObject>(map: ObjectMap, of: GroupKind): T[] {
  const entries: [string, KubeObject][] = [];
  for (const [key, objects] of Object.entries(map ?? {})) {
    if (isKeyOfKind(key, of)) entries.push(...Object.entries(objects ?? {}));
  }
  return entries.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)).map(([, object]) => object as unknown as T);
}

/** The object; undefined if it is not in the map. The namespace is undefined for cluster-scoped kinds. */
export function objectAt<T extends AnyObject = KubeObject>(
  map: ObjectMap,
  of: GroupKind,
  namespace: string | undefined,
  name: string,
): T | undefined {
  const path = refKey({ namespace: namespace ?? '', name });
  for (const [key, objects] of Object.entries(map ?? {})) {
    if (isKeyOfKind(key, of) && objects?.[path]) return objects[path] as unknown as T;
  }
  return undefined;
}

/** Whether Metacontroller sends objects of the kind: a map, even if empty, for each kind that a rule or child names. */
export function sendsKind(map: ObjectMap, of: GroupKind): boolean {
  return Object.keys(map ?? {}).some((key) => isKeyOfKind(key, of));
}

function isKeyOfKind(key: string, { group, kind }: GroupKind): boolean {
  if (group === '') return key === `${kind}.v1`;
  return key.startsWith(`${kind}.${group}/`);
}
