/** Calls of the Rollout's hooks, and their objects. */
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { HookCall } from '../../../api/ports.ts';
import type { Rollout } from '../../../api/types.ts';
import { type ClusterRequest, fakeCluster, fakeHookCall } from '../../../dev/fakes/ports.ts';
import { composing } from '../../../dev/fakes/requests.ts';
import { kubeObject, objectOf } from '../../support/objects.ts';

export const NOW = Date.parse('2026-03-01T12:00:00Z');

export interface Around {
  /** Objects that live reads find. */
  objects?: KubeObject<any, any>[];
  serves?: (apiVersion: string) => boolean;
  /** Whether all reads fail, or those of one resource. */
  fails?: boolean | string;
  settings?: Partial<HookCall['settings']> | undefined;
}

export function fakeCall({ objects = [], serves = () => true, fails = false, settings }: Around = {}) {
  const fail = ({ resource }: ClusterRequest) =>
    fails === true || fails === resource ? 'the API server does not answer' : undefined;
  const cluster = fakeCluster(objects, { serves, fails: fail });
  const { call, events, counts } = fakeHookCall({
    now: NOW,
    cluster,
    metadata: { lookup: () => ({}), isAwaited: () => false },
    settings: { metacontrollerUser: 'metacontroller', ...settings },
  });
  return { call, reads: cluster.reads, events, counts };
}

export function rollout(spec: Partial<Rollout['spec']> = {}, status?: Rollout['status'], name = 'app'): Rollout {
  return objectOf('Rollout', `team-a/${name}`, {
    metadata: { uid: `uid-of-${name}`, generation: 1 },
    spec: { releasesImagePolicy: { name: 'policy' }, ...spec },
    ...(status && { status }),
  });
}

export function imagePolicy(tag: string, apiVersion = 'image.toolkit.fluxcd.io/v1'): KubeObject<any, any> {
  const spec = { imageRepositoryRef: { name: 'app' }, policy: { semver: { range: '*' } } };
  return object(apiVersion, 'ImagePolicy', 'policy', spec, { latestRef: { name: 'registry.example/app', tag } });
}

export const object = (apiVersion: string, kind: string, name: string, spec: object, status?: object) =>
  kubeObject(apiVersion, kind, `team-a/${name}`, { spec, ...(status && { status }) });

export const request = (parent: KubeObject<any, any>, related: KubeObject<any, any>[]) =>
  composing(parent, { related, children: { 'ConfigMap.v1': {} } });
