/**
 * The scenarios of test/scenario/rollout, the Gates of test/scenario/gate and the stories of gates.yaml, played in the simulation: as they are, then with a crash right after each write of the driver, then with each
 * such write hidden from the caches for a while. What they expect is not looked at: the judges are those of every run, and the history is to be the same.
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
import { judged } from './judge.ts';
import { World } from './world/world.ts';

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
/** A longer time is leapt over. */
const LONGEST_MS = 20 * 60 * SECOND;
const UNITS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

type Data = Record<string, any>;

export interface Scenario {
  id: string;
  fixture?: string;
  steps: (string | Data)[];
}

/** What is done to a run at its nth write by the driver. */
export interface Fault {
  is: 'crash of the driver' | 'crash of the API server' | 'stale cache';
  at: number;
}

interface Replay {
  violations: string[];
  /** Writes of the driver. */
  writes: number;
  /** Of the Rollout: `1.0.0 Succeeded`. */
  history: string[];
  virtualMs: number;
}

/** Those of which every step is something that people, Flux or the clock can do. */
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

/** The story of a Gate, with an object that it holds and that somebody edits at each of its steps. */
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

/** Every fault of a scenario that makes so many writes. */
export function faultsOf(writes: number): Fault[] {
  const kinds = ['crash of the driver', 'crash of the API server', 'stale cache'] as const;
  return Array.from({ length: writes }, (_, at) => kinds.map((is) => ({ is, at }))).flat();
}

export async function replay({ fixture = 'F0', steps }: Scenario, fault?: Fault): Promise<Replay> {
  const scene = new Scene(fault);
  try {
    return await scene.play(fixture, steps);
  } finally {
    scene.world.stop();
  }
}

class Scene {
  readonly world = new World(1);
  readonly #admin = this.world.user('admin');
  readonly flux = this.world.user('flux');
  readonly #people = new Map<string, User>();
  /** What `T0` means. */
  readonly #begin = this.world.time.now;
  #writes = 0;

  constructor(fault: Fault | undefined) {
    this.world.afterWrite = ({ user, code, request }) => {
      if (code >= 300 || !user.endsWith(':metacontroller') || this.#writes++ !== fault?.at) return;
      const { kind } = targetOf(request.path)!;
      this.#strike(fault.is, `${kind.group}/${kind.resource}`);
    };
  }

  person(name = 'alice'): User {
    const known = this.#people.get(name) ?? this.world.person(name);
    this.#people.set(name, known);
    return known;
  }

  async play(fixture: string, steps: Scenario['steps']): Promise<Replay> {
    const { world } = this;
    const begin = world.time.now;
    world.start();
    await this.world.until(this.#base(fixture));
    world.startDriver();
    await this.pass(SETTLE_MS);
    for (const step of steps) {
      const name = nameOf(step);
      if (name === 'expect') continue;
      const data = typeof step === 'string' ? undefined : step[name];
      await this.#surely(() => Promise.resolve(STEPS[name]!(this, this.#inTime(data))));
    }
    world.heal();
    await this.pass(REST_MS);
    const app = world.server.storage.get('kuberik.com/rollouts', `${NAMESPACE}/test-resource`);
    const history = (app?.status?.history ?? []).map(
      ({ version, bakeStatus }: AnyObject) => `${version.tag} ${bakeStatus}`,
    );
    const violations = [...judged(world).violations, ...world.crashes];
    return { violations, writes: this.#writes, history, virtualMs: world.time.now - begin };
  }

  async pass(ms: number): Promise<void> {
    if (ms > LONGEST_MS) this.world.leap(ms - LONGEST_MS);
    await this.world.time.runUntil(this.world.time.now + Math.min(ms, LONGEST_MS));
  }

  async exists(object: AnyObject): Promise<void> {
    if (await this.#admin.find(object as never)) await this.#admin.mergePatch(object as never, object);
    else await this.#admin.create(object);
  }

  #strike(is: Fault['is'], resource: string): void {
    const { world } = this;
    if (is === 'stale cache') world.hold(resource, STALE_MS);
    else if (is === 'crash of the driver') {
      world.killDriver();
      world.time.after(SECOND / 2, () => world.startDriver());
    } else {
      world.killApiServer();
      world.time.after(SECOND / 2, () => world.startApiServer());
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

  /** An object that a Git branch brings, with variables of the Rollout. */
  async bind({ name, gates = [] }: Data): Promise<void> {
    const named = gates.map(({ namespace, gate: of }: Data) => `${namespace}/${of}`);
    await this.exists(await this.#bound(name, named, {}));
    await fakeFlux({ flux: this.flux }).reconcile(NAMESPACE);
  }

  /** A sync of Git, whose Kustomization applies the object. */
  async git({ name, path, gates = [] }: Data): Promise<void> {
    const applier = { namespace: 'flux-system', name: 'apps' };
    if (!(await this.#admin.find(ref('kustomization', applier.namespace, applier.name)))) {
      await this.exists({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: applier.namespace } });
      await this.exists(kustomization(applier.namespace, applier.name));
    }
    await gitSync(this.flux, applier)([await this.#bound(name, gates, { path })]);
  }

  async #bound(name: string, gates: string[], spec: Data): Promise<AnyObject> {
    const source = { interval: '1h', url: 'https://git.example.com/a' };
    await this.exists({ ...GIT, metadata: { namespace: NAMESPACE, name }, spec: source });
    const annotations: Record<string, string> = gates.length > 0 ? { 'gate.fluxcd.io/gates': gates.join() } : {};
    return kustomization(NAMESPACE, name, {
      variables: { VERSION: 'test-resource' },
      annotations,
      spec: { sourceRef: { kind: 'GitRepository', name }, ...spec },
    });
  }

  async edit({ as, name, path }: Data): Promise<void> {
    await this.person(as).mergePatch(ref('kustomization', NAMESPACE, name), { spec: { path } });
  }

  async until(time: string): Promise<void> {
    await this.pass(Math.max(0, Date.parse(time) - this.world.time.now));
  }

  async remove(kind: string, namespace: string, name: string): Promise<void> {
    const found = this.world.server.storage.all().find(([, each]) => each.kind === kind && each.metadata.name === name);
    if (found) await this.#admin.remove({ ...found[1], metadata: { namespace, name } } as never);
  }

  /** Replaces `now-5m` by that time. */
  #inTime(data: any): any {
    if (Array.isArray(data)) return data.map((item) => this.#inTime(item));
    if (typeof data === 'object' && data !== null)
      return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, this.#inTime(value)]));
    const [, base, sign = '+', offset = '0s'] =
      (typeof data === 'string' && /^(now|T0)(?:([+-])(\w+))?$/.exec(data)) || [];
    if (!base) return data;
    const ms = (base === 'T0' ? this.#begin : this.world.time.now) + durationMs(offset) * (sign === '-' ? -1 : 1);
    return `${new Date(ms).toISOString().slice(0, 19)}Z`;
  }

  /** Again where the API server is away; a refusal is an answer. */
  async #surely(what: () => Promise<unknown>): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.world.until(what());
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

/** By the names of test/scenario/rollout/steps.ts. */
const STEPS: Record<string, (scene: Scene, data: any) => unknown> = {
  sync: (scene) => scene.pass(SETTLE_MS),
  settle: (scene) => scene.pass(SETTLE_MS),
  synced: (scene) => scene.pass(SETTLE_MS),
  settled: (scene) => scene.pass(SETTLE_MS),
  advance: (scene, duration: string) => scene.pass(durationMs(duration)),
  publish: (scene, latest) => scene.publish(latest),
  release: async (scene, latest) => {
    await scene.publish(latest);
    await scene.pass(SETTLE_MS);
  },
  policy: (scene, spec: Data) => scene.person().mergePatch(POLICY, { spec }),
  spec: (scene, spec: Data) => scene.person().mergePatch(APP, { spec }),
  annotate: (scene, { as, ...patch }: Data) =>
    scene.person(as).mergePatch(APP, { metadata: { annotations: prefixed(patch, 'rollout.kuberik.com/') } }),
  rolloutGate: (scene, { name, as: _, ...spec }: Data) =>
    scene.exists(rolloutGate(NAMESPACE, name, 'test-resource', { passing: true, ...spec })),
  approve: (scene, { as, gate: name, ...patch }: Data) =>
    scene.person(as).mergePatch(ref('rolloutGate', NAMESPACE, name), {
      metadata: { annotations: prefixed(patch, 'rollout.kuberik.com/') },
    }),
  gate: (scene, { name, namespace = NAMESPACE, annotations, labels, ...spec }: Data) =>
    scene.exists(gate(namespace, name, { annotations, labels, spec: { default: 'closed', ...spec } })),
  onGate: (scene, { as, gate: name, namespace = NAMESPACE, ...patch }: Data) =>
    scene.person(as).mergePatch(ref('gate', namespace, name), { metadata: { annotations: onGate(patch) } }),
  health: (scene, data: Data) => scene.health(data),
  namespace: (scene, metadata: Data) =>
    scene.exists({ apiVersion: 'v1', kind: 'Namespace', metadata: { ...metadata } as never }),
  bind: (scene, data: Data) => scene.bind(data),
  git: (scene, data: Data) => scene.git(data),
  edit: (scene, data: Data) => scene.edit(data),
  until: (scene, time: string) => scene.until(time),
  apply: (scene) => fakeFlux({ flux: scene.flux }).reconcile(NAMESPACE),
  delete: (scene, [kind, name, namespace = NAMESPACE]: string[]) => scene.remove(kind!, namespace, name!),
};

const nameOf = (step: string | Data) => (typeof step === 'string' ? step : Object.keys(step)[0]!);

/** `10d`, `1h30m`; a clock is not set back here. */
function durationMs(text: string): number {
  return [...text.matchAll(/(\d+)([smhd])/g)].reduce((sum, [, n, unit]) => sum + Number(n) * UNITS[unit!]! * SECOND, 0);
}
