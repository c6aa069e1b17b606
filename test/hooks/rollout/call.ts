/** Ports for the Rollout's hooks: a cluster that answers from a list of objects, and remembers what was asked. */
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { CompositeRequest, ObjectMap } from '../../../api/metacontroller.ts';
import type { ClusterReader, EventRecord, HookCall } from '../../../api/ports.ts';
import type { Rollout } from '../../../api/types.ts';

export const NOW = Date.parse('2026-03-01T12:00:00Z');

export interface FakeCluster {
  /** What live reads find. */
  objects?: KubeObject<any, any>[];
  serves?: (apiVersion: string) => boolean;
  fails?: boolean;
  settings?: Partial<HookCall['settings']> | undefined;
}

export function fakeCall({ objects = [], serves = () => true, fails = false, settings }: FakeCluster = {}) {
  const reads: string[] = [];
  const events: EventRecord[] = [];
  const find = (verb: string, ref: { resource: string; namespace?: string; name?: string; fieldSelector?: string }) => {
    reads.push([verb, ref.resource, ref.namespace, ref.name ?? ref.fieldSelector].filter(Boolean).join(' '));
    if (fails) throw new Error('the API server does not answer');
    const plural = (kind: string) => `${kind.toLowerCase()}s`.replace(/ys$/, 'ies');
    return objects.filter(
      ({ kind, metadata }) =>
        plural(kind) === ref.resource &&
        metadata.namespace === ref.namespace &&
        (!ref.name || metadata.name === ref.name),
    );
  };
  const cluster: ClusterReader = {
    get: async (ref) => find('get', ref)[0] as never,
    list: async (ref) => find('list', ref) as never,
    listMetadata: async (ref) => find('listMetadata', ref),
    serves: async ({ apiVersion }) => serves(apiVersion),
    resourceOf: async () => undefined,
  };
  const call: HookCall = {
    now: NOW,
    cluster,
    access: { may: async () => true },
    events: { record: (event) => events.push(event) },
    metadata: { lookup: () => ({}) },
    settings: {
      onFailure: 'Continue',
      metacontrollerUser: 'metacontroller',
      glassBreakers: [],
      noCrossNamespaceRefs: false,
      ...settings,
    },
  };
  return { call, reads, events };
}

export function rollout(spec: Partial<Rollout['spec']> = {}, status?: Rollout['status'], name = 'app'): Rollout {
  return {
    apiVersion: 'kuberik.com/v1alpha1',
    kind: 'Rollout',
    metadata: { name, namespace: 'team-a', uid: `uid-of-${name}`, generation: 1 },
    spec: { releasesImagePolicy: { name: 'policy' }, ...spec },
    ...(status && { status }),
  };
}

export function imagePolicy(tag: string, apiVersion = 'image.toolkit.fluxcd.io/v1'): KubeObject<any, any> {
  const spec = { imageRepositoryRef: { name: 'app' }, policy: { semver: { range: '*' } } };
  return object(apiVersion, 'ImagePolicy', 'policy', spec, { latestRef: { name: 'registry.example/app', tag } });
}

export function object(
  apiVersion: string,
  kind: string,
  name: string,
  spec: object,
  status?: object,
): KubeObject<any, any> {
  return {
    apiVersion,
    kind,
    metadata: { name, namespace: 'team-a' },
    spec: spec as any,
    ...(status && { status: status as any }),
  };
}

export function request(parent: Rollout, related: KubeObject<any, any>[]): CompositeRequest {
  const map: ObjectMap = {};
  for (const item of related) {
    const key = `${item.kind}.${item.apiVersion}`;
    map[key] ??= {};
    map[key][`${item.metadata.namespace}/${item.metadata.name}`] = item;
  }
  const controller = { apiVersion: 'metacontroller.k8s.io/v1alpha1', kind: 'CompositeController', metadata: {} };
  return {
    controller,
    parent: parent as KubeObject<any, any>,
    children: { 'ConfigMap.v1': {} },
    related: map,
    finalizing: false,
  };
}
