/** Names, owners and JSON text of Kubernetes objects. Objects in caches are shared by everybody and never changed. */
import type { KubeObject, OwnerReference } from '../../../api/kubernetes.ts';

/** Objects by `Kind.group/version`, then `namespace/name`: the shape of hook requests of version v2. */
export type ObjectGroups = Map<string, Map<string, KubeObject>>;

/** `namespace/name`, or `name` for a cluster-scoped object. */
export function keyOf(object: KubeObject): string {
  const { namespace, name } = object.metadata;
  return namespace ? `${namespace}/${name}` : `${name}`;
}

/** `Kind.group/version`; `Kind.v1` for the core group. */
export function kindKey(apiVersion: string, kind: string): string {
  return `${kind}.${apiVersion}`;
}

export function controllerOf(object: KubeObject): OwnerReference | undefined {
  return object.metadata.ownerReferences?.find((owner) => owner.controller === true);
}

export function controllerReference(parent: KubeObject): OwnerReference {
  return {
    apiVersion: parent.apiVersion,
    kind: parent.kind,
    name: parent.metadata.name ?? '',
    uid: parent.metadata.uid ?? '',
    controller: true,
    blockOwnerDeletion: true,
  };
}

/** For messages: `Kustomization apps/shop`. */
export function describe(object: KubeObject): string {
  return `${object.kind} ${keyOf(object)}`;
}

export function addGroup(groups: ObjectGroups, apiVersion: string, kind: string): Map<string, KubeObject> {
  const key = kindKey(apiVersion, kind);
  const existing = groups.get(key);
  if (existing) return existing;
  const created = new Map<string, KubeObject>();
  groups.set(key, created);
  return created;
}

export function addObject(groups: ObjectGroups, object: KubeObject): void {
  addGroup(groups, object.apiVersion, object.kind).set(keyOf(object), object);
}

/** JSON texts, made once per version of an object: a Gate may be related to hundreds of parents. */
const texts = new WeakMap<KubeObject, string>();

export function jsonText(object: KubeObject): string {
  let text = texts.get(object);
  if (text === undefined) {
    text = JSON.stringify(object);
    texts.set(object, text);
  }
  return text;
}

export function groupsText(groups: ObjectGroups): string {
  const kinds: string[] = [];
  for (const [kind, objects] of groups) {
    const members: string[] = [];
    for (const [key, object] of objects) members.push(`${JSON.stringify(key)}:${jsonText(object)}`);
    kinds.push(`${JSON.stringify(kind)}:{${members.join()}}`);
  }
  return `{${kinds.join()}}`;
}
