/** A cluster of a few objects, and a HealthCheck that is synced until nothing changes, as Metacontroller would. */
import type { EpochMs, KubeObject } from '../../../api/kubernetes.ts';
import type { ObjectMap } from '../../../api/metacontroller.ts';
import type { ClusterReader, HookCall } from '../../../api/ports.ts';
import type { HealthCheck, Rollout } from '../../../api/types.ts';
import type { HealthStatus } from '../../../core/health/status.ts';
import { healthCheckHook } from '../../../hooks/healthCheck/healthCheck.ts';

export const NOW = Date.parse('2026-01-02T12:00:00Z');
export const at = (time: string) => `2026-01-02T${time}Z`;

export interface FakeCluster extends ClusterReader {
  /** Requests made, such as `get deployments demo/web` and `list services demo`. */
  requests: string[];
}

/** @param broken resources whose reads fail with this text */
export function cluster(objects: readonly KubeObject<any, any>[], broken: Record<string, string> = {}): FakeCluster {
  const requests: string[] = [];
  const answer = async (
    verb: string,
    ref: { apiVersion: string; resource: string; namespace?: string },
    name?: string,
  ) => {
    requests.push(`${verb} ${ref.resource} ${[ref.namespace, name].filter(Boolean).join('/')}`);
    if (broken[ref.resource]) throw new Error(broken[ref.resource]);
    return objects.filter(
      (o) =>
        o.apiVersion === ref.apiVersion &&
        pluralOf(o.kind) === ref.resource &&
        o.metadata.namespace === ref.namespace &&
        (name === undefined || o.metadata.name === name),
    ) as any[];
  };
  return {
    requests,
    get: async (ref) => (await answer('get', ref, ref.name))[0],
    // As the API server does: without the kind.
    list: async (ref) => (await answer('list', ref)).map(({ kind: _, apiVersion: __, ...rest }) => rest) as any[],
    listMetadata: async (ref) => (await answer('metadata', ref)).map(({ metadata }) => ({ metadata })) as any[],
    serves: async () => true,
    resourceOf: async ({ kind }) => ({ resource: pluralOf(kind), namespaced: true }),
  };
}

export function healthCheck(fields: Partial<HealthCheck> & { annotations?: Record<string, string> } = {}): HealthCheck {
  const { annotations = { 'healthcheck.kuberik.com/kustomization': 'test-kustomization' }, metadata, ...rest } = fields;
  return {
    apiVersion: 'kuberik.com/v1alpha1',
    kind: 'HealthCheck',
    metadata: { name: 'hc', namespace: 'demo', annotations, ...metadata },
    spec: { class: 'kustomization' },
    ...rest,
  };
}

export function rollout(head?: object, spec: object = {}, metadata: object = {}): Rollout {
  return {
    apiVersion: 'kuberik.com/v1alpha1',
    kind: 'Rollout',
    metadata: { name: 'test-rollout', namespace: 'demo', uid: 'u1', ...metadata },
    spec: { releasesImagePolicy: {}, ...spec },
    ...(head && { status: { history: [{ version: { tag: '1.0.0' }, timestamp: '', ...head }] } }),
  };
}

export function callAt(now: EpochMs, reader: ClusterReader): HookCall {
  return {
    now,
    cluster: reader,
    access: { may: async () => true },
    events: { record: () => {} },
    metadata: { lookup: () => undefined },
    settings: { onFailure: 'Continue', metacontrollerUser: '', glassBreakers: [], noCrossNamespaceRefs: false },
  };
}

export async function syncOnce(
  object: HealthCheck,
  reader: ClusterReader,
  rollouts: readonly Rollout[] = [],
  now = NOW,
  settings: Partial<HookCall['settings']> = {},
  access: HookCall['access'] = { may: async () => true },
) {
  const related: ObjectMap = {
    'Rollout.kuberik.com/v1alpha1': Object.fromEntries(
      rollouts.map((r) => [`${r.metadata.namespace}/${r.metadata.name}`, r as unknown as KubeObject]),
    ),
  };
  const controller: KubeObject = { apiVersion: '', kind: '', metadata: {} };
  const request = { controller, object: object as unknown as KubeObject, attachments: {}, related, finalizing: false };
  const call = callAt(now, reader);
  return healthCheckHook.sync(request, { ...call, access, settings: { ...call.settings, ...settings } });
}

/** Every status on the way to rest, each a second later; throws when it does not come to rest. */
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

/** What discovery would say of the kinds that these tests use. */
function pluralOf(kind: string): string {
  const name = kind.toLowerCase();
  return name.endsWith('y') ? `${name.slice(0, -1)}ies` : name.endsWith('s') ? `${name}es` : `${name}s`;
}
