/**
 * The steps of scenarios that users, Flux and the clock can do, as writes of a cluster: of the simulation, or of the
 * unit tests. Times in YAML are `now`, `T0`, `now+10s`, `now-5m`.
 */
import { parseDuration } from '../../core/kube/duration.ts';
import { formatTime } from '../../core/kube/time.ts';
import { gate, imagePolicy, ref, rollout, rolloutGate } from '../actors/objects.ts';
import type { ObjectRef } from '../client/resources.ts';
import type { AnyObject } from '../client/send.ts';

export type Data = Record<string, any>;

/** The namespace of a scenario's Rollout and of everything else that names no other. */
export const NAMESPACE = 'team-a';
/** Names as in the Go controller's test suite. */
export const APP = ref('rollout', NAMESPACE, 'test-resource');
const POLICY = ref('imagePolicy', NAMESPACE, 'test-image-policy');

/** A cluster that a scenario is played on. */
export interface Target {
  has(object: ObjectRef): Promise<boolean>;
  /** Creates or replaces the object. */
  put(object: AnyObject, user?: string): Promise<void>;
  /** A merge patch by a user. */
  merge(object: ObjectRef, patch: Data, user?: string): Promise<void>;
  /** A merge patch of the status by the object's controller. */
  report(object: ObjectRef, status: Data): Promise<void>;
  remove(kind: string, namespace: string, name: string): Promise<void>;
  pass(ms: number): Promise<void>;
  /** Lets the hooks do all that is due. */
  settle(): Promise<void>;
}

const annotations = (patch: Data, keyOf: (key: string) => string) => ({
  metadata: {
    annotations: Object.fromEntries(
      Object.entries(patch).map(([key, value]) => [key.includes('/') ? key : keyOf(key), value]),
    ),
  },
});
const ofRollout = (key: string) => `rollout.kuberik.com/${key}`;
const ofGate = (key: string) => `${key}.gate.fluxcd.io/${key === 'open' || key === 'close' ? 'requestedAt' : 'for'}`;

export const STEPS: Record<string, (target: Target, data: any) => Promise<void>> = {
  advance: (target, duration: string) => target.pass(durationMs(duration)),
  /** Sets the release that the ImagePolicy selects. */
  publish: (target, latest: string | Data) => {
    const named = typeof latest === 'string' ? { tag: latest } : latest;
    return target.report(POLICY, { latestRef: { name: 'registry.example/app', digest: null, ...named } });
  },
  release: async (target, latest) => {
    await STEPS.publish!(target, latest);
    await target.settle();
  },
  policy: (target, spec: Data) => target.merge(POLICY, { spec }),
  spec: (target, spec: Data) => target.merge(APP, { spec }),
  /**
   * Writes annotations; keys without a prefix get the Rollout's. null removes. `as` is the user: `sre` may bypass
   * Gates.
   */
  annotate: (target, { as, ...patch }: Data) => target.merge(APP, annotations(patch, ofRollout), as),
  rolloutGate: (target, { name, as, ...spec }: Data) =>
    target.put(rolloutGate(NAMESPACE, name, APP.metadata.name!, { passing: true, ...spec }), as),
  /** Annotations on a RolloutGate: `approve`, `unapprove`, `approve-reason`, or `approvals`, which is the webhook's. */
  approve: (target, { as, gate: name, ...patch }: Data) =>
    target.merge(ref('rolloutGate', NAMESPACE, name), annotations(patch, ofRollout), as),
  gate: (target, { name, namespace = NAMESPACE, annotations: given, labels, ...spec }: Data) =>
    target.put(gate(namespace, name, { annotations: given, labels, spec })),
  /** Writes requests on a Gate: `approve`, `unapprove`, `open`, `close` with a time. */
  onGate: (target, { as, gate: name, namespace = NAMESPACE, ...patch }: Data) =>
    target.merge(ref('gate', namespace, name), annotations(patch, ofGate), as),
  /** Reports a HealthCheck, with its class: fields that are not named stay; null removes. */
  health: async (target, data: Data) => {
    const { name = 'test-health-check', namespace = NAMESPACE, labels, class: is, ...status } = data;
    const check = ref('healthCheck', namespace, name);
    const spec = { ...(is && { class: is }) };
    if (!(await target.has(check))) await target.put({ ...check, metadata: { namespace, name, labels }, spec });
    else if (is) await target.merge(check, { spec });
    if (Object.keys(status).length > 0) await target.report(check, status);
  },
  namespace: (target, metadata: Data) => target.put({ apiVersion: 'v1', kind: 'Namespace', metadata }),
  delete: (target, [kind, name, namespace = NAMESPACE]: string[]) => target.remove(kind!, namespace, name!),
};

const SELECTED = { healthCheckSelector: { selector: { matchLabels: { app: 'test-app' } } } };
/** Specs of the Rollout; those with a selector come with a HealthCheck without reports. */
const SPECS: Record<string, Data> = {
  F0: {},
  FB: { bakeTime: '5m', ...SELECTED },
  FH: SELECTED,
};

/** Creates a scenario's first objects: a Rollout and its ImagePolicy, and what the fixture adds. */
export async function putFixture(target: Target, fixture = 'F0'): Promise<void> {
  await STEPS.namespace!(target, { name: NAMESPACE });
  const imageRepositoryRef = { name: 'test-image-repo' };
  const policy = { semver: { range: '>=0.1.0' } };
  await target.put(imagePolicy(NAMESPACE, 'test-image-policy', { imageRepositoryRef, policy }));
  if (fixture !== 'F0') await STEPS.health!(target, { labels: { app: 'test-app' } });
  const spec = { releasesImagePolicy: { name: 'test-image-policy' }, ...SPECS[fixture] };
  await target.put(rollout(NAMESPACE, 'test-resource', { spec }));
}

/** Replaces words for times in data, and `{repeat: text, times: 3}` by the repeated text. */
export function inTime(data: unknown, now: number, begin: number): any {
  if (Array.isArray(data)) return data.map((item) => inTime(item, now, begin));
  if (typeof data === 'object' && data !== null) {
    if ('repeat' in data && 'times' in data) return String(data.repeat).repeat(Number(data.times));
    return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, inTime(value, now, begin)]));
  }
  const [, base, sign, offset] = (typeof data === 'string' && /^(now|T0)(?:([+-])(\w+))?$/.exec(data)) || [];
  if (!base) return data;
  const ms = offset ? durationMs(offset) * (sign === '-' ? -1 : 1) : 0;
  return formatTime((base === 'now' ? now : begin) + ms);
}

/** `-1h` sets the clock back; `10d` is ten days. */
function durationMs(text: string): number {
  const back = text.startsWith('-');
  const days = /^-?(\d+)d$/.exec(text);
  const ms = days ? Number(days[1]) * 86_400_000 : parseDuration(back ? text.slice(1) : text);
  if (ms === undefined) throw new Error(`not a duration: ${text}`);
  return back ? -ms : ms;
}

/** A step's name and data. */
export const partsOf = (step: string | Data): [name: string, data?: unknown] =>
  typeof step === 'string' ? [step] : Object.entries(step)[0]!;
