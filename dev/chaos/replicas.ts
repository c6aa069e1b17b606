/** Several hook servers behind a balancer, as the Deployment's Pods are behind its Service. */
import { setTimeout as wait } from 'node:timers/promises';
import type { StartReplica } from '../local/cluster.ts';
import type { HookPorts } from '../local/hooks/hookServer.ts';
import type { RunningChild } from '../local/process/childProcess.ts';
import { freePort } from '../local/process/ports.ts';
import { type Balancer, startBalancer } from './balancer.ts';

/** Far more often than the Deployment's readinessProbe, since the replicas live so much shorter. */
const PROBE_MS = 200;
const PROBE_TIMEOUT_MS = 1_000;

export const REPLICAS = ['hooks-1', 'hooks-2', 'hooks-3'] as const;

export interface Replicas {
  /** Starts all replicas and the balancer; for `serveHooks` of a cluster. */
  serve(start: StartReplica): Promise<HookPorts>;
  /** Restarts a replica on its ports. The balancer uses it as soon as it is ready. */
  startAgain(name: string): Promise<RunningChild>;
  /** Address of each replica's metrics: `127.0.0.1:port`. */
  hosts(): string[];
  /** Whether the balancer gives the replica new connections. */
  isReady(name: string): boolean;
  close(): Promise<void>;
}

interface Replica {
  ports: HookPorts;
  ready: boolean;
}

export function replicasOf(): Replicas {
  const replicas = new Map<string, Replica>();
  const balancers: Balancer[] = [];
  let start: StartReplica;
  let closed = false;

  async function startAgain(name: string): Promise<RunningChild> {
    const ports = replicas.get(name)?.ports ?? { hooksPort: await freePort(), webhookPort: await freePort() };
    const child = await start(name, ports);
    replicas.set(name, { ports, ready: true });
    return child;
  }

  async function probe(name: string): Promise<void> {
    while (!closed) {
      const replica = replicas.get(name);
      if (replica) replica.ready = await isReady(replica.ports.hooksPort);
      await wait(PROBE_MS);
    }
  }

  const portOf = (name: string, port: keyof HookPorts) => {
    const replica = replicas.get(name);
    return replica?.ready ? replica.ports[port] : undefined;
  };

  return {
    serve: async (startReplica) => {
      start = startReplica;
      for (const port of ['hooksPort', 'webhookPort'] as const) {
        balancers.push(await startBalancer(REPLICAS.map((name) => ({ port: () => portOf(name, port) }))));
      }
      await Promise.all(REPLICAS.map(startAgain));
      for (const name of REPLICAS) void probe(name);
      const [hooks, webhook] = balancers;
      return { hooksPort: hooks!.port, webhookPort: webhook!.port };
    },
    startAgain,
    hosts: () => [...replicas.values()].map(({ ports }) => `127.0.0.1:${ports.hooksPort}`),
    isReady: (name) => replicas.get(name)?.ready ?? false,
    close: async () => {
      closed = true;
      await Promise.all(balancers.map((balancer) => balancer.close()));
    },
  };
}

async function isReady(port: number): Promise<boolean> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(PROBE_TIMEOUT_MS) });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}
