/**
 * A run with workloads: a Rollout whose HealthCheck watches Pods, while versions break in every way, Pods are moved,
 * and Flux, hooks and driver fail for a while.
 */
import { imagePolicy, kustomization, ociRepository, ref, rollout } from '../actors/objects.ts';
import { type Random, randomFrom } from '../actors/random.ts';
import type { User } from '../actors/user.ts';
import type { AnyObject } from '../client/send.ts';
import { wrongOutcomes } from '../oracle/outcomes.ts';
import { SimulatedCluster } from './cluster/simulatedCluster.ts';
import { Faults } from './faults.ts';
import { findingsOf, type Outcome } from './findings.ts';
import type { Fault, Plan, Step, WorkloadStep } from './plan.ts';
import { type Applied, FluxControllers } from './workloads/flux.ts';
import { Workloads } from './workloads/pods.ts';
import { behaviorOf, QUICK, type Version, versionOf } from './workloads/versions.ts';

const NAMESPACE = 'team-1';
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const TICK_MS = 5 * SECOND;
const DEPLOY_TIMEOUT_MINUTES = 25;
/** Kubernetes' deadline, after the last step that changed a workload, with the grace period. */
const DEADLINE_MINUTES = 40;
/** For evaluations, and for processes that are down. */
const SLACK_MINUTES = 6;
const WATCHED = { app: 'app' };
const KINDS: Applied[][] = [
  ...(['Deployment', 'Deployment', 'StatefulSet', 'DaemonSet', 'HelmRelease'] as const).map((kind) => [kind]),
  ['Deployment', 'StatefulSet'],
  ['Deployment', 'HelmRelease'],
];

export class WorkloadRun {
  readonly #steps: readonly Step[];
  readonly #cluster: SimulatedCluster;
  readonly #admin: User;
  readonly #versions: Version[] = [];
  readonly #workloads: Workloads;
  readonly #flux: FluxControllers;
  readonly #kinds: readonly Applied[];
  readonly #bakeSeconds: number;
  /** Only Deployments and HelmReleases end without it if their Pods never crash. */
  readonly #hasTimeout: boolean;
  /** The time between two commits, if the source is a repository of many applications. */
  readonly #commitSeconds: number | undefined;
  #dice: Random;

  constructor({ seed, steps }: Plan) {
    this.#dice = randomFrom(seed);
    this.#steps = steps;
    this.#cluster = new SimulatedCluster(seed);
    this.#admin = this.#cluster.user('admin');
    this.#bakeSeconds = this.#any([120, 180, 300]);
    this.#kinds = this.#any(KINDS);
    const mayHang = this.#kinds.some((kind) => !['Deployment', 'HelmRelease'].includes(kind));
    this.#hasTimeout = mayHang || this.#any([true, false]);
    this.#commitSeconds = this.#any([undefined, undefined, 60, 200]);
    const installation = {
      kinds: this.#kinds,
      waits: this.#any([true, false]),
      retryMs: this.#any([30, 120]) * SECOND,
      commitMs: this.#commitSeconds && this.#commitSeconds * SECOND,
      cancels: this.#any([true, false]),
      remediates: this.#any([true, false]),
      hasRetries: this.#any([true, false]),
    };
    const { time, server } = this.#cluster;
    const behavior = (tag: string, index: number) => behaviorOf(this.#versionOf(tag), index);
    this.#workloads = new Workloads(server.storage, () => time.now, behavior);
    this.#flux = new FluxControllers(this.#cluster, this.#workloads, NAMESPACE, installation);
  }

  async play(): Promise<Outcome> {
    const cluster = this.#cluster;
    const { time, server } = cluster;
    cluster.start();
    await cluster.until(this.#create());
    cluster.startDriver();
    this.#flux.start();
    const tick = () => {
      this.#workloads.tick();
      time.after(TICK_MS, tick);
    };
    tick();
    await time.runUntil(time.now + 2 * MINUTE);
    const begin = time.now;
    const faults = new Faults(
      cluster,
      () => this.#dice,
      (ms, what) => time.after(ms, what),
    ).all;
    for (const { at, what, seed } of this.#steps) {
      await time.runUntil(begin + at * SECOND);
      this.#dice = randomFrom(seed);
      if (what in faults) faults[what as Fault]();
      else this.#actions[what as WorkloadStep]();
    }
    cluster.heal();
    const left = await this.#settle();
    const { violations, deployments } = findingsOf(cluster);
    const truth = { versionOf: (tag: string) => this.#versionOf(tag), longestMs: this.#longestMs() };
    const rollouts = server.storage.events.filter(({ object }) => object.kind === 'Rollout');
    violations.unshift(...wrongOutcomes(rollouts, truth, time.now), ...left, ...cluster.crashes);
    return { violations, deployments, virtualMs: time.now - begin, cluster, begin, convergedMs: time.now };
  }

  #any<T>(list: readonly T[]): T {
    return list[this.#dice.integer(0, list.length - 1)]!;
  }

  #longestMs(): number {
    const limit = this.#hasTimeout ? 2 * DEPLOY_TIMEOUT_MINUTES : DEADLINE_MINUTES;
    return this.#bakeSeconds * SECOND + (limit + SLACK_MINUTES) * MINUTE;
  }

  async #create(): Promise<void> {
    const interval = this.#any<Record<string, string>>([{}, { 'healthcheck.kuberik.com/requeue-interval': '5s' }]);
    const annotations = { 'healthcheck.kuberik.com/kustomization': 'app', ...interval };
    const { apiVersion, kind } = ref('healthCheck', NAMESPACE, 'app');
    const metadata = { namespace: NAMESPACE, name: 'app', labels: WATCHED, annotations };
    const bake = {
      bakeTime: `${this.#bakeSeconds}s`,
      deployTimeout: this.#hasTimeout ? `${DEPLOY_TIMEOUT_MINUTES}m` : undefined,
      healthCheckSelector: { selector: { matchLabels: WATCHED } },
      onFailure: this.#any(['Rollback', 'Continue']),
    };
    const git = {
      apiVersion: 'source.toolkit.fluxcd.io/v1',
      kind: 'GitRepository',
      metadata: { namespace: NAMESPACE, name: 'app' },
      spec: { interval: '1m', url: 'https://git.example.com/apps' },
    } as AnyObject;
    const objects: AnyObject[] = [
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } },
      { apiVersion, kind, metadata, spec: { class: 'kustomization' } },
      imagePolicy(NAMESPACE, 'app'),
      rollout(NAMESPACE, 'app', { spec: bake }),
      this.#commitSeconds ? git : ociRepository(NAMESPACE, 'app', { rollout: 'app' }),
      kustomization(NAMESPACE, 'app', {
        variables: { APP_VERSION: 'app' },
        spec: this.#commitSeconds ? { sourceRef: { kind: git.kind, name: 'app' } } : {},
      }),
    ];
    for (const object of objects) await this.#admin.create(object);
    this.#publish(QUICK);
  }

  readonly #actions: Record<WorkloadStep, () => void> = {
    publish: () => {
      // A version that replaced another one before its outcome would hide that.
      if (['Succeeded', 'Failed'].includes(this.#head()?.bakeStatus ?? ''))
        this.#publish(versionOf(this.#dice, this.#bakeSeconds));
    },
    drain: () => {
      // Moved Pods are spared unless one crashes or becomes unready meanwhile, and one that dies lives longer.
      if (['stumbling', 'flapping', 'dying'].includes(this.#versionOf(this.#head()?.version.tag ?? '1.0.0').name))
        return;
      // The upgrade would fail by Helm's own timeout.
      if (this.#kinds.includes('HelmRelease') && this.#head()?.bakeStatus === 'Deploying') return;
      this.#workloads.drain(this.#dice.integer(0, 1), this.#dice.integer(0, 120) * SECOND);
    },
    outage: () => this.#flux.outage(this.#dice.integer(5, 45) * SECOND),
  };

  #publish(version: Version): void {
    this.#versions.push(version);
    const policy = ref('imagePolicy', NAMESPACE, 'app');
    const write = (): Promise<unknown> => {
      const latestRef = { name: 'registry.example.com/app', tag: `1.${this.#versions.length - 1}.0` };
      return this.#admin.patchStatus(policy, { latestRef }).catch(() => this.#cluster.time.after(SECOND, write));
    };
    void write();
  }

  #head(): { version: { tag: string }; bakeStatus: string } | undefined {
    const { storage } = this.#cluster.server;
    return storage.get('kuberik.com/rollouts', `${NAMESPACE}/app`)?.status?.history?.[0];
  }

  #versionOf(tag: string): Version {
    return this.#versions[Number(tag.split('.')[1])]!;
  }

  /** Publishes a version that works. Returns what hasn't converged at the deadline. */
  async #settle(): Promise<string[]> {
    const { time } = this.#cluster;
    const deadline = time.now + 3 * this.#longestMs();
    // A publication of the last step may be on its way.
    await time.runUntil(time.now + MINUTE);
    this.#publish(QUICK);
    const tag = `1.${this.#versions.length - 1}.0`;
    for (;;) {
      await time.runUntil(time.now + MINUTE);
      const head = this.#head();
      if (head?.version.tag === tag && head.bakeStatus === 'Succeeded') return [];
      if (time.now > deadline) return [`not converged: ${head?.version.tag} is ${head?.bakeStatus}, not ${tag}`];
    }
  }
}
