/**
 * A load balancer on loopback, with the semantics of a Service: a new connection goes to the next backend that accepts
 * it, even if it is paused, since a readiness probe finds that out after 15 seconds only. An open connection stays with
 * its backend. TLS passes through.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export interface Balancer {
  port: number;
  /** Ends every connection. */
  close(): Promise<void>;
}

/** @param ports those of the backends */
export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const open = new Set<Socket>();
  let turn = 0;

  async function forward(client: Socket): Promise<void> {
    turn++;
    for (let i = 0; i < ports.length; i++) {
      const backend = await connected(ports[(turn + i) % ports.length]!);
      if (!backend) continue;
      join(client, backend);
      open.add(backend);
      backend.once('close', () => open.delete(backend));
      return;
    }
    client.resetAndDestroy();
  }

  const server: Server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
    open.add(client);
    client.once('close', () => open.delete(client));
    client.on('error', () => {});
    void forward(client);
  });
  server.listen({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

function connected(port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true, noDelay: true });
    socket.once('error', () => resolve(undefined));
    socket.once('connect', () => resolve(socket));
  });
}

function join(client: Socket, backend: Socket): void {
  client.setNoDelay(true);
  for (const [from, to] of [
    [client, backend],
    [backend, client],
  ] as const) {
    from.on('error', () => to.resetAndDestroy());
    from.on('close', () => to.destroy());
    from.pipe(to);
  }
}
