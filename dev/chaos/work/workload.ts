/** Everybody at work, whatever is down: releases, Gates, Git syncs, health and people, until they are stopped. */
import { setMaxListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { ask } from '../../actors/ask.ts';
import { gate, rolloutBudget } from '../../actors/objects.ts';
import { type Random, randomFrom } from '../../actors/random.ts';
import { User } from '../../actors/user.ts';
import { ApiError } from '../../client/send.ts';
import type { LocalCluster } from '../../local/cluster.ts';
import type { Log } from '../../local/process/log.ts';
import { hostileTenant } from './hostile.ts';
import { FLUX_NAMESPACE, type People, SHARED, type Team, teamOf } from './team.ts';

const TELL_MS = 10_000;
const EMERGENCY = 'emergency';
/** How long the freeze lasts that the hostile tenant works against while every process runs. */
const FREEZE_MS = 30_000;
/** What the documentation promises, and as much again for a machine on which everything runs at once. */
const HELD_WITHIN_MS = 10_000;

/** The outcome of each attempt. */
export type Tally = Record<'done' | 'denied' | 'conflict' | 'missing' | 'unavailable', number>;

export interface Workload {
  teams: readonly Team[];
  tally: Tally;
  /** Closes the platform team's Gate while everybody goes on; resolves to what of the hostile tenant's was not held in time, or not for long. */
  freeze(): Promise<{ heldAfterSeconds: number; violations: string[] }>;
  /** Nobody begins anything new, every Gate is opened, all is Healthy; Git and Flux go on. Resolves when all has arrived, or to what never did. */
  settle(patienceMs: number): Promise<string[]>;
  stop(): Promise<void>;
}

export interface Pace {
  /** How many times slower than usual people do what they do. */
  people: number;
  /** The same of Flux, Git syncs and health reports. */
  controllers: number;
}

export async function startWorkload(
  cluster: LocalCluster,
  random: Random,
  { teams: teamCount, pace, log }: { teams: number; pace: Pace; log: Log },
): Promise<Workload> {
  const as = (user: 'admin' | 'developer' | 'sre' | 'flux' | 'reporter') => new User(cluster.accessOf(user));
  const people: People = {
    admin: as('admin'),
    developer: as('developer'),
    sre: as('sre'),
    flux: as('flux'),
    reporter: as('reporter'),
  };
  const next = () => randomFrom(random.integer(0, 2 ** 31));
  const teams = Array.from({ length: teamCount }, (_, i) => teamOf(i + 1, people, next()));
  const tally: Tally = { done: 0, denied: 0, conflict: 0, missing: 0, unavailable: 0 };
  const hostile = hostileTenant(people, next());
  /** Nobody begins anything new; and nobody at all. */
  const [resting, ended] = [new AbortController(), new AbortController()];
  for (const { signal } of [resting, ended]) setMaxListeners(0, signal);
  let frozen = false;

  const selects = { namespaceSelector: { matchExpressions: [{ key: 'chaos', operator: 'Exists' }] } };
  await people.admin.create(gate(FLUX_NAMESPACE, EMERGENCY, { spec: { default: 'opened', selects } }));
  // Half of the teams bake, and take turns.
  const fleet = { selector: { matchLabels: SHARED }, maxConcurrent: Math.ceil(teamCount / 4) };
  await people.sre.create(rolloutBudget(undefined, 'fleet', fleet));
  for (const team of teams) await team.create();
  await hostile.create();

  async function attempt(what: () => Promise<unknown>): Promise<void> {
    try {
      await what();
      tally.done++;
    } catch (error) {
      tally[outcomeOf(error)]++;
    }
  }

  /** Does it again and again, with a pause of up to twice `everyMs`. */
  async function habit({ signal }: AbortController, everyMs: number, what: () => Promise<unknown>): Promise<void> {
    const dice = next();
    while (!signal.aborted) {
      await wait(dice.integer(0, 2 * everyMs), undefined, { signal }).catch(() => {});
      if (!signal.aborted) await attempt(what);
    }
  }

  const ofPeople = (everyMs: number, what: () => Promise<unknown>) => habit(resting, everyMs * pace.people, what);
  const ofControllers = (everyMs: number, what: () => Promise<unknown>) =>
    habit(ended, everyMs * pace.controllers, what);
  const dice = next();
  const turnEmergency = async () => {
    if (!frozen) await ask(people.sre, FLUX_NAMESPACE, EMERGENCY, dice.next() < 0.65 ? 'open' : 'close');
  };
  const passing = [
    ofPeople(4000, turnEmergency),
    // Two at once: some ways are races.
    ofPeople(150, hostile.act),
    ofPeople(150, hostile.act),
    ...teams.flatMap((team) => [
      ofPeople(3000, team.release),
      ofPeople(2500, team.turnGate),
      ofPeople(350, team.act),
      ofPeople(2000, team.commit),
    ]),
  ];
  const lasting = teams.flatMap((team) => [
    ofControllers(1000, team.sync),
    ofControllers(500, team.reconcile),
    ofControllers(1000, team.report),
  ]);

  async function unsettled(): Promise<string[]> {
    return (await Promise.all(teams.map((team) => team.unsettled()))).flat();
  }

  return {
    teams,
    tally,
    freeze: async () => {
      frozen = true;
      const begun = performance.now();
      await retry(() => ask(people.sre, FLUX_NAMESPACE, EMERGENCY, 'close'), begun + FREEZE_MS);
      const closed = performance.now();
      /** Since when each has been seen to run. */
      const since = new Map<string, number>();
      const violations = new Set<string>();
      let heldAfterSeconds = Number.NaN;
      while (performance.now() < closed + FREEZE_MS) {
        const running = await hostile.running();
        const now = performance.now();
        for (const one of since.keys()) if (!running.includes(one)) since.delete(one);
        for (const one of running) {
          if (!since.has(one)) since.set(one, now);
          if (now - since.get(one)! > HELD_WITHIN_MS)
            violations.add(`runs behind ${FLUX_NAMESPACE}/${EMERGENCY}: ${one}`);
        }
        if (Number.isNaN(heldAfterSeconds) && running.length === 0) heldAfterSeconds = (now - closed) / 1000;
        await wait(100);
      }
      return { heldAfterSeconds, violations: [...violations] };
    },
    settle: async (patienceMs) => {
      resting.abort();
      await Promise.all(passing);
      const deadline = performance.now() + patienceMs;
      let told = performance.now();
      await retry(() => ask(people.sre, FLUX_NAMESPACE, EMERGENCY, 'open'), deadline);
      for (const team of teams) await retry(team.calm, deadline);
      await retry(hostile.leave, deadline);
      for (;;) {
        await Promise.all(teams.map((team) => attempt(team.mend)));
        const left = await unsettled().catch((error: Error) => [error.message]);
        if (left.length === 0) return [];
        if (performance.now() > told + TELL_MS) {
          told = performance.now();
          log(
            `  still to come: ${left.slice(0, 3).join('; ')}${left.length > 3 ? ` and ${left.length - 3} more` : ''}`,
          );
        }
        if (performance.now() > deadline) return left;
        await wait(500);
      }
    },
    stop: async () => {
      resting.abort();
      ended.abort();
      await Promise.all([...passing, ...lasting]);
    },
  };
}

async function retry(what: () => Promise<unknown>, deadline: number): Promise<void> {
  for (;;) {
    try {
      await what();
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await wait(500);
    }
  }
}

function outcomeOf(error: unknown): keyof Tally {
  if (!(error instanceof ApiError)) return 'unavailable';
  const known: Partial<Record<number, keyof Tally>> = { 403: 'denied', 409: 'conflict', 404: 'missing' };
  return known[error.code] ?? 'unavailable';
}
