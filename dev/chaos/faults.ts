/** The fault schedule: kills, pauses and restarts of processes at random. The same seed makes the same choices. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Random } from '../actors/random.ts';
import type { RunningChild } from '../local/process/childProcess.ts';
import type { Log } from '../local/process/log.ts';

export interface Target {
  name: string;
  /** The share of the faults that hit the process, relative to other weights. */
  weight: number;
  longestPauseMs: number;
  child(): RunningChild | undefined;
  start(): Promise<RunningChild>;
}

export interface Fault {
  ms: number;
  name: string;
  /** `crashed`: the process ended without a fault of the schedule. */
  what: 'killed' | 'paused' | 'crashed';
}

const DOWN_MS = { least: 0, most: 1500 };
const SHORTEST_PAUSE_MS = 500;
/** Number of attempts to restart a process: its port may be taken, or a process that it needs may be down. */
const STARTS = 40;

export interface FaultSchedule {
  betweenMs: { least: number; most: number };
  /** Milliseconds after which a target gets no more faults. */
  sparedAfterMs?: (target: Target) => number | undefined;
}

export function startFaults(
  targets: readonly Target[],
  { betweenMs, sparedAfterMs }: FaultSchedule,
  random: Random,
  log: Log,
) {
  const begin = Date.now();
  const history: Fault[] = [];
  const counts = new Map(targets.map(({ name }) => [name, { killed: 0, paused: 0, crashed: 0 }]));
  const starts = new Map(targets.map(({ name }) => [name, [Date.now()]]));
  const busy = new Map<string, Promise<void>>();
  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => {});
  let over = false;

  function note({ name }: Target, what: Fault['what']): void {
    counts.get(name)![what]++;
    history.push({ ms: Date.now(), name, what });
  }

  async function die(target: Target, downMs: number): Promise<void> {
    const child = target.child();
    if (!child) return;
    note(target, 'killed');
    log(`${target.name} is killed, for ${(downMs / 1000).toFixed(1)} s`);
    child.kill('SIGKILL');
    await child.exited;
    await wait(downMs);
    watch(target, await start(target));
  }

  async function start(target: Target): Promise<RunningChild> {
    return startRetrying(target, () => starts.get(target.name)!.push(Date.now()));
  }

  /** Restarts the process when it ends by itself, as a kubelet does. */
  function watch(target: Target, child: RunningChild | undefined): void {
    void child?.exited.then(({ isRequested, code, signal }) => {
      if (isRequested) return;
      note(target, 'crashed');
      log(`${target.name} ended by itself (${signal ?? code}), and is started again`);
      const again = start(target).then((next) => watch(target, next));
      busy.set(
        target.name,
        again.catch(reject).finally(() => busy.delete(target.name)),
      );
    });
  }

  async function pause(target: Target, forMs: number): Promise<void> {
    const child = target.child();
    if (!child) return;
    note(target, 'paused');
    log(`${target.name} is paused, for ${(forMs / 1000).toFixed(1)} s`);
    child.kill('SIGSTOP');
    await wait(forMs);
    child.kill('SIGCONT');
  }

  function strike(): void {
    const name = random.weighted(Object.fromEntries(targets.map((target) => [target.name, target.weight])));
    const target = targets.find((one) => one.name === name)!;
    const dies = random.next() < 0.6;
    const downMs = random.integer(DOWN_MS.least, DOWN_MS.most);
    const pauseMs = random.integer(SHORTEST_PAUSE_MS, target.longestPauseMs);
    if (busy.has(name) || Date.now() - begin > (sparedAfterMs?.(target) ?? Number.POSITIVE_INFINITY)) return;
    const fault = (dies ? die(target, downMs) : pause(target, pauseMs)).catch(reject).finally(() => busy.delete(name));
    busy.set(name, fault);
  }

  for (const target of targets) watch(target, target.child());
  const running = (async () => {
    while (!over) {
      await wait(random.integer(betweenMs.least, betweenMs.most));
      if (!over) strike();
    }
  })();

  return {
    /** Numbers of faults by process. */
    counts,
    history,
    /** The start of the process that ran at `ms`; for the first process, the start of the schedule. */
    startedBefore: (name: string, ms: number) => Math.max(...starts.get(name)!.filter((at) => at <= ms)),
    /** Rejects when a process cannot be started again. */
    failed,
    /** Ends the schedule; resolves when every process runs again. */
    stop: async () => {
      over = true;
      await running;
      await Promise.all(busy.values());
    },
  };
}

export type Faults = ReturnType<typeof startFaults>;

/** Starts the target, with retries. Calls `attempt` before each try. */
async function startRetrying(target: Target, attempt: () => void): Promise<RunningChild> {
  for (let left = STARTS; ; left--) {
    attempt();
    try {
      return await target.start();
    } catch (error) {
      if (left === 1) throw error;
      await wait(500);
    }
  }
}
