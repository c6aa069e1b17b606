/** A HealthCheck and a few objects, synced until nothing changes, as by Metacontroller. */
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { ClusterReader, HookCall } from '../../../api/ports.ts';
import type { HealthCheck, Rollout } from '../../../api/types.ts';
import type { HealthStatus } from '../../../core/health/healthStatus.ts';
import { fakeCluster, fakeHookCall } from '../../../dev/fakes/ports.ts';
import { decorating } from '../../../dev/fakes/requests.ts';
import { healthCheckHook } from '../../../hooks/healthCheck/healthCheckHook.ts';
import { kubeObject, objectOf } from '../../support/objects.ts';

export const NOW = Date.parse('2026-01-02T12:00:00Z');
export const at = (time: string) => `2026-01-02T${time}Z`;

/** @param broken resources whose reads fail with this text */
export const cluster = (objects: readonly KubeObject<any, any>[], broken: Record<string, string> = {}) =>
  fakeCluster(objects, { fails: ({ resource }) => broken[resource] });

export function healthCheck(fields: Partial<HealthCheck> & { annotations?: Record<string, string> } = {}): HealthCheck {
  const { annotations = { 'healthcheck.kuberik.com/kustomization': 'test-kustomization' }, metadata, ...rest } = fields;
  return objectOf('HealthCheck', {
    metadata: { name: 'hc', namespace: 'demo', annotations, ...metadata },
    spec: { class: 'kustomization' },
    ...rest,
  });
}

export function rollout(head?: object, spec: object = {}, metadata: object = {}): Rollout {
  return objectOf('Rollout', {
    metadata: { name: 'test-rollout', namespace: 'demo', uid: 'u1', ...metadata },
    spec: { releasesImagePolicy: {}, ...spec },
    ...(head && { status: { history: [{ version: { tag: '1.0.0' }, timestamp: '', ...head }] } }),
  });
}

export async function syncOnce(
  object: HealthCheck,
  reader: ClusterReader,
  rollouts: readonly Rollout[] = [],
  now = NOW,
  settings: Partial<HookCall['settings']> = {},
  access: HookCall['access'] = { may: async () => true },
  kustomizations: readonly KubeObject[] = [],
) {
  const { call } = fakeHookCall({ now, cluster: reader, access, settings });
  return healthCheckHook.sync(decorating(object, { related: [...rollouts, ...kustomizations] }), call);
}

/** All statuses until nothing changes, a second apart. @throws if it never stops changing */
export async function settle(object: HealthCheck, reader: ClusterReader, rollouts: readonly Rollout[] = [], now = NOW) {
  const statuses: HealthStatus[] = [];
  let current = object;
  for (let pass = 0; pass < 5; pass++) {
    const answer = await syncOnce(current, reader, rollouts, now + pass * 1000);
    if (!answer.status) return { statuses, status: current.status, resyncAfterSeconds: answer.resyncAfterSeconds };
    current = { ...current, status: answer.status as HealthStatus };
    statuses.push(current.status!);
  }
  throw new Error(`still changing after ${statuses.length} passes: ${JSON.stringify(statuses)}`);
}

/** Never reconciled, as created, unless a status is given. */
export function kustomization(status: object = {}, fields: object = {}): KubeObject {
  return objectOf('Kustomization', 'demo/test-kustomization', {
    metadata: { generation: 1 },
    spec: { sourceRef: { kind: 'GitRepository', name: 'absent' } },
    status: { observedGeneration: -1, ...status },
    ...fields,
  });
}

export const READY = { observedGeneration: 1, conditions: [{ type: 'Ready', status: 'True' }] };
export const INVENTORY = { inventory: { entries: [{ id: 'demo_test-deployment_apps_Deployment', v: 'v1' }] } };

export function deployment(conditions: object[], counters: object = {}): KubeObject {
  return kubeObject('apps/v1', 'Deployment', 'demo/test-deployment', {
    metadata: { generation: 1 },
    spec: { replicas: 1 },
    status: { observedGeneration: 1, ...counters, conditions },
  });
}
export const one = { replicas: 1, updatedReplicas: 1, availableReplicas: 1, readyReplicas: 1 };
export const GOOD = deployment([{ type: 'Available', status: 'True' }], one);
export const failedSince = (time: string) =>
  deployment([
    { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', lastTransitionTime: at(time) },
  ]);
