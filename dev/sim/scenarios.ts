/**
 * Plays the scenarios of test/scenario/rollout, the Gates of test/scenario/gate and the scenarios of gates.yaml in the
 * simulation: unchanged, then with a crash right after each write of the driver, then with each such write hidden from
 * the caches for a while. The oracle checks each run; the expectations in the files are ignored.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { fakeFlux } from '../actors/fakeFlux.ts';
import { gitSync } from '../actors/gitSync.ts';
import { gate, imagePolicy, kustomization, ref, rollout, rolloutGate } from '../actors/objects.ts';
import type { User } from '../actors/user.ts';
import { type AnyObject, ApiError } from '../client/send.ts';
import { REPOSITORY } from '../repository.ts';
import { targetOf } from './apiServer/requests.ts';
import { SimulatedCluster } from './cluster/simulatedCluster.ts';
import { findingsOf } from './findings.ts';

const GATE_SAMPLES = join(REPOSITORY, 'test/scenario/gate/rfc-samples.yaml');
const FOLDER = join(REPOSITORY, 'test/scenario/rollout');
const NAMESPACE = 'team-a';
const APP = ref('rollout', NAMESPACE, 'test-resource');
const POLICY = ref('imagePolicy', NAMESPACE, 'test-image-policy');
const GIT = { apiVersion: 'source.toolkit.fluxcd.io/v1', kind: 'GitRepository' };
const HEALTH = { apiVersion: 'kuberik.com/v1alpha1', kind: 'HealthCheck' };
const SECOND = 1000;
const SETTLE_MS = 4 * SECOND;
const REST_MS = 90 * SECOND;
const ATTEMPTS = 5;
const STALE_MS = 3 * SECOND;
/** The clock leaps over the rest of a longer time. */
const LONGEST_MS = 20 * 60 * SECOND;
const UNITS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

type Data = Record<string, any>;

interface Scenario {
  id: string;
  fixture?: string;
  steps: (string | Data)[];
}

/** A fault right after the driver's write number `at`. */
interface Fault {
  is: 'crash of the driver' | 'crash of the API server' | 'stale cache';
  at: number;
}

interface Replay {
  violations: string[];
  writes: number;
  /** The Rollout's history: `1.0.0 Succeeded`. */
  history: string[];
  virtualMs: number;
}

/** The scenarios whose every step is an action of users, Flux or the clock. */
export function playable(): Scenario[] {
  const read = (file: string) => parse(readFileSync(file, 'utf8'));
  const files = readdirSync(FOLDER).filter((name) => name.endsWith('.yaml'));
  const all: Scenario[] = [
    ...files.flatMap((file) => read(join(FOLDER, file))),
    ...read(join(import.meta.dirname, 'gates.yaml')),
    ...read(GATE_SAMPLES).map(heldBy),
  ];
  return all.filter(({ steps }) => steps.every((step) => nameOf(step) === 'expect' || nameOf(step) in STEPS));
}

/** A Gate's scenario with an object that requires the Gate, and an edit of that object after each step. */
function heldBy({ name: id, gate: of, steps }: Data): Scenario {
  const { name } = of.metadata;
  const start = Date.parse(steps[0].at);
  const relative = (time: string) => `T0+${(Date.parse(time) - start) / SECOND}s`;
  const timed = (annotations: Data = {}) =>
    Object.fromEntries(
      Object.entries<string>(annotations).map(([key, value]) => [key, Date.parse(value) ? relative(value) : value]),
    );
  const held = { name: 'web', gates: [{ namespace: NAMESPACE, gate: name }] };
  return {
    id,
    steps: [
      { gate: { name, ...of.spec } },
      { bind: held },
      ...steps.flatMap(({ at, annotate }: Data, i: number) => [
        { until: relative(at) },
        ...(annotate ? [{ onGate: { gate: name, ...timed(annotate) } }] : []),
        { edit: { name: held.name, path: `./edit-${i}` } },
        'settle',
      ]),
    ],
  };
}

/** Every fault at every write, for a scenario with so many writes of the driver. */
export function faultsOf(writes: number): Fault[] {
  const kinds = ['crash of the driver', 'crash of the API server', 'stale cache'] as const;
  return Array.from({ length: writes }, (_, at) => kinds.map((is) => ({ is, at }))).flat();
}

export function replay({ fixture = 'F0', steps }: Scenario, fault?: Fault): Promise<Replay> {
  return new ScenarioRun(fault).play(fixture, steps);
}

class ScenarioRun {
  readonly cluster = new SimulatedCluster(1);
  readonly #admin = this.cluster.user('admin');
  readonly flux = this.cluster.user('flux');
  readonly #users = new Map<string, User>();
  /** The time `T0`. */
  readonly #begin = this.cluster.time.now;
  #writes = 0;

  constructor(fault: Fault | undefined) {
    this.cluster.afterWrite = ({ user, code, request }) => {
      if (code >= 300 || !user.endsWith(':metacontroller') || this.#writes++ !== fault?.at) return;
      const { kind } = targetOf(request.path)!;
      this.#strike(fault.is, `${kind.group}/${kind.resource}`);
    };
  }

  user(name = 'alice'): User {
    const known = this.#users.get(name) ?? this.cluster.userNamed(name);
    this.#users.set(name, known);
    return known;
  }

  async play(fixture: string, steps: Scenario['steps']): Promise<Replay> {
    const { cluster } = this;
    const begin = cluster.time.now;
    cluster.start();
    await this.cluster.until(this.#base(fixture));
    cluster.startDriver();
    await this.pass(SETTLE_MS);
    for (const step of steps) {
      const name = nameOf(step);
      if (name === 'expect') continue;
      const data = typeof step === 'string' ? undefined : step[name];
      await this.#retry(() => Promise.resolve(STEPS[name]!(this, this.#inTime(data))));
    }
    cluster.heal();
    await this.pass(REST_MS);
    const app = cluster.server.storage.get('kuberik.com/rollouts', `${NAMESPACE}/test-resource`);
    const history = (app?.status?.history ?? []).map(
      ({ version, bakeStatus }: AnyObject) => `${version.tag} ${bakeStatus}`,
    );
    const violations = [...findingsOf(cluster).violations, ...cluster.crashes];
    return { violations, writes: this.#writes, history, virtualMs: cluster.time.now - begin };
  }

  async pass(ms: number): Promise<void> {
    if (ms > LONGEST_MS) this.cluster.leap(ms - LONGEST_MS);
    await this.cluster.time.runUntil(this.cluster.time.now + Math.min(ms, LONGEST_MS));
  }

  async put(object: AnyObject): Promise<void> {
    if (await this.#admin.find(object as never)) await this.#admin.mergePatch(object as never, object);
    else await this.#admin.create(object);
  }

  #strike(is: Fault['is'], resource: string): void {
    const { cluster } = this;
    if (is === 'stale cache') cluster.hold(resource, STALE_MS);
    else if (is === 'crash of the driver') {
      cluster.killDriver();
      cluster.time.after(SECOND / 2, () => cluster.startDriver());
    } else {
      cluster.killApiServer();
      cluster.time.after(SECOND / 2, () => cluster.startApiServer());
    }
  }

  async #base(fixture: string): Promise<void> {
    const selector = { healthCheckSelector: { selector: { matchLabels: { app: 'test-app' } } } };
    const spec = { F0: {}, FB: { bakeTime: '5m', ...selector }, FH: selector }[fixture] ?? {};
    await this.#admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
    await this.#admin.create(imagePolicy(NAMESPACE, 'test-image-policy', { policy: { semver: { range: '>=0.1.0' } } }));
    if (fixture !== 'F0') await this.health({ labels: { app: 'test-app' } });
    const releasesImagePolicy = { name: 'test-image-policy' };
    await this.#admin.create(rollout(NAMESPACE, 'test-resource', { spec: { releasesImagePolicy, ...spec } }));
  }

  async health({ name = 'test-health-check', namespace = NAMESPACE, labels, ...status }: Data): Promise<void> {
    const check = { ...HEALTH, metadata: { name, namespace, labels } };
    if (!(await this.#admin.find(check))) await this.#admin.create({ ...check, spec: {} });
    if (Object.keys(status).length > 0) await this.#admin.patchStatus(check, status);
  }

  async publish(latest: string | Data): Promise<void> {
    const named = typeof latest === 'string' ? { tag: latest } : latest;
    await this.#admin.patchStatus(POLICY, { latestRef: { name: 'registry.example/app', ...named } });
  }

  /** Creates a Kustomization of a GitRepository, with variables of the Rollout. */
  async bind({ name, gates = [] }: Data): Promise<void> {
    const named = gates.map(({ namespace, gate: of }: Data) => `${namespace}/${of}`);
    await this.put(await this.#bound(name, named, {}));
    await fakeFlux({ flux: this.flux }).reconcile(NAMESPACE);
  }

  /** Syncs Git: a Kustomization `apps` applies the object. */
  async git({ name, path, gates = [] }: Data): Promise<void> {
    const applier = { namespace: 'flux-system', name: 'apps' };
    if (!(await this.#admin.find(ref('kustomization', applier.namespace, applier.name)))) {
      await this.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: applier.namespace } });
      await this.put(kustomization(applier.namespace, applier.name));
    }
    await gitSync(this.flux, applier)([await this.#bound(name, gates, { path })]);
  }

  async #bound(name: string, gates: string[], spec: Data): Promise<AnyObject> {
    const source = { interval: '1h', url: 'https://git.example.com/a' };
    await this.put({ ...GIT, metadata: { namespace: NAMESPACE, name }, spec: source });
    const annotations: Record<string, string> = gates.length > 0 ? { 'gate.fluxcd.io/gates': gates.join() } : {};
    return kustomization(NAMESPACE, name, {
      variables: { VERSION: 'test-resource' },
      annotations,
      spec: { sourceRef: { kind: 'GitRepository', name }, ...spec },
    });
  }

  async edit({ as, name, path }: Data): Promise<void> {
    await this.user(as).mergePatch(ref('kustomization', NAMESPACE, name), { spec: { path } });
  }

  async until(time: string): Promise<void> {
    await this.pass(Math.max(0, Date.parse(time) - this.cluster.time.now));
  }

  async remove(kind: string, namespace: string, name: string): Promise<void> {
    const found = this.cluster.server.storage
      .all()
      .find(([, each]) => each.kind === kind && each.metadata.name === name);
    if (found) await this.#admin.remove({ ...found[1], metadata: { namespace, name } } as never);
  }

  /** The data with times such as `now-5m` replaced. */
  #inTime(data: any): any {
    if (Array.isArray(data)) return data.map((item) => this.#inTime(item));
    if (typeof data === 'object' && data !== null)
      return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, this.#inTime(value)]));
    const [, base, sign = '+', offset = '0s'] =
      (typeof data === 'string' && /^(now|T0)(?:([+-])(\w+))?$/.exec(data)) || [];
    if (!base) return data;
    const ms = (base === 'T0' ? this.#begin : this.cluster.time.now) + durationMs(offset) * (sign === '-' ? -1 : 1);
    return `${new Date(ms).toISOString().slice(0, 19)}Z`;
  }

  /** Retries while the API server is down. A refusal is a valid outcome. */
  async #retry(what: () => Promise<unknown>): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.cluster.until(what());
        return;
      } catch (error) {
        if (error instanceof ApiError) return;
        if (attempt === ATTEMPTS || !/connection re(fused|set)/.test((error as Error).message)) throw error;
        await this.pass(SECOND);
      }
    }
  }
}

const prefixed = (data: Data, prefix: string) =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key.includes('/') ? key : `${prefix}${key}`, value]));
const REQUESTS: Record<string, string> = {
  open: 'open.gate.fluxcd.io/requestedAt',
  close: 'close.gate.fluxcd.io/requestedAt',
};
const onGate = (data: Data) =>
  Object.fromEntries(
    Object.entries(data).map(([key, value]) => [
      REQUESTS[key] ?? (key.includes('/') ? key : `${key}.gate.fluxcd.io/for`),
      value,
    ]),
  );

/** Steps by the names of test/scenario/rollout/steps.ts. */
const STEPS: Record<string, (run: ScenarioRun, data: any) => unknown> = {
  sync: (run) => run.pass(SETTLE_MS),
  settle: (run) => run.pass(SETTLE_MS),
  synced: (run) => run.pass(SETTLE_MS),
  settled: (run) => run.pass(SETTLE_MS),
  advance: (run, duration: string) => run.pass(durationMs(duration)),
  publish: (run, latest) => run.publish(latest),
  release: async (run, latest) => {
    await run.publish(latest);
    await run.pass(SETTLE_MS);
  },
  policy: (run, spec: Data) => run.user().mergePatch(POLICY, { spec }),
  spec: (run, spec: Data) => run.user().mergePatch(APP, { spec }),
  annotate: (run, { as, ...patch }: Data) =>
    run.user(as).mergePatch(APP, { metadata: { annotations: prefixed(patch, 'rollout.kuberik.com/') } }),
  rolloutGate: (run, { name, as: _, ...spec }: Data) =>
    run.put(rolloutGate(NAMESPACE, name, 'test-resource', { passing: true, ...spec })),
  approve: (run, { as, gate: name, ...patch }: Data) =>
    run.user(as).mergePatch(ref('rolloutGate', NAMESPACE, name), {
      metadata: { annotations: prefixed(patch, 'rollout.kuberik.com/') },
    }),
  gate: (run, { name, namespace = NAMESPACE, annotations, labels, ...spec }: Data) =>
    run.put(gate(namespace, name, { annotations, labels, spec: { default: 'closed', ...spec } })),
  onGate: (run, { as, gate: name, namespace = NAMESPACE, ...patch }: Data) =>
    run.user(as).mergePatch(ref('gate', namespace, name), { metadata: { annotations: onGate(patch) } }),
  health: (run, data: Data) => run.health(data),
  namespace: (run, metadata: Data) =>
    run.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { ...metadata } as never }),
  bind: (run, data: Data) => run.bind(data),
  git: (run, data: Data) => run.git(data),
  edit: (run, data: Data) => run.edit(data),
  until: (run, time: string) => run.until(time),
  apply: (run) => fakeFlux({ flux: run.flux }).reconcile(NAMESPACE),
  delete: (run, [kind, name, namespace = NAMESPACE]: string[]) => run.remove(kind!, namespace, name!),
};

const nameOf = (step: string | Data) => (typeof step === 'string' ? step : Object.keys(step)[0]!);

/** Milliseconds of `10d` or `1h30m`. */
function durationMs(text: string): number {
  return [...text.matchAll(/(\d+)([smhd])/g)].reduce((sum, [, n, unit]) => sum + Number(n) * UNITS[unit!]! * SECOND, 0);
}
