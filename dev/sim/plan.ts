/** What happens in one run, made from a seed: a list of steps, each of which can be left out without changing what the others choose. */
import { type Random, randomFrom } from '../actors/random.ts';

/** What a team does, by the names of dev/chaos/work/team.ts. */
const TEAM_STEPS = {
  release: 6,
  turnGate: 6,
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
  /** The clock of a hook server is wrong by hours for a while: only where a plan says so. */
  setClock: 0,
} as const;
export type Fault = keyof typeof FAULTS;

/** Faults at the moments at which decisions are made. */
const MOMENTS = {
  /** A process dies right after one of the next writes is stored, before anybody has been answered. */
  crashAfterWrite: 8,
  /** What one of the next writes stores is not in the caches for a while. */
  staleAfterWrite: 6,
  /** A Gate closes unseen by the caches, and then a version is released. */
  closeUnseen: 5,
  /** A Gate turns while the webhooks are asked about a write of what it holds. */
  turnDuringWrite: 5,
} as const;
/** What people do at such moments. */
const DEEDS = {
  /** A Gate turns several times within a second. */
  flip: 3,
  /** Somebody asks for one version, and somebody else lets another past the closed Gates. */
  hotfix: 3,
  /** Somebody writes other people's approvals into a Gate's record. */
  forge: 2,
  /** Several versions come one after the other, each is applied and healthy, and the last one may fail. */
  deliver: 2,
} as const;
export type Moment = keyof typeof MOMENTS | keyof typeof DEEDS;

export interface Step {
  /** Seconds after the begin. */
  at: number;
  what: TeamStep | Fault | Moment | 'turnEmergency';
  /** Of which team, where one does it. */
  team: number;
  /** Of what the step itself chooses. */
  seed: number;
}

export interface Plan {
  seed: number;
  /** Indices: they decide what a team's Rollout is like. */
  teams: number[];
  /** Silence in the end is listened to: it takes longer than all before. */
  isLong: boolean;
  slowOfThousand: number;
  slowMs: number;
  /** What compares times is not judged. */
  hasWrongClocks: boolean;
  /** Another mutating webhook of the cluster writes into Flux objects after ours. */
  hasOtherWebhook: boolean;
  steps: Step[];
}

/** Seconds between two steps: most come close together. */
const GAPS = [0.02, 0.2, 0.2, 2, 2, 5];

export function planOf(seed: number, length: number): Plan {
  const random = randomFrom(seed * 7919 + 17);
  const any = <T>(list: readonly T[]) => list[random.integer(0, list.length - 1)]!;
  const teams = random.next() < 0.75 ? [random.integer(1, 4)] : [random.integer(1, 2), random.integer(3, 4)];
  const faulty = any([0, 0.15, 0.3]);
  const hasWrongClocks = random.next() < 0.1;
  const hasOtherWebhook = random.next() < 0.3;
  const steps: Step[] = [];
  let at = 0;
  while (steps.length < length) {
    at += random.next() * 2 * any(GAPS);
    steps.push({
      at,
      what: stepOf(random, faulty, hasWrongClocks),
      team: any(teams),
      seed: random.integer(0, 2 ** 31 - 1),
    });
  }
  const slow = { slowOfThousand: any([0, 10, 50]), slowMs: any([200, 3000]) };
  return { seed, teams, isLong: random.next() < 0.2, ...slow, hasWrongClocks, hasOtherWebhook, steps };
}

function stepOf(random: Random, faulty: number, hasWrongClocks: boolean): Step['what'] {
  const setClock = hasWrongClocks ? 8 : 0;
  if (random.next() < faulty) return random.weighted<Fault | Moment>({ ...FAULTS, ...MOMENTS, setClock });
  return random.next() < 0.05 ? 'turnEmergency' : random.weighted<TeamStep | Moment>({ ...TEAM_STEPS, ...DEEDS });
}
