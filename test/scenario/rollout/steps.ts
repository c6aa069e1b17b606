/**
 * The steps of dev/sim/steps.ts, and those that need no real cluster. `expect` checks the cluster as it is; `synced`
 * and `settled` are `sync` and `settle`, then `expect`.
 */
import type { HistoryEntry, RolloutStatus } from '../../../api/types.ts';
import { boundLabel } from '../../../core/binding/bindingSpec.ts';
import { formatTime } from '../../../core/kube/time.ts';
import { ref } from '../../../dev/actors/objects.ts';
import { type Data, NAMESPACE, STEPS as SHARED } from '../../../dev/sim/steps.ts';
import { objectOf } from '../../support/objects.ts';
import type { ScenarioCluster } from './scenarioCluster.ts';

type Step = (cluster: ScenarioCluster, data: any) => void | Promise<void>;

export const STEPS: Record<string, Step> = {
  ...SHARED,
  sync: async (cluster, times) => {
    for (let i = 0; i < (times ?? 1); i++) await cluster.sync();
  },
  settle: (cluster) => cluster.settle(),
  metadata: (cluster, metadata: Data) => void Object.assign(cluster.metadata, metadata),
  /** Another client writes status fields; conditions, in the form `True/RolloutSucceeded/message`, are an hour old. */
  status: (cluster, { conditions, ...patch }: Data) => {
    const set = conditions && { conditions: conditionsOf(conditions, cluster.now) };
    return cluster.putStatus(patched({ ...cluster.rollout.status }, { ...patch, ...set }) as RolloutStatus);
  },
  /** The state before: `1.0.0 Failed broken` with its message, newest first and an hour apart, and newer releases. */
  past: (cluster, { history, newer = [] }: { history: string[]; newer?: string[] }) => {
    const entries = history.map((text, i) => {
      const [tag = '', bakeStatus, bakeStatusMessage] = String(text).split(' ');
      const timestamp = formatTime(cluster.now - (i + 1) * 3_600_000);
      return patched({ id: history.length - i, version: { tag }, timestamp }, { bakeStatus, bakeStatusMessage });
    });
    const tags = new Set([...entries.map(({ version }) => version.tag).reverse(), ...newer]);
    const availableReleases = [...tags].map((tag) => ({ tag }));
    return cluster.putStatus({ ...cluster.rollout.status, history: entries, availableReleases } as RolloutStatus);
  },
  /** Another client writes fields of the newest history entry. */
  head: (cluster, patch: Data) => {
    const status = cluster.rollout.status!;
    const [head, ...older] = status.history!;
    return cluster.putStatus({ ...status, history: [patched({ ...head }, patch) as HistoryEntry, ...older] });
  },
  /** So many that let nothing through. */
  manyRolloutGates: async (cluster, count: number) => {
    for (let i = 0; i < count; i++) await STEPS.rolloutGate!(cluster, { name: `gate-${i}`, passing: false });
  },
  /** Another Rollout, with `spec` and status. */
  upstream: (cluster, { name, namespace = NAMESPACE, annotations, spec = {}, ...status }: Data) =>
    cluster.seed(objectOf('Rollout', { metadata: { name, namespace, annotations }, spec, status } as never)),
  /** A Flux object bound to the Rollout, by its FluxBinding. */
  bind: (cluster, { name, kind = 'Kustomization', gates, neverReconciled }: Data) => {
    const target = { apiVersion: 'kustomize.toolkit.fluxcd.io/v1', kind, name, uid: `uid-of-${name}` };
    const spec = { target, fields: [{ rollout: 'test-resource', variable: 'VERSION' }], gates, neverReconciled };
    const labels = { [boundLabel('test-resource')]: '' };
    return cluster.put(objectOf('FluxBinding', { metadata: { name, namespace: NAMESPACE, labels }, spec } as never));
  },
  /** Flux fetches and applies the newest deployment in these objects. */
  apply: async (cluster, names: string[]) => {
    const { metadata, status } = cluster.rollout;
    const { id = 0, version } = status!.history![0]!;
    const applied = [{ rollout: metadata.name, uid: metadata.uid, id, version: version.tag }];
    for (const name of names) await cluster.report(ref('fluxBinding', NAMESPACE, name), { applied });
  },
  /** A binding's report about the Gates of its object, and whether the object still waits for its applier. */
  bindingGates: (cluster, { name, opened, awaits = null }: Data) => {
    const { spec } = cluster.find('FluxBinding', NAMESPACE, name)!;
    const gates = (spec.gates ?? []).map(({ namespace, gate }: Data) => ({ namespace, name: gate, opened }));
    return cluster.report(ref('fluxBinding', NAMESPACE, name), { gates, awaits });
  },
  /** A Flux object that a Rollout manages, with the annotation of a deployment: `7/1.0.0`. */
  flux: (cluster, { kind = 'Kustomization', name, of = 'test-resource', deployed }: Data) => {
    const isSync = kind === 'Kustomization';
    const annotations = {
      [`rollout.kuberik.com/${isSync ? 'substitute.VERSION.from' : 'rollout'}`]: of,
      ...(deployed && { 'rollout.kuberik.com/deployed': `test-resource=${deployed}/old-uid` }),
    };
    const metadata = { name, namespace: NAMESPACE, annotations, uid: `uid-of-${name}` };
    return cluster.put(objectOf(kind, { metadata, spec: {} } as never));
  },
};

function conditionsOf(texts: Record<string, string>, now: number) {
  return Object.entries(texts).map(([type, text]) => {
    const [status, reason, ...message] = text.split('/');
    return { type, status, reason, message: message.join('/'), lastTransitionTime: formatTime(now - 3_600_000) };
  });
}

/** Merges one level; null removes. */
function patched(target: Data, patch: Data): Data {
  const entries = Object.entries({ ...target, ...patch }).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(entries);
}
