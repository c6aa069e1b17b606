/** Plays a plan: work and faults, then convergence, then quiescence, and the oracle's check. */

import { LIMITS } from '../../core/limits.ts';
import { ref } from '../actors/objects.ts';
import { type Random, randomFrom } from '../actors/random.ts';
import { requestGate } from '../actors/requestGate.ts';
import { type HostileTenant, hostileTenant } from '../chaos/work/hostile.ts';
import {
  createPlatform,
  EMERGENCY,
  FLUX_NAMESPACE,
  type Team,
  teamOf,
  type Users,
  usersOf,
} from '../chaos/work/team.ts';
import { type AnyObject, ApiError } from '../client/send.ts';
import type { GateLimits } from '../oracle/requiredGates.ts';
import type { StoredEvent } from './apiServer/storage.ts';
import { SimulatedCluster } from './cluster/simulatedCluster.ts';
import { Faults, WRONGEST_HOURS } from './faults.ts';
import { findingsOf, type Outcome, PATIENCE_MS } from './findings.ts';
import { type Fault, type Plan, type Step, TEAM_STEPS, type TeamStep, type TimedStep } from './plan.ts';
import { WorkloadRun } from './workloadRun.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
/** As in docs/security.md: an object that enters a selection is marked within tens of milliseconds. */
const MARKED_WITHIN_MS = SECOND;
const REAL_LIMITS: GateLimits = { requiredGates: LIMITS.requiredGates, selectingGates: LIMITS.selectingGates };
/** The teams' objects reach these, and no decision takes longer. */
const LOW_LIMITS: GateLimits = { requiredGates: 4, selectingGates: 2 };
const HOUR = 60 * MINUTE;
/** Seconds in which an unblocked version is applied and bakes. */
const DELIVERY_S = 9;
/** Two that succeed and one that may fail: a rollback then has a choice. */
const DELIVERED = 3;
/** The time until the caches are complete, and the objects are older than the oracle's tolerance. */
const START_MS = 150 * SECOND;
const SETTLE_MS = 45 * 60 * SECOND;
/**
 * The pause between the rounds of Flux, Git and reporters at the end. A deployment needs several, and its
 * `deployTimeout` is 20 s.
 */
const ROUND_MS = 4_000;
/**
 * Longer than every controller's resync, which repairs a write that was dropped on a conflict:
 * manifests/controllers/README.md.
 */
const LAST_RESYNC_MS = 11 * 60 * SECOND;
/** Steps of each team without the webhook, before the rest. */
const UNGOVERNED_STEPS = 15;
const REST_MINUTES = 5;
/** Writes of an object in a minute without the webhook: two decorators repeat their triggers. */
const TRIGGERS_A_MINUTE = 2;
const QUIESCENCE_MS = 11 * 60 * SECOND;
const GATES = 'gating.toolkit.fluxcd.io/gates';
const FLUX_RESOURCES = ['kustomize.toolkit.fluxcd.io/kustomizations', 'source.toolkit.fluxcd.io/ocirepositories'];

export function play(plan: Plan): Promise<Outcome> {
  return plan.hasWorkloads ? new WorkloadRun(plan).play() : new Run(plan).play();
}

class Run {
  readonly cluster: SimulatedCluster;
  readonly #plan: Plan;
  readonly #users: Users;
  readonly #teams = new Map<number, Team>();
  readonly #faults: Faults;
  readonly #busy = new Set<string>();
  readonly #failures: string[] = [];
  /** Whether steps have ended: no step may start. */
  #isOver = false;
  #hostile: HostileTenant | undefined;
  /** Random numbers of the current step. */
  #dice: Random = randomFrom(0);
  #begin = 0;
  #convergedMs = 0;
  /** A time at which every object must be as its Gates and Rollouts require. */
  #heldAt: number | undefined;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.cluster = new SimulatedCluster(plan.seed, plan);
    const later = (ms: number, what: () => void) => this.#later(ms, what);
    this.#faults = new Faults(this.cluster, () => this.#dice, later);
    this.#users = usersOf((name) => this.cluster.user(name));
    const dice: Random = {
      next: () => this.#dice.next(),
      integer: (least, most) => this.#dice.integer(least, most),
      weighted: (weights) => this.#dice.weighted(weights),
    };
    for (const index of plan.teams) this.#teams.set(index, teamOf(index, this.#users, dice, plan.hasLowLimits));
    if (plan.hasHostileTenant) this.#hostile = hostileTenant(this.#users, dice);
    Object.assign(LIMITS, plan.hasLowLimits ? LOW_LIMITS : REAL_LIMITS);
  }

  async play(): Promise<Outcome> {
    const { cluster } = this;
    cluster.start();
    this.#begin = cluster.time.now;
    const violations = await this.#run().catch((error) => [
      `the run can't go on: ${error instanceof ApiError ? error.message : error.stack}`,
    ]);
    const { hasWrongClocks, hasLowLimits } = this.#plan;
    const limits = hasLowLimits ? LOW_LIMITS : REAL_LIMITS;
    const findings = findingsOf(cluster, { clocksAreRight: !hasWrongClocks, heldAt: this.#heldAt, limits });
    violations.push(...findings.violations, ...cluster.crashes, ...this.#failures);
    const [begin, convergedMs] = [this.#begin, this.#convergedMs || cluster.time.now];
    const virtualMs = cluster.time.now - begin;
    return { violations, deployments: findings.deployments, virtualMs, cluster, begin, convergedMs };
  }

  /** Returns what hasn't converged, and what is written at rest. */
  async #run(): Promise<string[]> {
    const { cluster } = this;
    await cluster.until(this.#create());
    cluster.startDriver();
    await cluster.time.runUntil(cluster.time.now + START_MS);
    this.#begin = cluster.time.now;
    cluster.disturbance = this.#plan;
    let leapt = 0;
    for (const step of this.#plan.steps) {
      await cluster.time.runUntil(this.#begin + leapt + step.at * SECOND);
      const before = cluster.time.now;
      this.#dice = randomFrom(step.seed);
      this.#do(step);
      leapt += cluster.time.now - before;
    }
    this.#isOver = true;
    const patience = cluster.time.now + MINUTE;
    do await cluster.time.runUntil(cluster.time.now + SECOND);
    while (this.#busy.size > 0 && cluster.time.now < patience);
    cluster.heal();
    // Times written by a clock that was ahead have passed by then.
    if (this.#plan.hasWrongClocks) cluster.leap(WRONGEST_HOURS * HOUR);
    const loops = this.#plan.losesWebhook ? await this.#writesWithoutWebhook() : [];
    if (this.#hostile) await this.#freeze(this.#hostile);
    const left = [...loops, ...(await this.#settle())];
    this.#convergedMs = cluster.time.now;
    return left.length === 0 && this.#plan.isLong ? this.#writesAtRest() : left;
  }

  /** Two attacks may run at once: some are races. */
  #attack(): void {
    this.#attempt(`attack ${this.#dice.integer(1, 2)}`, async () => this.#hostile?.act());
  }

  /** Lets the hostile tenant work against a closed Gate, until everything must be held. */
  async #freeze(hostile: HostileTenant): Promise<void> {
    const { time } = this.cluster;
    this.#dice = randomFrom(this.#plan.seed);
    await this.cluster.until(hostile.turn('close'));
    for (const until = time.now + PATIENCE_MS; time.now < until; await time.runUntil(time.now + SECOND)) this.#attack();
    await time.runUntil(time.now + MARKED_WITHIN_MS);
    this.#heldAt = time.now;
    await this.cluster.until(hostile.turn('open'));
  }

  async #create(): Promise<void> {
    await this.#hostile?.create();
    await this.#users.admin.create({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: FLUX_NAMESPACE },
    } as never);
    await createPlatform(this.#users, 1);
    for (const team of this.#teams.values()) {
      await team.create();
      await team.sync();
      await team.release();
    }
  }

  #do(step: Step): void {
    const team = this.#teams.get(step.team);
    if (step.what in this.#faults.all) this.#faults.all[step.what as Fault]();
    else if (step.what in this.#timedSteps && team) this.#timedSteps[step.what as TimedStep](team);
    else if (step.what === 'attack') this.#attack();
    else if (step.what === 'exceed' && team) this.#attempt(`exceed ${team.namespace}`, () => team.exceed());
    else if (step.what === 'toggleEmergencyGate') this.#attempt('emergency', () => this.#toggleEmergencyGate());
    // Otherwise a pin or another release would end most deliveries.
    else if (team && !this.#busy.has(`deliver ${team.namespace}`))
      this.#attempt(`${step.what} ${team.namespace}`, () => team[step.what as TeamStep]());
  }

  /** Starts the work unless it is running. An error of the API server is a valid outcome. */
  #attempt(name: string, what: () => Promise<unknown>): void {
    if (this.#busy.has(name)) return;
    this.#busy.add(name);
    what()
      .catch((error) => {
        const isAnswer = error instanceof ApiError || /connection re(fused|set)/.test(error.message);
        if (!isAnswer) this.#failures.push(`the simulation itself fails in ${name}: ${error.stack}`);
      })
      .finally(() => this.#busy.delete(name));
  }

  readonly #timedSteps: Record<TimedStep, (team: Team) => void> = {
    crashAfterWrite: () => {
      const { cluster } = this;
      const name = this.#faults.replica();
      const [kill, start] = this.#any([
        [() => cluster.killReplica(name), () => cluster.startReplica(name)],
        [() => cluster.killDriver(), () => cluster.startDriver()],
        [() => cluster.killDriver(), () => cluster.startDriver()],
        [() => cluster.killApiServer(), () => cluster.startApiServer()],
      ] as const);
      const downMs = this.#faults.downMs();
      this.#atWrite(this.#faults.resource(), () => {
        kill();
        cluster.time.after(downMs, start);
      });
    },
    staleAfterWrite: () => {
      const resource = this.#faults.resource();
      const heldMs = this.#dice.integer(2, 20) * SECOND;
      this.#atWrite(resource, () => this.cluster.hold(resource, heldMs));
    },
    closeUnseen: (team) => {
      const name = this.#any(['freeze', 'approval', 'qa', 'emergency'] as const);
      this.cluster.hold(name === 'qa' ? 'kuberik.com/rolloutgates' : GATES, this.#dice.integer(3, 15) * SECOND);
      this.#attempt(`close ${team.namespace}`, () => team.close(name));
      const laterMs = this.#dice.integer(1, 4) * 500 + 1000;
      this.#later(laterMs, () => this.#attempt(`release ${team.namespace}`, () => team.release()));
    },
    selectUnseen: (team) => {
      const begin = () => {
        this.cluster.hold(GATES, this.#dice.integer(6, 15) * SECOND);
        this.#attempt(`select ${team.namespace}`, () => team.select({}));
      };
      const isDuringDeployment = this.#dice.next() < 0.5;
      const laterMs = this.#dice.integer(5, 8) * 500;
      this.#attempt(`release ${team.namespace}`, async () => {
        await team.open();
        if (isDuringDeployment) this.#atDeployment(team, begin);
        else {
          begin();
          await this.cluster.time.pause(laterMs);
        }
        await team.release();
      });
      const end = () => this.#attempt(`select ${team.namespace}`, () => team.select(null));
      this.#later(this.#dice.integer(15, 25) * SECOND, end);
    },
    withdrawUnseen: (team) => {
      const { developer } = this.#users;
      const app = ref('rollout', team.namespace, 'app');
      const request = (version: string | null) =>
        developer.mergePatch(app, { metadata: { annotations: { 'rollout.kuberik.com/force-deploy': version } } });
      this.#attempt(`withdraw ${team.namespace}`, async () => {
        const { availableReleases = [], history = [] } = (await developer.get(app)).status ?? {};
        const older = availableReleases.find(({ tag }: AnyObject) => tag !== history[0]?.version.tag);
        if (!older) return;
        await team.close('freeze');
        await request(older.tag);
        await this.cluster.time.pause(SECOND);
        this.cluster.hold('kuberik.com/rollouts', 6 * SECOND);
        await request(null);
        await this.cluster.time.pause(2 * SECOND);
        await this.#openAll(team);
      });
    },
    failUnseen: (team) =>
      this.#atEvent(
        ({ object, before }) =>
          object.kind === 'Rollout' &&
          object.metadata.namespace === team.namespace &&
          object.status?.history?.[0]?.bakeStatus === 'InProgress' &&
          before?.status?.history?.[0]?.bakeStatus !== 'InProgress',
        () => {
          this.cluster.hold('kuberik.com/healthchecks', 8 * SECOND);
          this.#attempt(`fail ${team.namespace}`, () => team.fail());
        },
      ),
    turnDuringWrite: (team) => {
      const delayMs = this.#dice.next() * 12;
      const action = this.#any(['open', 'close', 'close'] as const);
      this.cluster.atNextRequest(this.#any(FLUX_RESOURCES), () =>
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
      const fails = this.#dice.next() < 0.7;
      this.#attempt(`deliver ${team.namespace}`, async () => {
        for (let left = DELIVERED; left > 0; left--) {
          await this.#openAll(team);
          await team.release();
          for (let second = 1; second < DELIVERY_S; second++) {
            await this.cluster.time.pause(SECOND);
            if (this.#isOver) return;
            await team.sync();
            await team.reconcile();
            await (left === 1 && fails ? team.fail() : team.recover());
          }
        }
      });
    },
    hotfix: (team) => {
      const { developer, sre } = this.#users;
      const app = ref('rollout', team.namespace, 'app');
      const isNewest = this.#dice.next() < 0.5;
      const reason = `HOT-${this.cluster.time.now}`;
      this.#turn(team, team.namespace.endsWith('2') || team.namespace.endsWith('4') ? 'freeze' : 'approval', 'close');
      this.#attempt(`release ${team.namespace}`, () => team.release());
      this.#attempt(`hotfix ${team.namespace}`, async () => {
        await this.cluster.time.pause(200);
        const [one, other] = [team.releases(), Math.max(1, team.releases() - 1)].map((release) => `1.${release}.0`);
        await developer.mergePatch(app, { spec: { wantedVersion: isNewest ? one : other } });
        const force = { 'rollout.kuberik.com/force-deploy': isNewest ? other : one };
        await sre.mergePatch(app, { metadata: { annotations: { ...force, 'gate.fluxcd.io/bypass-reason': reason } } });
      });
    },
  };

  #later(ms: number, what: () => void): void {
    this.cluster.time.after(ms, () => {
      if (!this.#isOver) what();
    });
  }

  #turn(team: Team, name: string, action: 'open' | 'close'): void {
    this.#attempt(`turn ${team.namespace} ${action}`, () => requestGate(this.#users.sre, team.namespace, name, action));
  }

  /** Withdraws the pin, and opens every Gate of the team and the platform team's. */
  async #openAll(team: Team): Promise<void> {
    await requestGate(this.#users.sre, FLUX_NAMESPACE, EMERGENCY, 'open');
    await this.#users.developer.mergePatch(ref('rollout', team.namespace, 'app'), { spec: { wantedVersion: null } });
    await team.open();
  }

  /** Runs the work when one of the next writes of the resource is stored. */
  #atWrite(resource: string, what: () => void): void {
    let left = this.#dice.integer(1, 3);
    this.#atEvent((event) => event.resource === resource && --left <= 0, what);
  }

  #atDeployment(team: Team, what: () => void): void {
    const idOf = (rollout: AnyObject | undefined) => rollout?.status?.history?.[0]?.id ?? 0;
    const isNew = ({ object, before }: StoredEvent) =>
      object.metadata.namespace === team.namespace && object.kind === 'Rollout' && idOf(object) > idOf(before);
    this.#atEvent(isNew, what);
  }

  #atEvent(isAwaited: (event: StoredEvent) => boolean, what: () => void): void {
    const unfollow = this.cluster.server.storage.follow((event) => {
      if (!isAwaited(event)) return;
      unfollow();
      if (!this.#isOver) what();
    });
  }

  #any<T>(list: readonly T[]): T {
    return list[this.#dice.integer(0, list.length - 1)]!;
  }

  #toggleEmergencyGate(): Promise<unknown> {
    return requestGate(this.#users.sre, FLUX_NAMESPACE, EMERGENCY, this.#dice.next() < 0.6 ? 'open' : 'close');
  }

  /**
   * Withdraws requests, opens every Gate, and lets Git and Flux continue. Returns what hasn't converged at the
   * deadline.
   */
  async #settle(): Promise<string[]> {
    const { cluster } = this;
    const { sre } = this.#users;
    const teams = [...this.#teams.values()];
    const deadline = cluster.time.now + SETTLE_MS;
    this.#dice = randomFrom(1);
    await this.#retry(() => requestGate(sre, FLUX_NAMESPACE, EMERGENCY, 'open'), deadline);
    for (const team of teams) await this.#retry(() => team.calm(), deadline);
    await this.#retry(async () => this.#hostile?.leave(), deadline);
    for (;;) {
      for (const [index, team] of this.#teams) {
        for (const what of ['sync', 'reconcile', 'report'] as const)
          this.#attempt(`${what} ${index}`, () => team[what]());
        this.#attempt(`mend ${index}`, () => team.mend());
      }
      await cluster.time.runUntil(cluster.time.now + ROUND_MS);
      const left = await this.cluster
        .until(Promise.all(teams.map((team) => team.unsettled())))
        .catch((error) => [[error.message]]);
      if (left.flat().length === 0) return [];
      if (cluster.time.now > deadline) return left.flat().map((text) => `not converged: ${text}`);
    }
  }

  async #retry(what: () => Promise<unknown>, deadline: number): Promise<void> {
    for (;;) {
      try {
        await this.cluster.until(what());
        return;
      } catch (error) {
        if (this.cluster.time.now > deadline) throw error;
        await this.cluster.time.runUntil(this.cluster.time.now + ROUND_MS);
      }
    }
  }

  /**
   * Lets users and Flux work without the webhook, then rest. Returns the objects that hooks write too often meanwhile.
   */
  async #writesWithoutWebhook(): Promise<string[]> {
    const { cluster } = this;
    cluster.switchAdmission(false);
    this.#dice = randomFrom(this.#plan.seed);
    for (let left = UNGOVERNED_STEPS; left > 0; left--) {
      const what = this.#dice.weighted(TEAM_STEPS);
      for (const [index, team] of this.#teams) this.#attempt(`${what} ${index}`, () => team[what]());
      await cluster.time.runUntil(cluster.time.now + this.#dice.next() * 10 * SECOND);
    }
    await cluster.time.runUntil(cluster.time.now + 2 * MINUTE);
    const { events } = cluster.server.storage;
    const before = events.length;
    await cluster.time.runUntil(cluster.time.now + REST_MINUTES * MINUTE);
    const counts = new Map<string, number>();
    for (const { resource, object } of events.slice(before)) {
      const name = `${resource} ${object.metadata.namespace}/${object.metadata.name}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    cluster.switchAdmission(true);
    await cluster.time.runUntil(cluster.time.now + PATIENCE_MS);
    this.#heldAt = cluster.time.now;
    const often = [...counts].filter(([, count]) => count > (REST_MINUTES + 1) * TRIGGERS_A_MINUTE);
    return often.map(
      ([name, count]) => `without the webhook, ${name} is written ${count} times in ${REST_MINUTES} minutes`,
    );
  }

  /** Writes without a cause, after every request, release and resync is done. */
  async #writesAtRest(): Promise<string[]> {
    const { cluster } = this;
    await cluster.time.runUntil(cluster.time.now + LAST_RESYNC_MS);
    const { events } = cluster.server.storage;
    const before = events.length;
    await cluster.time.runUntil(cluster.time.now + QUIESCENCE_MS);
    return events.slice(before, before + 3).map(({ resource, object }) => {
      const { namespace, name } = object.metadata;
      return `written without a cause: ${resource} ${namespace}/${name}`;
    });
  }
}
