import { createServer } from 'node:net';
import { Problem } from './problem.ts';

/** A loopback port nobody listens on at this moment. */
export async function freePort(): Promise<number> {
  return listenOnce(0);
}

/** Fails with a sentence when `port` is taken. */
export async function requirePort(port: number, option: string): Promise<number> {
  try {
    return await listenOnce(port);
  } catch (error) {
    throw portProblem(port, option, (error as NodeJS.ErrnoException).code);
  }
}

export function portProblem(port: number, option: string, code: string | undefined): Problem {
  const why = code === 'EADDRINUSE' ? 'is taken by another process' : `cannot be used (${code})`;
  return new Problem(`Port ${port} ${why}: stop that process or give another port with ${option}.`);
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
