import type { KubeObject } from '../../../api/kubernetes.ts';
import type { CompositeRequest, ObjectMap } from '../../../api/metacontroller.ts';
import type { EventRecord, HookCall } from '../../../api/ports.ts';
import { clusterOf } from '../../webhooks/gate/call.ts';

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
  const events: EventRecord[] = [];
  const call: HookCall = {
    now: Date.parse(at),
    cluster: { ...clusterOf(objects), ...cluster },
    access: { may: async () => true },
    events: { record: (event) => void events.push(event) },
    metadata: { lookup: () => undefined },
    settings: {
      onFailure: 'Continue',
      metacontrollerUser: 'system:serviceaccount:mc:mc',
      glassBreakers: [],
      noCrossNamespaceRefs: false,
      ...settings,
    },
  };
  const controller: KubeObject = {
    apiVersion: 'metacontroller.k8s.io/v1alpha1',
    kind: 'CompositeController',
    metadata: {},
  };
  const request: CompositeRequest = { controller, parent, children, related, finalizing: false };
  return { request, call, events };
}
