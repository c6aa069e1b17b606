/**
 * What a scenario can do. Times in YAML are `now`, `T0`, `now+10s`, `now-5m`.
 * `expect` checks the cluster as it is; `synced` and `settled` are `sync` and `settle`, then `expect`.
 */
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { HistoryEntry, RolloutStatus } from '../../../api/types.ts';
import { parseDuration } from '../../../core/kube/duration.ts';
import { boundLabel } from '../../../core/kube/names.ts';
import { formatTime } from '../../../core/kube/time.ts';
import { saysWhy } from './explained.ts';
import { NAMESPACE, type ScenarioCluster, T0 } from './scenarioCluster.ts';

type Data = Record<string, any>;
type Step = (cluster: ScenarioCluster, data: any) => void | Promise<void>;

const ON_GATE: Record<string, string> = {
  approve: 'approve.gate.fluxcd.io/for',
  unapprove: 'unapprove.gate.fluxcd.io/for',
  open: 'open.gate.fluxcd.io/requestedAt',
  close: 'close.gate.fluxcd.io/requestedAt',
};

export const STEPS: Record<string, Step> = {
  sync: async (cluster, times) => {
    for (let i = 0; i < (times ?? 1); i++) await cluster.sync();
  },
  /** Syncs until nothing is written. */
  settle: async (cluster) => {
    for (let i = 0; await cluster.sync(); i++) if (i === 5) throw new Error('the Rollout does not settle');
    saysWhy(cluster);
  },
  advance: (cluster, duration: string) => {
    cluster.now += durationMs(duration);
  },
  /** The ImagePolicy's choice. */
  publish: async (cluster, latest: string | Data) => {
    const policy = copyOf(cluster, 'ImagePolicy', 'test-image-policy');
    const ref = typeof latest === 'string' ? { tag: latest } : latest;
    policy.status = { ...policy.status, latestRef: { name: 'registry.example/app', ...ref } };
    await cluster.put(policy);
  },
  /** Sets the release that the ImagePolicy selects. */
  release: async (cluster, latest: string | Data) => {
    await STEPS.publish!(cluster, latest);
    await STEPS.settle!(cluster, undefined);
  },
  policy: async (cluster, spec: Data) => {
    const policy = copyOf(cluster, 'ImagePolicy', 'test-image-policy');
    await cluster.put({ ...policy, spec: { ...policy.spec, ...spec } });
  },
  metadata: (cluster, metadata: Data) => void Object.assign(cluster.metadata, metadata),
  spec: async (cluster, patch: Data) => {
    await cluster.put({ ...(cluster.rollout as KubeObject), spec: patched({ ...cluster.rollout.spec }, patch) });
  },
  /**
   * Writes annotations; keys without a prefix get the Rollout's. null removes. `as` is the user: `sre` may bypass
   * Gates.
   */
  annotate: async (cluster, { as, ...patch }: Data) => {
    const rollout = copyOf(cluster, 'Rollout', 'test-resource');
    const keys = Object.entries(patch).map(([key, value]) => [
      key.includes('/') ? key : `rollout.kuberik.com/${key}`,
      value,
    ]);
    rollout.metadata.annotations = patched({ ...rollout.metadata.annotations }, Object.fromEntries(keys));
    await cluster.put(rollout, as);
  },
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
  rolloutGate: (cluster, { name, as, ...spec }: Data) =>
    cluster.put(
      object('kuberik.com/v1alpha1', 'RolloutGate', name, {
        passing: true,
        rolloutRef: { name: 'test-resource' },
        ...spec,
      }),
      as,
    ),
  /** So many that let nothing through. */
  manyRolloutGates: async (cluster, count: number) => {
    for (let i = 0; i < count; i++) await STEPS.rolloutGate!(cluster, { name: `gate-${i}`, passing: false });
  },
  /** Annotations on a RolloutGate: `approve`, `unapprove`, `approve-reason`, or `approvals`, which is the webhook's. */
  approve: async (cluster, { as, gate, ...patch }: Data) => {
    const object = copyOf(cluster, 'RolloutGate', gate);
    const keys = Object.entries(patch).map(([key, value]) => [`rollout.kuberik.com/${key}`, value]);
    object.metadata.annotations = patched({ ...object.metadata.annotations }, Object.fromEntries(keys));
    cluster.denied = undefined;
    await cluster.put(object, as);
  },
  /** Writes requests on a Gate: `approve`, `unapprove`, `open`, `close` with a time. */
  onGate: async (cluster, { as, gate, namespace = NAMESPACE, ...patch }: Data) => {
    const object = cluster.find('Gate', namespace, gate)!;
    const keys = Object.entries(patch).map(([key, value]) => [ON_GATE[key] ?? key, value]);
    const annotations = patched({ ...object.metadata.annotations }, Object.fromEntries(keys));
    cluster.denied = undefined;
    await cluster.put({ ...structuredClone(object), metadata: { ...object.metadata, annotations } }, as);
  },
  gate: (cluster, { name, namespace, annotations, labels, ...spec }: Data) =>
    cluster.put(
      object(
        'gating.toolkit.fluxcd.io/v1alpha1',
        'Gate',
        name,
        { default: 'closed', ...spec },
        { namespace, annotations, labels },
      ),
    ),
  /** Reports a HealthCheck, with its class: fields that are not named stay; null removes. */
  health: async (
    cluster,
    { name = 'test-health-check', namespace = NAMESPACE, labels, class: is, ...status }: Data,
  ) => {
    const old = cluster.find('HealthCheck', namespace, name);
    const check =
      structuredClone(old) ?? object('kuberik.com/v1alpha1', 'HealthCheck', name, {}, { namespace, labels });
    const spec = { ...check.spec, ...(is && { class: is }) };
    await cluster.put({ ...check, spec, status: patched({ ...check.status }, status) });
  },
  namespace: (cluster, { name, labels, annotations }: Data) =>
    cluster.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels, annotations } }),
  /** Another Rollout, with `spec` and status. */
  stage: (cluster, { name, namespace, annotations, spec = {}, ...status }: Data) => {
    const rollout = object('kuberik.com/v1alpha1', 'Rollout', name, spec, { namespace, annotations });
    cluster.seed({ ...rollout, status });
  },
  /** A Flux object bound to the Rollout, by its FluxBinding. */
  bind: (cluster, { name, kind = 'Kustomization', gates }: Data) => {
    const target = { apiVersion: 'kustomize.toolkit.fluxcd.io/v1', kind, name, uid: `uid-of-${name}` };
    const spec = { target, fields: [{ rollout: 'test-resource', variable: 'VERSION' }], gates };
    const labels = { [boundLabel('test-resource')]: '' };
    return cluster.put(object('kuberik.com/v1alpha1', 'FluxBinding', name, spec, { labels }));
  },
  /** Flux fetches and applies the newest deployment in these objects. */
  apply: async (cluster, names: string[]) => {
    const { metadata, status } = cluster.rollout;
    const { id = 0, version } = status!.history![0]!;
    for (const name of names) {
      const binding = copyOf(cluster, 'FluxBinding', name);
      const applied = [{ rollout: metadata.name, uid: metadata.uid, id, version: version.tag }];
      await cluster.put({ ...binding, status: { ...binding.status, applied } });
    }
  },
  /** A binding's report about the Gates of its object, and whether the object still waits for its applier. */
  bindingGates: async (cluster, { name, opened, awaits }: Data) => {
    const binding = copyOf(cluster, 'FluxBinding', name);
    const gates = (binding.spec.gates ?? []).map(({ namespace, gate }: Data) => ({ namespace, name: gate, opened }));
    const { awaits: _, ...status } = binding.status ?? {};
    await cluster.put({ ...binding, status: { ...status, gates, ...(awaits && { awaits }) } });
  },
  /** A Flux object that a Rollout manages, with the annotation of a deployment: `7/1.0.0`. */
  flux: (cluster, { kind = 'Kustomization', name, of = 'test-resource', deployed }: Data) => {
    const isSync = kind === 'Kustomization';
    const annotations = {
      [`rollout.kuberik.com/${isSync ? 'substitute.VERSION.from' : 'rollout'}`]: of,
      ...(deployed && { 'rollout.kuberik.com/deployed': `test-resource=${deployed}/old-uid` }),
    };
    const apiVersion = `${isSync ? 'kustomize' : 'source'}.toolkit.fluxcd.io/v1`;
    return cluster.put(object(apiVersion, kind, name, {}, { annotations, uid: `uid-of-${name}` }));
  },
  delete: (cluster, [kind, name, namespace = NAMESPACE]: string[]) => cluster.delete(kind!, namespace!, name!),
};

/** Replaces words for times in data, and `{repeat: text, times: 3}` by the repeated text. */
export function inTime(data: unknown, now: number): any {
  if (Array.isArray(data)) return data.map((item) => inTime(item, now));
  if (typeof data === 'object' && data !== null) {
    if ('repeat' in data && 'times' in data) return String(data.repeat).repeat(Number(data.times));
    return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, inTime(value, now)]));
  }
  const [, base, sign, offset] = (typeof data === 'string' && /^(now|T0)(?:([+-])(\w+))?$/.exec(data)) || [];
  if (!base) return data;
  const ms = offset ? durationMs(offset) * (sign === '-' ? -1 : 1) : 0;
  return formatTime((base === 'now' ? now : T0) + ms);
}

/** `-1h` sets the clock back; `10d` is ten days. */
function durationMs(text: string): number {
  const back = text.startsWith('-');
  const days = /^-?(\d+)d$/.exec(text);
  const ms = days ? Number(days[1]) * 86_400_000 : parseDuration(back ? text.slice(1) : text);
  if (ms === undefined) throw new Error(`not a duration: ${text}`);
  return back ? -ms : ms;
}

function conditionsOf(texts: Record<string, string>, now: number) {
  return Object.entries(texts).map(([type, text]) => {
    const [status, reason, ...message] = text.split('/');
    return { type, status, reason, message: message.join('/'), lastTransitionTime: formatTime(now - 3_600_000) };
  });
}

export function object(
  apiVersion: string,
  kind: string,
  name: string,
  spec: Data,
  metadata: Data = {},
): KubeObject<any, any> {
  return { apiVersion, kind, metadata: { ...metadata, name, namespace: metadata.namespace ?? NAMESPACE }, spec };
}

function copyOf(cluster: ScenarioCluster, kind: string, name: string): KubeObject<any, any> {
  const found = cluster.find(kind, NAMESPACE, name);
  if (!found) throw new Error(`no ${kind} '${name}' in the scenario`);
  return structuredClone(found);
}

/** Merges one level; null removes. */
function patched(target: Data, patch: Data): Data {
  const entries = Object.entries({ ...target, ...patch }).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(entries);
}
