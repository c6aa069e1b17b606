/** Plays a plan: work and faults, then peace until everything is as it must be in the end, then silence, and the judgement. */
import { ask } from '../actors/ask.ts';
import { gate, ref, rolloutBudget } from '../actors/objects.ts';
import { type Random, randomFrom } from '../actors/random.ts';
import { FLUX_NAMESPACE, type People, SHARED, type Team, teamOf } from '../chaos/work/team.ts';
import { ApiError } from '../client/send.ts';
import { judged } from './judge.ts';
import type { Fault, Moment, Plan, Step, TeamStep } from './plan.ts';
import { World } from './world/world.ts';

export interface Outcome {
  /** Sentences; none where all is well. */
  violations: string[];
  deployments: number;
  virtualMs: number;
  world: World;
  /** When the steps began, and when everything that had to come had come. */
  begin: number;
  restMs: number;
}

const EMERGENCY = 'emergency';
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const WRONGEST_HOURS = 8;
/** A version is applied and has baked by then, if nothing holds it. */
const DELIVERY_MS = 9 * SECOND;
/** Until everything is in the caches, and the judges know what has been there for long. */
const START_MS = 150 * SECOND;
const SETTLE_MS = 45 * 60 * SECOND;
/** Of Flux, Git and reporters in the end: a deployment needs several, and must be ready within its `deployTimeout` of 20 s. */
const ROUND_MS = 4_000;
/** Longer than every controller's resync, which finds what a write that was dropped on a conflict has left: manifests/controllers/README.md. */
const CALM_DOWN_MS = 11 * 60 * SECOND;
const SILENCE_MS = 11 * 60 * SECOND;
const GATES = 'gating.toolkit.fluxcd.io/gates';
const FLUX_RESOURCES = ['kustomize.toolkit.fluxcd.io/kustomizations', 'source.toolkit.fluxcd.io/ocirepositories'];
/** What delayed events are of. */
const RESOURCES = [
  'kuberik.com/rollouts',
  'kuberik.com/fluxbindings',
  'kuberik.com/healthchecks',
  'kuberik.com/rolloutgates',
  GATES,
  ...FLUX_RESOURCES,
  'image.toolkit.fluxcd.io/imagepolicies',
];

export async function play(plan: Plan): Promise<Outcome> {
  const run = new Run(plan);
  try {
    return await run.play();
  } finally {
    run.world.stop();
  }
}

class Run {
  readonly world: World;
  readonly #plan: Plan;
  readonly #people: People;
  readonly #teams = new Map<number, Team>();
  readonly #busy = new Set<string>();
  readonly #broken: string[] = [];
  /** Nobody begins anything any more. */
  #isOver = false;
  /** What the step that happens now chooses by. */
  #dice: Random = randomFrom(0);

  constructor(plan: Plan) {
    this.#plan = plan;
    this.world = new World(plan.seed, plan);
    const as = (name: Parameters<World['user']>[0]) => this.world.user(name);
    this.#people = {
      admin: as('admin'),
      developer: as('developer'),
      sre: as('sre'),
      flux: as('flux'),
      reporter: as('reporter'),
    };
    const dice: Random = {
      next: () => this.#dice.next(),
      integer: (least, most) => this.#dice.integer(least, most),
      weighted: (weights) => this.#dice.weighted(weights),
    };
    for (const index of plan.teams) this.#teams.set(index, teamOf(index, this.#people, dice));
  }

  async play(): Promise<Outcome> {
    const { world } = this;
    world.start();
    await this.world.until(this.#create());
    world.startDriver();
    await world.time.runUntil(world.time.now + START_MS);
    const begin = world.time.now;
    world.weather = this.#plan;
    let leapt = 0;
    for (const step of this.#plan.steps) {
      await world.time.runUntil(begin + leapt + step.at * SECOND);
      const before = world.time.now;
      this.#dice = randomFrom(step.seed);
      this.#do(step);
      leapt += world.time.now - before;
    }
    this.#isOver = true;
    const patience = world.time.now + MINUTE;
    do await world.time.runUntil(world.time.now + SECOND);
    while (this.#busy.size > 0 && world.time.now < patience);
    world.heal();
    // What was written by a clock ahead of time is over by then.
    if (this.#plan.hasWrongClocks) world.leap(WRONGEST_HOURS * HOUR);
    const violations = await this.#settle();
    const restMs = world.time.now;
    if (violations.length === 0 && this.#plan.isLong) violations.push(...(await this.#silence()));
    const findings = judged(world, { clocksAreRight: !this.#plan.hasWrongClocks });
    violations.push(...findings.violations, ...world.crashes, ...this.#broken);
    const virtualMs = world.time.now - begin;
    return { violations, deployments: findings.deployments, virtualMs, world, begin, restMs };
  }

  async #create(): Promise<void> {
    const { admin, sre } = this.#people;
    await admin.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: FLUX_NAMESPACE } } as never);
    const selects = { namespaceSelector: { matchExpressions: [{ key: 'chaos', operator: 'Exists' }] } };
    await admin.create(gate(FLUX_NAMESPACE, EMERGENCY, { spec: { default: 'opened', selects } }));
    const fleet = { selector: { matchLabels: SHARED }, maxConcurrent: 1 };
    await sre.create(rolloutBudget(undefined, 'fleet', fleet));
    for (const team of this.#teams.values()) {
      await team.create();
      await team.sync();
      await team.release();
    }
  }

  #do(step: Step): void {
    const team = this.#teams.get(step.team);
    if (step.what in this.#faults) this.#faults[step.what as Fault]();
    else if (step.what in this.#moments && team) this.#moments[step.what as Moment](team);
    else if (step.what === 'turnEmergency') this.#attempt('emergency', () => this.#turnEmergency());
    else if (team) this.#attempt(`${step.what} ${team.namespace}`, () => team[step.what as TeamStep]());
  }

  /** Not twice at once; whatever the API server answers is an answer. */
  #attempt(name: string, what: () => Promise<unknown>): void {
    if (this.#busy.has(name)) return;
    this.#busy.add(name);
    what()
      .catch((error) => {
        const isAnswer = error instanceof ApiError || /connection re(fused|set)/.test(error.message);
        if (!isAnswer) this.#broken.push(`the simulation itself fails in ${name}: ${error.stack}`);
      })
      .finally(() => this.#busy.delete(name));
  }

  readonly #faults: Record<Fault, () => void> = {
    killHooks: () => {
      const { world } = this;
      const name = this.#replica();
      world.killReplica(name);
      world.time.after(this.#downMs(), () => world.startReplica(name));
    },
    killDriver: () => {
      this.world.killDriver();
      this.world.time.after(this.#downMs(), () => this.world.startDriver());
    },
    killApiServer: () => {
      this.world.killApiServer();
      this.world.time.after(this.#downMs(), () => this.world.startApiServer());
    },
    delayEvents: () => this.world.hold(this.#resource(), this.#dice.integer(1, 30) * SECOND),
    dropWatches: () => this.world.dropWatches(this.#resource()),
    leap: () => this.world.leap(this.#dice.integer(1, 8) * HOUR),
    setClock: () => {
      const { world } = this;
      const name = this.#replica();
      const ms = this.#any([-1, 1]) * this.#dice.integer(1, WRONGEST_HOURS) * HOUR;
      world.setClock(name, ms);
      world.time.after(this.#dice.integer(5, 30) * SECOND, () => world.setClock(name, 0));
    },
  };

  readonly #moments: Record<Moment, (team: Team) => void> = {
    crashAfterWrite: () => {
      const { world } = this;
      const name = this.#replica();
      const [kill, start] = this.#any([
        [() => world.killReplica(name), () => world.startReplica(name)],
        [() => world.killDriver(), () => world.startDriver()],
        [() => world.killDriver(), () => world.startDriver()],
        [() => world.killApiServer(), () => world.startApiServer()],
      ] as const);
      const downMs = this.#downMs();
      this.#atWrite(this.#resource(), () => {
        kill();
        world.time.after(downMs, start);
      });
    },
    staleAfterWrite: () => {
      const resource = this.#resource();
      const heldMs = this.#dice.integer(2, 20) * SECOND;
      this.#atWrite(resource, () => this.world.hold(resource, heldMs));
    },
    closeUnseen: (team) => {
      const { sre } = this.#people;
      const name = this.#any(['freeze', 'approval', 'qa', 'emergency'] as const);
      this.world.hold(name === 'qa' ? 'kuberik.com/rolloutgates' : GATES, this.#dice.integer(3, 15) * SECOND);
      const qa = { spec: { passing: false } };
      this.#attempt(`close ${team.namespace}`, async () => {
        if (name === 'qa') await sre.mergePatch(ref('rolloutGate', team.namespace, 'qa'), qa);
        else await ask(sre, name === 'emergency' ? FLUX_NAMESPACE : team.namespace, name, 'close');
      });
      const laterMs = this.#dice.integer(1, 4) * 500 + 1000;
      this.#later(laterMs, () => this.#attempt(`release ${team.namespace}`, () => team.release()));
    },
    turnDuringWrite: (team) => {
      const delayMs = this.#dice.next() * 12;
      const action = this.#any(['open', 'close', 'close'] as const);
      this.world.atNextRequest(this.#any(FLUX_RESOURCES), () =>
        this.#later(delayMs, () => this.#turn(team, 'freeze', action)),
      );
    },
    flip: (team) => {
      const first = this.#any(['open', 'close'] as const);
      const turns = this.#dice.integer(2, 4);
      for (let turn = 0; turn < turns; turn++) {
        const action = (turn % 2 === 0) === (first === 'open') ? 'open' : 'close';
        this.#later(turn * (100 + this.#dice.next() * 1500), () => this.#turn(team, 'freeze', action));
      }
    },
    forge: (team) => this.#attempt(`forge ${team.namespace}`, () => team.forge()),
    deliver: (team) => {
      const versions = this.#dice.integer(2, 3);
      const fails = this.#dice.next() < 0.7;
      const end = versions * DELIVERY_MS;
      for (let ms = 0; ms < end; ms += DELIVERY_MS) {
        this.#later(ms, () =>
          this.#attempt(`release ${team.namespace}`, async () => {
            await team.open();
            await team.release();
          }),
        );
      }
      for (let ms = SECOND; ms < end; ms += SECOND) {
        this.#later(ms, () => this.#attempt(`reconcile ${team.namespace}`, () => team.reconcile()));
        const isLast = ms > end - DELIVERY_MS + SECOND;
        this.#later(ms, () =>
          this.#attempt(`report ${team.namespace}`, () => (isLast && fails ? team.fail() : team.recover())),
        );
      }
    },
    hotfix: (team) => {
      const { developer, sre } = this.#people;
      const app = ref('rollout', team.namespace, 'app');
      const isNewest = this.#dice.next() < 0.5;
      const reason = `HOT-${this.world.time.now}`;
      this.#turn(team, team.namespace.endsWith('2') || team.namespace.endsWith('4') ? 'freeze' : 'approval', 'close');
      this.#attempt(`release ${team.namespace}`, () => team.release());
      this.#attempt(`hotfix ${team.namespace}`, async () => {
        await this.world.time.pause(200);
        const [one, other] = [team.releases(), Math.max(1, team.releases() - 1)].map((release) => `1.${release}.0`);
        await developer.mergePatch(app, { spec: { wantedVersion: isNewest ? one : other } });
        const force = { 'rollout.kuberik.com/force-deploy': isNewest ? other : one };
        await sre.mergePatch(app, { metadata: { annotations: { ...force, 'gate.fluxcd.io/bypass-reason': reason } } });
      });
    },
  };

  #later(ms: number, what: () => void): void {
    this.world.time.after(ms, () => {
      if (!this.#isOver) what();
    });
  }

  #turn(team: Team, name: string, action: 'open' | 'close'): void {
    this.#attempt(`turn ${team.namespace} ${action}`, () => ask(this.#people.sre, team.namespace, name, action));
  }

  /** When one of the next writes of the resource is stored. */
  #atWrite(resource: string, what: () => void): void {
    let left = this.#dice.integer(1, 3);
    const unfollow = this.world.server.storage.follow((event) => {
      if (event.resource !== resource || --left > 0) return;
      unfollow();
      if (!this.#isOver) what();
    });
  }

  #any<T>(list: readonly T[]): T {
    return list[this.#dice.integer(0, list.length - 1)]!;
  }

  #replica(): string {
    return this.#any(this.world.replicas);
  }

  #downMs(): number {
    return this.#dice.next() * 5 * SECOND;
  }

  #resource(): string {
    return this.#any(RESOURCES);
  }

  #turnEmergency(): Promise<unknown> {
    return ask(this.#people.sre, FLUX_NAMESPACE, EMERGENCY, this.#dice.next() < 0.6 ? 'open' : 'close');
  }

  /** Nobody wants anything new, every Gate opens, and Git and Flux go on. Answers what is not as it must be when the patience is over. */
  async #settle(): Promise<string[]> {
    const { world } = this;
    const { sre } = this.#people;
    const teams = [...this.#teams.values()];
    const deadline = world.time.now + SETTLE_MS;
    this.#dice = randomFrom(1);
    await this.#surely(() => ask(sre, FLUX_NAMESPACE, EMERGENCY, 'open'), deadline);
    for (const team of teams) await this.#surely(() => team.calm(), deadline);
    for (;;) {
      for (const [index, team] of this.#teams) {
        for (const what of ['sync', 'reconcile', 'report'] as const)
          this.#attempt(`${what} ${index}`, () => team[what]());
        this.#attempt(`mend ${index}`, () => team.mend());
      }
      await world.time.runUntil(world.time.now + ROUND_MS);
      const left = await this.world
        .until(Promise.all(teams.map((team) => team.unsettled())))
        .catch((error) => [[error.message]]);
      if (left.flat().length === 0) return [];
      if (world.time.now > deadline) return left.flat().map((text) => `not as it must be in the end: ${text}`);
    }
  }

  async #surely(what: () => Promise<unknown>, deadline: number): Promise<void> {
    for (;;) {
      try {
        await this.world.until(what());
        return;
      } catch (error) {
        if (this.world.time.now > deadline) throw error;
        await this.world.time.runUntil(this.world.time.now + ROUND_MS);
      }
    }
  }

  /** What is written although nobody does anything. */
  async #silence(): Promise<string[]> {
    const { world } = this;
    await world.time.runUntil(world.time.now + CALM_DOWN_MS);
    const { events } = world.server.storage;
    const before = events.length;
    await world.time.runUntil(world.time.now + SILENCE_MS);
    return events.slice(before, before + 3).map(({ resource, object }) => {
      const { namespace, name } = object.metadata;
      return `written although nobody does anything: ${resource} ${namespace}/${name}`;
    });
  }
}
