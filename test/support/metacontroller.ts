/** Requests of Metacontroller to hooks. */
import type { KubeObject } from '../../api/kubernetes.ts';
import type { DecoratorRequest, ObjectMap } from '../../api/metacontroller.ts';

type AnyObject = KubeObject<any, any>;

export const controller: KubeObject = { apiVersion: 'v1', kind: 'Controller', metadata: { name: 'c' } };

/** Objects as Metacontroller sends them: by kind, then by namespace and name. */
export function mapOf(...objects: (AnyObject | undefined)[]): ObjectMap {
  const map: ObjectMap = {};
  for (const object of objects) {
    if (!object) continue;
    const { namespace, name } = object.metadata;
    const kind = `${object.kind}.${object.apiVersion}`;
    map[kind] ??= {};
    map[kind][namespace ? `${namespace}/${name}` : `${name}`] = object;
  }
  return map;
}

/** The request of a decorator's sync. `attachments` as a map, if missing kinds matter. */
export function decorating(
  object: AnyObject,
  { related = [], attachments = [] }: { related?: readonly AnyObject[]; attachments?: AnyObject[] | ObjectMap } = {},
): DecoratorRequest {
  const own = Array.isArray(attachments) ? mapOf(...attachments) : attachments;
  return { controller, object, attachments: own, related: mapOf(...related), finalizing: false };
}
