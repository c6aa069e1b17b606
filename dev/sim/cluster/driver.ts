/** Metacontroller, played by the engine, as a process of the simulation. */
import type { Connection } from '../../client/kubeconfig.ts';
import { ApiClient } from '../../engine/cluster/apiClient.ts';
import { Discovery } from '../../engine/cluster/discovery.ts';
import type { Engine, HookTransport } from '../../engine/cluster/engine.ts';
import { SharedInformers } from '../../engine/cluster/informers.ts';
import { ControllerSet } from '../../engine/controllers/controllerSet.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import type { Log } from '../../engine/runtime/log.ts';

export interface DriverOptions {
  /** Different for each cluster, since clients cache discovery by address. */
  url: string;
  clock: Clock;
  connection: Connection;
  hooks: HookTransport;
  log: Log;
}

/** Starts the driver. Resolves when its caches are complete. */
export async function startDriver({ url, clock, connection, hooks, log }: DriverOptions): Promise<void> {
  const { signal } = new AbortController();
  const client = new ApiClient({ url, ca: '', connection }, clock, signal);
  const engine: Engine = {
    client,
    discovery: new Discovery(client, clock),
    informers: new SharedInformers(client, clock, log),
    hooks,
    clock,
    log,
  };
  await new ControllerSet(engine, signal).start();
}
