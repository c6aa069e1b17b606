import { randomInt } from 'node:crypto';
import type { Server as HttpServer } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { Problem } from './problem.ts';

/** Below the ports of outgoing connections, which could take a free port before the process listens on it. */
const FREE_PORTS = { least: 10_000, most: 29_999 };
const TRIES = 50;

/** A free loopback port. */
export async function freePort(): Promise<number> {
  for (let left = TRIES; ; left--) {
    try {
      return await listenOnce(randomInt(FREE_PORTS.least, FREE_PORTS.most + 1));
    } catch (error) {
      if (left === 1) throw error;
    }
  }
}

export async function isFree(port: number): Promise<boolean> {
  return listenOnce(port).then(
    () => true,
    () => false,
  );
}

/** Fails with a sentence when `port` is taken. */
export async function requirePort(port: number, option: string): Promise<number> {
  try {
    return await listenOnce(port);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'EADDRINUSE' ? 'is used by another process' : `cannot be used (${code})`;
    throw new Problem(`Port ${port} ${why}: stop that process or give another port with ${option}.`);
  }
}

/** Listens on a free loopback port. `host`: `127.0.0.1:port`; `close` ends every connection. */
export async function listenOnLoopback(server: HttpServer | HttpsServer): Promise<{ host: string; close(): void }> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

function listenOnce(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      const address = server.address();
      const taken = typeof address === 'object' && address ? address.port : port;
      server.close(() => resolve(taken));
    });
  });
}
