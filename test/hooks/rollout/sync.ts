import type { KubeObject } from '../../../api/kubernetes.ts';
import type { RolloutStatus } from '../../../api/types.ts';
import { rolloutHook } from '../../../hooks/rollout/rolloutHook.ts';
import { type Around, fakeCall, object, request, rollout } from './call.ts';

export const deployed: RolloutStatus = {
  history: [{ id: 1, version: { tag: '1.0.0' }, timestamp: '2026-03-01T11:00:00Z', bakeStatus: 'Succeeded' }],
  availableReleases: [{ tag: '1.0.0' }],
};
export const gate = (name: string, spec: object) =>
  object('kuberik.com/v1alpha1', 'RolloutGate', name, { rolloutRef: { name: 'app' }, passing: true, ...spec });
export const freeze = (name: string, state: 'opened' | 'closed') =>
  object('gating.toolkit.fluxcd.io/v1alpha1', 'Gate', name, { default: state });

/** A Gate that selects Rollouts, with the webhook's labels. */
export function selecting(name: string, state: 'opened' | 'closed', selects: object = {}, namespace = 'team-a') {
  const found = freeze(name, state);
  const [any, alone] = 'namespaceSelector' in selects ? ['', 'rollouts'] : ['own-namespace', 'own-namespace-rollouts'];
  return {
    ...found,
    metadata: { name, namespace, labels: { 'gate.fluxcd.io/selects-rollouts': any, 'gate.fluxcd.io/selects': alone } },
    spec: { ...found.spec, selects: { kinds: ['Rollout'], ...selects } },
  };
}

/** By resource; of several Gates the last one. */
export async function rules(spec: Parameters<typeof rollout>[0], cluster: Around = {}, name = 'app') {
  const all = await allRules(spec, cluster, name);
  return Object.fromEntries(all.map(({ resource, ...rule }) => [resource, rule]));
}

export async function gateRules(spec: Parameters<typeof rollout>[0]) {
  const gates = (await allRules(spec)).filter(({ resource }) => resource === 'gates');
  return gates.map(({ apiVersion: _, resource: __, ...rule }) => rule);
}

async function allRules(spec: Parameters<typeof rollout>[0], cluster: Around = {}, name = 'app') {
  const { call } = fakeCall(cluster);
  const parent = rollout(spec, undefined, name) as never;
  const { relatedResources } = await rolloutHook.customize!({ controller: {} as never, parent }, call);
  return relatedResources;
}

const READ_LIVE = ['HealthCheck', 'ImagePolicy'];

/** @param cluster `stored`: the stored HealthChecks and ImagePolicy, if Metacontroller's cache is behind */
export async function sync(
  parent: ReturnType<typeof rollout>,
  related: Parameters<typeof request>[1],
  cluster: Around & { stored?: Parameters<typeof request>[1] } = {},
  live: ReturnType<typeof rollout> | undefined = parent,
) {
  const stored = cluster.stored ?? related.filter(({ kind }) => READ_LIVE.includes(kind));
  const objects = [...(cluster.objects ?? []), ...stored, ...(live ? [live] : [])] as KubeObject<any, any>[];
  const { call, reads, events } = fakeCall({ ...cluster, objects });
  const answer = await rolloutHook.sync(request(parent, related), call);
  const status = answer.status as RolloutStatus;
  return {
    ...answer,
    status,
    reads,
    reasons: events.map(({ reason }) => reason),
    tags: status.history?.map(({ version }) => version.tag),
  };
}
