/** Several hook servers behind a balancer, as the Deployment's Pods are behind its Service. */
import type { StartReplica } from '../local/cluster.ts';
import type { HookPorts } from '../local/hooks/hookServer.ts';
import { freePort } from '../local/process/ports.ts';
import { type Balancer, startBalancer } from './balancer.ts';

export const REPLICAS = ['hooks-1', 'hooks-2', 'hooks-3'] as const;

export function replicasOf() {
  const replicas = new Map<string, HookPorts>();
  const balancers: Balancer[] = [];
  let start: StartReplica;

  return {
    /** Starts all replicas and the balancer; for `serveHooks` of a cluster. */
    serve: async (startReplica: StartReplica) => {
      start = startReplica;
      for (const name of REPLICAS) replicas.set(name, { hooksPort: await freePort(), webhookPort: await freePort() });
      await Promise.all([...replicas].map(([name, ports]) => start(name, ports)));
      const balance = async (port: keyof HookPorts) => {
        const balancer = await startBalancer([...replicas.values()].map((ports) => ports[port]));
        balancers.push(balancer);
        return balancer.port;
      };
      return { hooksPort: await balance('hooksPort'), webhookPort: await balance('webhookPort') };
    },
    /** Restarts a replica on its ports. */
    startAgain: (name: string) => start(name, replicas.get(name)!),
    /** Address of each replica's metrics: `127.0.0.1:port`. */
    hosts: () => [...replicas.values()].map(({ hooksPort }) => `127.0.0.1:${hooksPort}`),
    close: async () => {
      await Promise.all(balancers.map((balancer) => balancer.close()));
    },
  };
}

export type Replicas = ReturnType<typeof replicasOf>;
