/** The simulated cluster: API server, hook servers, driver and garbage collector on virtual time, and their faults. */
import { join } from 'node:path';
import type { AdmissionRequest, AdmissionResponse, UserInfo } from '../../../api/admission.ts';
import { type Random, randomFrom } from '../../actors/random.ts';
import { User } from '../../actors/user.ts';
import type { Access } from '../../client/kubeconfig.ts';
import type { AnyObject } from '../../client/send.ts';
import { createEngine, type HookTransport } from '../../engine/cluster/engine.ts';
import { ControllerSet } from '../../engine/controllers/controllerSet.ts';
import { SETTINGS } from '../../fakes/ports.ts';
import type { UserName } from '../../local/controlPlane/users.ts';
import { readManifests } from '../../local/install/manifests.ts';
import { useLoopback } from '../../local/install/references.ts';
import { REPOSITORY } from '../../repository.ts';
import { userOf } from '../apiServer/access.ts';
import { type AnsweredWrite, ApiServer } from '../apiServer/apiServer.ts';
import { mergePatched } from '../apiServer/requests.ts';
import { startCollector } from './collector.ts';
import { type HookServer, hookServer } from './hookServer.ts';
import { connect, type Network, Process } from './process.ts';
import { VirtualTime } from './virtualTime.ts';

const START = Date.parse('2026-03-02T08:00:00Z');
const ADMISSION_TIMEOUT_MS = 5000;
const PATIENCE_MS = 45 * 60_000;
const REPLICAS = ['hooks-1', 'hooks-2'];

interface Disturbance {
  /** The number of messages, of a thousand, that take up to `slowMs`. */
  slowOfThousand: number;
  slowMs: number;
  /** Whether another team's webhook changes Flux objects now and then, before ours and after it. */
  hasOtherWebhook: boolean;
}

const NO_DISTURBANCE: Disturbance = { slowOfThousand: 0, slowMs: 0, hasOtherWebhook: false };

/** Changes by another team's webhook, as merge patches: what Gates and Rollouts govern, and a label without meaning. */
const OTHER_CHANGES = [
  { spec: { suspend: false } },
  { spec: { path: './other', url: 'oci://registry.example.com/other' } },
  { spec: { postBuild: { substitute: { APP_VERSION: '6.6.6' } }, ref: { tag: '6.6.6' } } },
  { metadata: { labels: { other: '' } } },
  { metadata: { labels: { other: null } } },
  { metadata: { annotations: { 'gate.fluxcd.io/gates': null } } },
];
/** The share of writes that it changes. */
const OTHER_CHANGES_SHARE = 0.1;

interface Replica {
  process: Process;
  server: HookServer;
}

export class SimulatedCluster {
  readonly time: VirtualTime;
  readonly server: ApiServer;
  readonly writes: AnsweredWrite[] = [];
  /** Called with each write before its client gets the answer. */
  afterWrite: (write: AnsweredWrite) => void = () => {};
  /** Crashes of hooks: no request may cause one. */
  readonly crashes: string[] = [];
  /** Faults of the processes, by time. */
  readonly faults: [at: number, what: string][] = [];
  readonly random: Random;
  readonly #network: Network;
  disturbance: Disturbance = NO_DISTURBANCE;
  readonly #replicas = new Map<string, Replica>();
  /** Error of each replica's clock, in milliseconds. */
  readonly #wrongBy = new Map<string, number>();
  readonly #held = new Map<string, number>();
  readonly #atRequest = new Map<string, () => void>();
  readonly #drops = new Map<string, Set<() => void>>();
  /** The times at which the API server stopped and began to call the webhooks, in turn. */
  readonly #switched: number[] = [];
  #apiServer: Process;
  #driver: Process | undefined;

  constructor(seed: number, { hasOtherWebhook = false } = {}) {
    this.random = randomFrom(seed);
    this.time = new VirtualTime(START, () => this.random.next());
    this.#apiServer = new Process('kube-apiserver', this.time);
    this.server = new ApiServer({
      now: () => this.time.now,
      callWebhook: (path, request) => this.#callWebhook(path, request),
      ...(hasOtherWebhook && { otherWebhook: this.#changedByOther.bind(this) }),
      answered: (write) => {
        this.writes.push(write);
        this.afterWrite(write);
      },
    });
    this.#network = {
      time: this.time,
      server: this.server,
      serverProcess: () => this.#apiServer,
      latency: () => this.#latency(),
      heldUntil: (resource) => this.#held.get(resource) ?? 0,
      onDrop: (resource, drop) => {
        const drops = this.#drops.get(resource) ?? new Set();
        this.#drops.set(resource, drops.add(drop));
        return () => drops.delete(drop);
      },
    };
  }

  /**
   * Starts hook servers and garbage collector. Start the driver when the first objects exist, so that it syncs each
   * once.
   */
  start(): void {
    for (const controller of CONTROLLERS) this.server.storage.put(resourceOf(controller), controller);
    for (const name of REPLICAS) this.startReplica(name);
    startCollector(this.time, this.server, userOf('collector'));
  }

  user(name: UserName): User {
    return new User(this.#access(name, userOf(name)));
  }

  /** A user of this name with all rights. */
  userNamed(name: string): User {
    return new User(this.#access(name, { username: name, groups: ['system:masters', 'system:authenticated'] }));
  }

  #access(process: string | Process, user: UserInfo): Access {
    const client = typeof process === 'string' ? new Process(process, this.time) : process;
    return { url: 'http://sim', ca: '', connection: connect(this.#network, client, user) };
  }

  get replicas(): readonly string[] {
    return REPLICAS;
  }

  startReplica(name: string): void {
    if (this.#replicas.get(name)?.process.isAlive) return;
    this.#note(`${name} starts`);
    const process = new Process(name, this.time, () => this.#wrongBy.get(name) ?? 0);
    const server = hookServer({
      clock: process.clock,
      access: this.#access(process, userOf('hooks')),
      settings: SETTINGS,
      crashed: (path, error) => this.crashes.push(`${path}: ${error.stack}`),
    });
    this.#replicas.set(name, { process, server });
  }

  killReplica(name: string): void {
    this.#note(`${name} is killed`);
    this.#replicas.get(name)?.process.end();
  }

  startDriver(): void {
    if (this.#driver?.isAlive) return;
    this.#note('metacontroller starts');
    const process = new Process('metacontroller', this.time);
    this.#driver = process;
    const { signal } = new AbortController();
    const engine = createEngine(
      this.#access(process, userOf('metacontroller')),
      {
        clock: process.clock,
        hooks: (url, request) => this.#callHook(process, url, request),
        log: { info: () => {}, problem: () => {} },
      },
      signal,
    );
    void new ControllerSet(engine).start();
  }

  killDriver(): void {
    this.#note('metacontroller is killed');
    this.#driver?.end();
  }

  startApiServer(): void {
    if (this.#apiServer.isAlive) return;
    this.#note('the API server starts');
    this.#apiServer = new Process('kube-apiserver', this.time);
  }

  /** Kills the API server: writes that aren't stored yet are lost. */
  killApiServer(): void {
    this.#note('the API server is killed');
    this.server.die();
    this.#apiServer.end();
  }

  /** Runs the work when the API server calls a webhook for the next write of the resource. */
  atNextRequest(resource: string, what: () => void): void {
    this.#atRequest.set(resource, what);
  }

  /** Holds back the events of a resource for a while. */
  hold(resource: string, ms: number): void {
    this.#note(`events of ${resource} are held back for ${ms / 1000} s`);
    this.#held.set(resource, Math.max(this.#held.get(resource) ?? 0, this.time.now + ms));
  }

  /** Without admission the API server stores each write as it is, as with `failurePolicy: Ignore` during an outage. */
  switchAdmission(isOn: boolean): void {
    if (isOn === this.#hasAdmission) return;
    this.#note(`the API server ${isOn ? 'calls the webhooks again' : 'calls no webhook'}`);
    this.#switched.push(this.time.now);
  }

  get #hasAdmission(): boolean {
    return this.#switched.length % 2 === 0;
  }

  /** Whether the API server called the webhooks during all of this time. */
  hadAdmission(from: number, until: number): boolean {
    const before = (ms: number) => this.#switched.filter((at) => at <= ms).length;
    return before(from) % 2 === 0 && before(from) === before(until);
  }

  leap(ms: number): void {
    this.#note(`every clock leaps forward by ${(ms / 3_600_000).toFixed(1)} h`);
    this.time.leap(ms);
  }

  setClock(replica: string, ms: number): void {
    this.#note(`the clock of ${replica} is ${ms === 0 ? 'right' : `wrong by ${(ms / 3_600_000).toFixed(1)} h`}`);
    this.#wrongBy.set(replica, ms);
  }

  dropWatches(resource: string): void {
    this.#note(`watches of ${resource} break`);
    for (const drop of [...(this.#drops.get(resource) ?? [])]) drop();
  }

  /** Ends all faults and delays. */
  heal(): void {
    this.startApiServer();
    for (const name of REPLICAS) this.startReplica(name);
    this.startDriver();
    this.#held.clear();
    this.#wrongBy.clear();
    this.switchAdmission(true);
    this.disturbance = NO_DISTURBANCE;
  }

  /** Advances the time until the work is done. */
  async until<T>(work: Promise<T>): Promise<T> {
    let isDone = false;
    const watched = work.finally(() => {
      isDone = true;
    });
    watched.catch(() => {});
    const deadline = this.time.now + PATIENCE_MS;
    while (!isDone && this.time.now < deadline) await this.time.runUntil(this.time.now + 50);
    if (!isDone) throw new Error('the simulation waits for an answer that never comes');
    return watched;
  }

  #note(what: string): void {
    this.faults.push([this.time.now, what]);
  }

  #latency(): number {
    const { slowOfThousand, slowMs } = this.disturbance;
    const isSlow = this.random.next() * 1000 < slowOfThousand;
    return 1 + this.random.next() * (isSlow ? slowMs : 5);
  }

  #replica(): Replica {
    const name = REPLICAS[this.random.integer(0, REPLICAS.length - 1)]!;
    const chosen = this.#replicas.get(name)!;
    // A Service leaves out an endpoint that doesn't answer, most of the time.
    if (chosen.process.isAlive || this.random.next() < 0.1) return chosen;
    return [...this.#replicas.values()].find(({ process }) => process.isAlive) ?? chosen;
  }

  async #callHook(driver: Process, ...[url, { body, timeoutMs }]: Parameters<HookTransport>) {
    const { process, server } = this.#replica();
    const answer = process.answer(async () => {
      await this.time.pause(this.#latency());
      const result = await server.hook(new URL(url).pathname, body);
      await this.time.pause(this.#latency());
      return result;
    });
    const result = await within(this.time, timeoutMs, answer);
    return driver.isAlive ? result : new Promise<never>(() => {});
  }

  /** The Flux object after another team's webhook, which records path and suspend in an annotation. */
  #changedByOther(object: AnyObject, isFirst: boolean): AnyObject {
    if (!/^(kustomize|source)\.toolkit\.fluxcd\.io\//.test(object.apiVersion)) return object;
    const isChanged = this.disturbance.hasOtherWebhook && this.random.next() < OTHER_CHANGES_SHARE;
    // Called first, it would resume the object on behalf of the writer, of whom the judges may not expect that.
    const change = isChanged ? OTHER_CHANGES[this.random.integer(isFirst ? 1 : 0, OTHER_CHANGES.length - 1)] : {};
    const { metadata, spec } = mergePatched(object, change) as AnyObject;
    const seen = JSON.stringify([spec?.path ?? spec?.url, spec?.suspend]);
    const annotations = { ...metadata.annotations, 'policy.example.com/seen': seen };
    return { ...object, spec, metadata: { ...metadata, annotations } };
  }

  #callWebhook(path: string, request: AdmissionRequest): Promise<AdmissionResponse> {
    const resource = `${request.resource.group}/${request.resource.resource}`;
    this.#atRequest.get(resource)?.();
    this.#atRequest.delete(resource);
    if (!this.#hasAdmission) return Promise.resolve({ uid: request.uid, allowed: true });
    const { process, server } = this.#replica();
    const answer = process.answer(async () => {
      await this.time.pause(this.#latency());
      const response = await server.admit(path, request);
      await this.time.pause(this.#latency());
      return response;
    });
    return within(this.time, ADMISSION_TIMEOUT_MS, answer);
  }
}

function within<T>(time: VirtualTime, ms: number, answer: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = time.after(ms, () => reject(new Error('no answer in time')));
    answer.then(resolve, reject).finally(cancel);
  });
}

const resourceOf = ({ kind }: AnyObject) => `metacontroller.k8s.io/${kind.toLowerCase()}s`;
const CONTROLLERS = readManifests(join(REPOSITORY, 'manifests/controllers')).map((controller) =>
  useLoopback(controller, { hooksPort: 80, webhookPort: 443 } as never),
);
