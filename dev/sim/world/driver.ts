/** The driver: the engine, whose semantics are Metacontroller's, as one process of the simulation. */
import type { Connection } from '../../client/kubeconfig.ts';
import { ApiClient } from '../../engine/cluster/apiClient.ts';
import { Discovery } from '../../engine/cluster/discovery.ts';
import type { Engine, HookTransport } from '../../engine/cluster/engine.ts';
import { SharedInformers } from '../../engine/cluster/informers.ts';
import { ControllerSet } from '../../engine/controllers/controllerSet.ts';
import type { Clock } from '../../engine/runtime/clock.ts';
import type { Log } from '../../engine/runtime/log.ts';

export interface DriverOptions {
  /** A server of its own for each world: clients keep what discovery says by its address. */
  url: string;
  clock: Clock;
  connection: Connection;
  hooks: HookTransport;
  log: Log;
}

/** Resolves when its caches are complete. */
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
