/**
 * A load balancer on loopback, with the semantics of a Service: a new connection goes to the next ready backend, an
 * open one stays with its backend. TLS passes through.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

interface Backend {
  /** The backend's port, asked for every new connection; undefined while the backend isn't ready. */
  port(): number | undefined;
}

export interface Balancer {
  port: number;
  /** Ends every connection. */
  close(): Promise<void>;
}

export async function startBalancer(backends: readonly Backend[]): Promise<Balancer> {
  const open = new Set<Socket>();
  let turn = 0;

  async function forward(client: Socket): Promise<void> {
    turn++;
    for (let i = 0; i < backends.length; i++) {
      const port = backends[(turn + i) % backends.length]!.port();
      const backend = port === undefined ? undefined : await connected(port);
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
