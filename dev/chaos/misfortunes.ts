/** What befalls the processes: kills and pauses at random, and restarts. The same seed makes the same choices. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Random } from '../actors/random.ts';
import type { RunningChild } from '../local/process/childProcess.ts';
import type { Log } from '../local/process/log.ts';

export interface Mortal {
  name: string;
  /** How often, relative to the others. */
  weight: number;
  longestPauseMs: number;
  child(): RunningChild | undefined;
  start(): Promise<RunningChild>;
}

export interface Misfortunes {
  /** By process; `crashed` counts the deaths that nobody here has caused. */
  counts: ReadonlyMap<string, { killed: number; paused: number; crashed: number }>;
  /** When the process that lived at that time had been started; for the first one, when the misfortunes began. */
  startedBefore(name: string, ms: number): number;
  /** No more of them; resolves when every process runs again. */
  stop(): Promise<void>;
  /** Rejects when a process cannot be started again. */
  failed: Promise<never>;
}

const BETWEEN_MS = { least: 300, most: 2500 };
const DOWN_MS = { least: 0, most: 1500 };
const SHORTEST_PAUSE_MS = 500;
/** Its port may be taken for a moment, or what it needs is down too. */
const STARTS = 40;

export function startMisfortunes(mortals: readonly Mortal[], random: Random, log: Log): Misfortunes {
  const counts = new Map(mortals.map(({ name }) => [name, { killed: 0, paused: 0, crashed: 0 }]));
  const starts = new Map(mortals.map(({ name }) => [name, [Date.now()]]));
  const busy = new Map<string, Promise<void>>();
  const { promise: failed, reject } = Promise.withResolvers<never>();
  failed.catch(() => {});
  let over = false;

  async function die(mortal: Mortal, downMs: number): Promise<void> {
    const child = mortal.child();
    if (!child) return;
    counts.get(mortal.name)!.killed++;
    log(`${mortal.name} is killed, for ${(downMs / 1000).toFixed(1)} s`);
    child.kill('SIGKILL');
    await child.exited;
    await wait(downMs);
    watch(mortal, await start(mortal));
  }

  async function start(mortal: Mortal): Promise<RunningChild> {
    return startSurely(mortal, () => starts.get(mortal.name)!.push(Date.now()));
  }

  /** As a kubelet does it. */
  function watch(mortal: Mortal, child: RunningChild | undefined): void {
    void child?.exited.then(({ asked, code, signal }) => {
      if (asked) return;
      counts.get(mortal.name)!.crashed++;
      log(`${mortal.name} ended by itself (${signal ?? code}), and is started again`);
      const again = start(mortal).then((next) => watch(mortal, next));
      busy.set(
        mortal.name,
        again.catch(reject).finally(() => busy.delete(mortal.name)),
      );
    });
  }

  async function pause(mortal: Mortal, forMs: number): Promise<void> {
    const child = mortal.child();
    if (!child) return;
    counts.get(mortal.name)!.paused++;
    log(`${mortal.name} is paused, for ${(forMs / 1000).toFixed(1)} s`);
    child.kill('SIGSTOP');
    await wait(forMs);
    child.kill('SIGCONT');
  }

  function strike(): void {
    const name = random.weighted(Object.fromEntries(mortals.map((mortal) => [mortal.name, mortal.weight])));
    const mortal = mortals.find((one) => one.name === name)!;
    const dies = random.next() < 0.6;
    const downMs = random.integer(DOWN_MS.least, DOWN_MS.most);
    const pauseMs = random.integer(SHORTEST_PAUSE_MS, mortal.longestPauseMs);
    if (busy.has(name)) return;
    const blow = (dies ? die(mortal, downMs) : pause(mortal, pauseMs)).catch(reject).finally(() => busy.delete(name));
    busy.set(name, blow);
  }

  for (const mortal of mortals) watch(mortal, mortal.child());
  const running = (async () => {
    while (!over) {
      await wait(random.integer(BETWEEN_MS.least, BETWEEN_MS.most));
      if (!over) strike();
    }
  })();

  return {
    counts,
    startedBefore: (name, ms) => Math.max(...starts.get(name)!.filter((at) => at <= ms)),
    failed,
    stop: async () => {
      over = true;
      await running;
      await Promise.all(busy.values());
    },
  };
}

/** `attempt` is told of each. */
async function startSurely(mortal: Mortal, attempt: () => void): Promise<RunningChild> {
  for (let left = STARTS; ; left--) {
    attempt();
    try {
      return await mortal.start();
    } catch (error) {
      if (left === 1) throw error;
      await wait(500);
    }
  }
}
