import type { KubeObject } from '../../api/kubernetes.ts';
import type { CompositeRequest, ObjectMap } from '../../api/metacontroller.ts';
import type { HookCall } from '../../api/ports.ts';
import { fakeCluster, fakeHookCall } from '../../dev/fakes/ports.ts';
import { controller } from '../../dev/fakes/requests.ts';

export interface Around {
  at: string;
  objects?: KubeObject<any, any>[];
  related?: ObjectMap;
  children?: ObjectMap;
  cluster?: Partial<HookCall['cluster']>;
  settings?: Partial<HookCall['settings']>;
}

/** A sync request and its call. */
export function syncCall(
  parent: KubeObject<any, any>,
  { at, objects = [], related = {}, children = {}, cluster, settings }: Around,
) {
  const { call, events } = fakeHookCall({
    now: Date.parse(at),
    cluster: { ...fakeCluster(objects), ...cluster },
    settings,
  });
  const request: CompositeRequest<any> = { controller, parent, children, related, finalizing: false };
  return { request, call, events };
}
