import type { KubeObject } from '../../api/kubernetes.ts';
import type { CompositeRequest, DecoratorRequest, ObjectMap } from '../../api/metacontroller.ts';
import type { HookCall } from '../../api/ports.ts';
import { fakeCluster, fakeHookCall } from '../../dev/fakes/ports.ts';

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

/** What a decorator's sync is sent. `attachments` as a map where the kinds that are missing count, too. */
export function decorating(
  object: AnyObject,
  { related = [], attachments = [] }: { related?: readonly AnyObject[]; attachments?: AnyObject[] | ObjectMap } = {},
): DecoratorRequest {
  const own = Array.isArray(attachments) ? mapOf(...attachments) : attachments;
  return { controller, object, attachments: own, related: mapOf(...related), finalizing: false };
}

export interface Around {
  at: string;
  objects?: KubeObject<any, any>[];
  related?: ObjectMap;
  children?: ObjectMap;
  cluster?: Partial<HookCall['cluster']>;
  settings?: Partial<HookCall['settings']>;
}

/** A sync request and the call that comes with it. */
export function syncCall(
  parent: KubeObject<any, any>,
  { at, objects = [], related = {}, children = {}, cluster, settings }: Around,
) {
  const { call, events } = fakeHookCall({
    now: Date.parse(at),
    cluster: { ...fakeCluster(objects), ...cluster },
    settings,
  });
  const request: CompositeRequest = { controller, parent, children, related, finalizing: false };
  return { request, call, events };
}
