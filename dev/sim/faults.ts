/** Faults of the processes of a simulated cluster. */
import type { Random } from '../actors/random.ts';
import type { SimulatedCluster } from './cluster/simulatedCluster.ts';
import type { Fault } from './plan.ts';

const SECOND = 1000;
const HOUR = 3600 * SECOND;
export const WRONGEST_HOURS = 8;
/** Resources whose events may be delayed. */
const RESOURCES = [
  'kuberik.com/rollouts',
  'kuberik.com/fluxbindings',
  'kuberik.com/healthchecks',
  'kuberik.com/rolloutgates',
  'gating.toolkit.fluxcd.io/gates',
  'kustomize.toolkit.fluxcd.io/kustomizations',
  'source.toolkit.fluxcd.io/ocirepositories',
  'image.toolkit.fluxcd.io/imagepolicies',
];

export class Faults {
  readonly #cluster: SimulatedCluster;
  readonly #random: () => Random;
  readonly #later: (ms: number, what: () => void) => unknown;

  /** @param later runs the work after a while, unless the run has ended */
  constructor(cluster: SimulatedCluster, random: () => Random, later: (ms: number, what: () => void) => unknown) {
    this.#cluster = cluster;
    this.#random = random;
    this.#later = later;
  }

  readonly all: Record<Fault, () => void> = {
    killHooks: () => {
      const cluster = this.#cluster;
      const name = this.replica();
      cluster.killReplica(name);
      cluster.time.after(this.downMs(), () => cluster.startReplica(name));
    },
    killDriver: () => {
      this.#cluster.killDriver();
      this.#cluster.time.after(this.downMs(), () => this.#cluster.startDriver());
    },
    killApiServer: () => {
      this.#cluster.killApiServer();
      this.#cluster.time.after(this.downMs(), () => this.#cluster.startApiServer());
    },
    delayEvents: () => this.#cluster.hold(this.resource(), this.#dice.integer(1, 30) * SECOND),
    dropWatches: () => this.#cluster.dropWatches(this.resource()),
    leap: () => this.#cluster.leap(this.#dice.integer(1, 8) * HOUR),
    switchAdmissionOff: () => {
      this.#cluster.switchAdmission(false);
      this.#later(this.#dice.integer(1, 90) * SECOND, () => this.#cluster.switchAdmission(true));
    },
    setClock: () => {
      const cluster = this.#cluster;
      const name = this.replica();
      const ms = (this.#dice.next() < 0.5 ? -1 : 1) * this.#dice.integer(1, WRONGEST_HOURS) * HOUR;
      cluster.setClock(name, ms);
      cluster.time.after(this.#dice.integer(5, 30) * SECOND, () => cluster.setClock(name, 0));
    },
  };

  get #dice(): Random {
    return this.#random();
  }

  replica(): string {
    return this.#any(this.#cluster.replicas);
  }

  resource(): string {
    return this.#any(RESOURCES);
  }

  downMs(): number {
    return this.#dice.next() * 5 * SECOND;
  }

  #any<T>(list: readonly T[]): T {
    return list[this.#dice.integer(0, list.length - 1)]!;
  }
}
