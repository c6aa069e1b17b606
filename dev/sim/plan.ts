/**
 * The plan of one run, made from a seed: a list of steps. Leaving out a step doesn't change the choices of the others.
 */
import { type Random, randomFrom } from '../actors/random.ts';

/** Steps of a team, by the method names of dev/chaos/work/team.ts, with weights. */
export const TEAM_STEPS = {
  release: 6,
  toggleGate: 6,
  act: 14,
  commit: 3,
  sync: 5,
  reconcile: 12,
  report: 8,
} as const;
export type TeamStep = keyof typeof TEAM_STEPS;

const FAULTS = {
  killHooks: 3,
  killDriver: 4,
  killApiServer: 2,
  delayEvents: 4,
  dropWatches: 2,
  leap: 1,
  /** Sets the clock of a hook server wrong by hours for a while; only in plans with `hasWrongClocks`. */
  setClock: 0,
  /** The API server calls no webhook for a while; only in plans with `losesWebhook`. */
  switchAdmissionOff: 0,
} as const;
export type Fault = keyof typeof FAULTS;

/** Faults at the moment of a decision, with weights. */
const TIMED_FAULTS = {
  /** A process dies right after one of the next writes is stored, before its client gets an answer. */
  crashAfterWrite: 8,
  /** The caches miss one of the next stored writes for a while. */
  staleAfterWrite: 6,
  /** A Gate closes without the caches seeing it, then a version is released. */
  closeUnseen: 5,
  /** A closed Gate begins to select the team's objects without the caches seeing it, before or during a deployment. */
  selectUnseen: 8,
  /** A Gate opens or closes while the webhook handles a write of an object that requires it. */
  turnDuringWrite: 5,
  /** A request for a version that waits for a Gate is withdrawn without the caches seeing it, then the Gate opens. */
  withdrawUnseen: 4,
  /** A HealthCheck fails without the caches seeing it, as soon as a bake begins. */
  failUnseen: 4,
} as const;
/** Sequences of user actions with exact timing, with weights. */
const SEQUENCES = {
  /** A Gate opens and closes several times within a second. */
  flip: 3,
  /** One user requests a version, another bypasses the closed Gates for another version. */
  hotfix: 3,
  /** A user writes other users' approvals into a Gate's record. */
  forge: 2,
  /** Several versions are released in turn; each is applied and healthy, and the last one may fail. */
  deliver: 3,
} as const;
export type TimedStep = keyof typeof TIMED_FAULTS | keyof typeof SEQUENCES;

/** Steps of a run with workloads, and faults that go with them, with weights. */
const WORKLOAD_STEPS = { publish: 8, drain: 3, outage: 2 } as const;
const WORKLOAD_FAULTS = { killHooks: 1, killDriver: 1, killApiServer: 1, delayEvents: 2, dropWatches: 1 } as const;
export type WorkloadStep = keyof typeof WORKLOAD_STEPS;
/** Minutes between two such steps. */
const MINUTES = [0.2, 1, 3, 10];

export interface Step {
  /** Seconds after the start. */
  at: number;
  what: TeamStep | Fault | TimedStep | WorkloadStep | 'toggleEmergencyGate' | 'attack' | 'exceed';
  team: number;
  /** Seed of the step's own choices. */
  seed: number;
}

/** Seconds between two steps: most come close together. */
const GAPS = [0.02, 0.2, 0.2, 2, 2, 5];

export function planOf(seed: number, length: number) {
  const random = randomFrom(seed * 7919 + 17);
  const any = <T>(list: readonly T[]) => list[random.integer(0, list.length - 1)]!;
  // Only team 1 rolls back.
  const teams = random.next() < 0.75 ? [any([1, 1, 2, 3, 4])] : [any([1, 1, 2]), any([3, 4])];
  const faulty = any([0, 0.15, 0.3]);
  const hasWrongClocks = random.next() < 0.1;
  const hasOtherWebhook = random.next() < 0.3;
  const losesWebhook = random.next() < 0.2;
  const steps: Step[] = [];
  let at = 0;
  while (steps.length < length) {
    at += random.next() * 2 * any(GAPS);
    steps.push({
      at,
      what: stepOf(random, losesWebhook ? Math.max(faulty, 0.1) : faulty, hasWrongClocks, losesWebhook),
      team: any(teams),
      seed: random.integer(0, 2 ** 31 - 1),
    });
  }
  const hasWorkloads = random.next() < 0.2;
  if (hasWorkloads) steps.splice(0, length, ...workloadSteps(random, length));
  const hasLowLimits = random.next() < 0.2;
  const hasHostileTenant = !losesWebhook && !hasWorkloads && random.next() < 0.15;
  if (hasLowLimits && !hasWorkloads) for (const step of steps) if (random.next() < 0.1) step.what = 'exceed';
  if (hasHostileTenant) for (const step of steps) if (random.next() < 0.5) step.what = 'attack';
  return {
    seed,
    /** Indices of teams, which decide each team's Rollout. */
    teams: hasWorkloads ? [1] : teams,
    slowOfThousand: any([0, 10, 50]),
    slowMs: any([200, 3000]),
    /** Whether the run ends with a check for quiescence, which takes longer than everything before. */
    isLong: random.next() < 0.2,
    /** Whether clocks may be wrong; the rules that compare times are left out. */
    hasWrongClocks,
    /** Whether the API server calls no webhook at times, also while everything else is at rest. */
    losesWebhook,
    /** Whether another mutating webhook changes Flux objects, before ours and after it. */
    hasOtherWebhook,
    /** Whether the run is one of workloads, with steps of its own. */
    hasWorkloads,
    /** Whether limits are so low that the teams' objects reach them. */
    hasLowLimits,
    /** Whether a hostile tenant works too, against a closed Gate at the end. */
    hasHostileTenant,
    steps,
  };
}

export type Plan = ReturnType<typeof planOf>;

function stepOf(random: Random, faulty: number, hasWrongClocks: boolean, losesWebhook: boolean): Step['what'] {
  const setClock = hasWrongClocks ? 8 : 0;
  const switchAdmissionOff = losesWebhook ? 12 : 0;
  if (random.next() < faulty)
    return random.weighted<Fault | TimedStep>({ ...FAULTS, ...TIMED_FAULTS, setClock, switchAdmissionOff });
  return random.next() < 0.05
    ? 'toggleEmergencyGate'
    : random.weighted<TeamStep | TimedStep>({ ...TEAM_STEPS, ...SEQUENCES });
}

function workloadSteps(random: Random, length: number): Step[] {
  let at = 0;
  return Array.from({ length }, () => {
    at += random.next() * 120 * MINUTES[random.integer(0, MINUTES.length - 1)]!;
    const what = random.weighted<Step['what']>({ ...WORKLOAD_STEPS, ...WORKLOAD_FAULTS });
    return { at, what, team: 1, seed: random.integer(0, 2 ** 31 - 1) };
  });
}
