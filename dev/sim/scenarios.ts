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
import { kustomization, ref } from '../actors/objects.ts';
import type { User } from '../actors/user.ts';
import type { ObjectRef } from '../client/resources.ts';
import { type AnyObject, ApiError } from '../client/send.ts';
import { REPOSITORY } from '../repository.ts';
import { targetOf } from './apiServer/requests.ts';
import { SimulatedCluster } from './cluster/simulatedCluster.ts';
import { findingsOf } from './findings.ts';
import { type Data, inTime, NAMESPACE, partsOf, putFixture, STEPS, type Target } from './steps.ts';

const GATE_SAMPLES = join(REPOSITORY, 'test/scenario/gate/rfc-samples.yaml');
const FOLDER = join(REPOSITORY, 'test/scenario/rollout');
const GIT = { apiVersion: 'source.toolkit.fluxcd.io/v1', kind: 'GitRepository' };
const SECOND = 1000;
const SETTLE_MS = 4 * SECOND;
const REST_MS = 90 * SECOND;
const ATTEMPTS = 5;
const STALE_MS = 3 * SECOND;
/** The clock leaps over the rest of a longer time. */
const LONGEST_MS = 20 * 60 * SECOND;

interface Scenario {
  id?: string;
  title?: string;
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
  return all.filter(({ steps }) => steps.every((step) => partsOf(step)[0] in PLAYED));
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

class ScenarioRun implements Target {
  readonly cluster = new SimulatedCluster(1);
  readonly #admin = this.cluster.user('admin');
  readonly #flux = this.cluster.user('flux');
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

  async play(fixture: string, steps: Scenario['steps']): Promise<Replay> {
    const { cluster } = this;
    const begin = cluster.time.now;
    cluster.start();
    await this.cluster.until(putFixture(this, fixture));
    cluster.startDriver();
    await this.settle();
    for (const step of steps) {
      const [name, data] = partsOf(step);
      await this.#retry(() => PLAYED[name]!(this, inTime(data, cluster.time.now, this.#begin)));
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

  settle(): Promise<void> {
    return this.pass(SETTLE_MS);
  }

  async pass(ms: number): Promise<void> {
    if (ms > LONGEST_MS) this.cluster.leap(ms - LONGEST_MS);
    await this.cluster.time.runUntil(this.cluster.time.now + Math.min(ms, LONGEST_MS));
  }

  async put(object: AnyObject): Promise<void> {
    if (await this.has(object as ObjectRef)) await this.#admin.mergePatch(object as never, object);
    else await this.#admin.create(object);
  }

  async has(object: ObjectRef): Promise<boolean> {
    return (await this.#admin.find(object)) !== undefined;
  }

  async merge(object: ObjectRef, patch: Data, user = 'alice'): Promise<void> {
    const known = this.#users.get(user) ?? this.cluster.userNamed(user);
    this.#users.set(user, known);
    await known.mergePatch(object, patch);
  }

  async report(object: ObjectRef, status: Data): Promise<void> {
    await this.#admin.patchStatus(object, status);
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

  /** Creates a Kustomization of a GitRepository, with variables of the Rollout. */
  async bind({ name, gates = [] }: Data): Promise<void> {
    const named = gates.map(({ namespace, gate: of }: Data) => `${namespace}/${of}`);
    await this.put(await this.#bound(name, named, {}));
    await this.reconcile();
  }

  async reconcile(): Promise<void> {
    await fakeFlux({ flux: this.#flux }).reconcile(NAMESPACE);
  }

  /** Syncs Git: a Kustomization `apps` applies the object. */
  async git({ name, path, gates = [] }: Data): Promise<void> {
    const applier = { namespace: 'flux-system', name: 'apps' };
    if (!(await this.has(ref('kustomization', applier.namespace, applier.name)))) {
      await this.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: applier.namespace } });
      await this.put(kustomization(applier.namespace, applier.name));
    }
    await gitSync(this.#flux, applier)([await this.#bound(name, gates, { path })]);
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

  async remove(kind: string, namespace: string, name: string): Promise<void> {
    const found = this.cluster.server.storage
      .all()
      .find(([, each]) => each.kind === kind && each.metadata.name === name);
    if (found) await this.#admin.remove({ ...found[1], metadata: { namespace, name } } as never);
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

/** The steps of scenarios, with those that differ from the unit tests' and those of the simulation alone. */
const PLAYED: Record<string, (run: ScenarioRun, data: any) => Promise<void>> = {
  ...STEPS,
  expect: async () => {},
  sync: (run) => run.settle(),
  settle: (run) => run.settle(),
  synced: (run) => run.settle(),
  settled: (run) => run.settle(),
  bind: (run, data: Data) => run.bind(data),
  apply: (run) => run.reconcile(),
  git: (run, data: Data) => run.git(data),
  edit: (run, { as, name, path }: Data) => run.merge(ref('kustomization', NAMESPACE, name), { spec: { path } }, as),
  until: (run, time: string) => run.pass(Math.max(0, Date.parse(time) - run.cluster.time.now)),
};
