/** Starts again what has ended, as a kubelet does it. */
import { setTimeout as wait } from 'node:timers/promises';
import type { LocalCluster } from '../local/cluster.ts';
import type { ControlPlaneProcess } from '../local/controlPlane/controlPlane.ts';
import type { RunningChild } from '../local/process/childProcess.ts';
import type { Log } from '../local/process/log.ts';
import type { Ledger } from './ledger.ts';
import { surely } from './surely.ts';

/** `driver` stands for the one that runs. */
export type Mortal = 'hooks' | 'driver' | ControlPlaneProcess;

export async function startAgain(cluster: LocalCluster, name: Mortal): Promise<void> {
  if (name === 'hooks') await cluster.startHooks();
  else if (name === 'driver') await cluster.startDriver();
  else await cluster.startAgain(name);
}

/** What ends by itself is noted, and started again; only a real Metacontroller may, when it loses the API server. */
export function mindProcesses(cluster: LocalCluster, ledger: Ledger, log: Log): { stop(): void } {
  const stopped = new AbortController();
  const { signal } = stopped;
  const driver = cluster.driver()?.name;

  async function mind(name: string): Promise<void> {
    while (!signal.aborted) {
      const child = cluster.child(name);
      if (!child) await wait(500, undefined, { signal });
      else await mindLife(name, child);
    }
  }

  async function mindLife(name: string, child: RunningChild): Promise<void> {
    const exit = await child.exited;
    if (signal.aborted || exit.asked) return;
    const how = `${name} ended by itself (${exit.signal ?? exit.code})`;
    log(how);
    ledger.happenings.push({ ms: Date.now(), what: 'crash', of: name });
    if (name !== 'metacontroller') ledger.violations.push(how);
    await surely(() => startAgain(cluster, (name === driver ? 'driver' : name) as Mortal), signal);
  }

  for (const { name } of cluster.children()) void mind(name).catch(() => {});
  return { stop: () => stopped.abort() };
}
