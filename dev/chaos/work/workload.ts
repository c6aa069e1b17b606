/** The workload: releases, Gates, Git syncs, health reports and users' writes, until it is stopped. */
import { setMaxListeners } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { type Random, randomFrom } from '../../actors/random.ts';
import { requestGate } from '../../actors/requestGate.ts';
import { User } from '../../actors/user.ts';
import { ApiError } from '../../client/send.ts';
import type { LocalCluster } from '../../local/cluster.ts';
import type { Log } from '../../local/process/log.ts';
import { hostileTenant } from './hostile.ts';
import { createPlatform, EMERGENCY, FLUX_NAMESPACE, teamOf, usersOf } from './team.ts';

const PROGRESS_MS = 10_000;
/** Duration of the freeze against which the hostile tenant works while every process runs. */
const FREEZE_MS = 30_000;
/** Twice the time in the documentation, since everything runs on one machine. */
const HELD_WITHIN_MS = 10_000;

export type Tally = Record<'done' | 'denied' | 'conflict' | 'missing' | 'unavailable', number>;

export interface Pace {
  /** Factor for the pauses between users' actions. */
  users: number;
  /** Factor for the pauses of Flux, Git syncs and health reports. */
  controllers: number;
}

export async function startWorkload(
  cluster: LocalCluster,
  random: Random,
  { teams: teamCount, pace, log }: { teams: number; pace: Pace; log: Log },
) {
  const users = usersOf((name) => new User(cluster.accessOf(name)));
  const next = () => randomFrom(random.integer(0, 2 ** 31));
  const teams = Array.from({ length: teamCount }, (_, i) => teamOf(i + 1, users, next()));
  const tally: Tally = { done: 0, denied: 0, conflict: 0, missing: 0, unavailable: 0 };
  const hostile = hostileTenant(users, next());
  /** Aborted when the users' work ends, and when all work ends. */
  const [resting, ended] = [new AbortController(), new AbortController()];
  for (const { signal } of [resting, ended]) setMaxListeners(0, signal);
  let frozen = false;

  // Half of the teams bake, and take turns.
  await createPlatform(users, Math.ceil(teamCount / 4));
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

  /** Repeats the work with pauses of up to twice `everyMs`. */
  async function repeat({ signal }: AbortController, everyMs: number, what: () => Promise<unknown>): Promise<void> {
    const dice = next();
    while (!signal.aborted) {
      await wait(dice.integer(0, 2 * everyMs), undefined, { signal }).catch(() => {});
      if (!signal.aborted) await attempt(what);
    }
  }

  const ofUsers = (everyMs: number, what: () => Promise<unknown>) => repeat(resting, everyMs * pace.users, what);
  const ofControllers = (everyMs: number, what: () => Promise<unknown>) =>
    repeat(ended, everyMs * pace.controllers, what);
  const dice = next();
  let toggled: Promise<unknown> = Promise.resolve();
  const toggleEmergencyGate = async () => {
    if (frozen) return;
    toggled = requestGate(users.sre, FLUX_NAMESPACE, EMERGENCY, dice.next() < 0.65 ? 'open' : 'close');
    await toggled;
  };
  const usersWork = [
    ofUsers(4000, toggleEmergencyGate),
    // Two at once: some attacks are races.
    ofUsers(150, hostile.act),
    ofUsers(150, hostile.act),
    ...teams.flatMap((team) => [
      ofUsers(3000, team.release),
      ofUsers(2500, team.toggleGate),
      ofUsers(350, team.act),
      ofUsers(2000, team.commit),
    ]),
  ];
  const controllersWork = teams.flatMap((team) => [
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
    /**
     * Closes the platform team's Gate during the work. Resolves to the hostile tenant's objects that weren't held in
     * time or didn't stay held.
     */
    freeze: async () => {
      frozen = true;
      // A request to open that is still on its way would arrive last, and win.
      await toggled.catch(() => {});
      const begun = performance.now();
      await retry(() => requestGate(users.sre, FLUX_NAMESPACE, EMERGENCY, 'close'), begun + FREEZE_MS);
      const closed = performance.now();
      /** Since when each running object has been seen. */
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
            violations.add(`runs though ${FLUX_NAMESPACE}/${EMERGENCY} is closed: ${one}`);
        }
        if (Number.isNaN(heldAfterSeconds) && running.length === 0) heldAfterSeconds = (now - closed) / 1000;
        await wait(100);
      }
      return { heldAfterSeconds, violations: [...violations] };
    },
    /**
     * Ends the users' work, opens every Gate and reports Healthy, while Git and Flux continue. Resolves to the
     * differences that are left at the deadline.
     */
    settle: async (patienceMs: number) => {
      resting.abort();
      await Promise.all(usersWork);
      const deadline = performance.now() + patienceMs;
      let reported = performance.now();
      await retry(() => requestGate(users.sre, FLUX_NAMESPACE, EMERGENCY, 'open'), deadline);
      for (const team of teams) await retry(team.calm, deadline);
      await retry(hostile.leave, deadline);
      for (;;) {
        await Promise.all(teams.map((team) => attempt(team.mend)));
        const left = await unsettled().catch((error: Error) => [error.message]);
        if (left.length === 0) return [];
        if (performance.now() > reported + PROGRESS_MS) {
          reported = performance.now();
          log(
            `  not converged: ${left.slice(0, 3).join('; ')}${left.length > 3 ? ` and ${left.length - 3} more` : ''}`,
          );
        }
        if (performance.now() > deadline) return left;
        await wait(500);
      }
    },
    stop: async () => {
      resting.abort();
      ended.abort();
      await Promise.all([...usersWork, ...controllersWork]);
    },
  };
}

export type Workload = Awaited<ReturnType<typeof startWorkload>>;

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
