/** The balancer behaves like a Service, including its failures. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { startBalancer } from '../../../dev/chaos/balancer.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

/** Sends its name to each client, then echoes its input. */
async function backend(name: string) {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.write(name);
    socket.pipe(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const die = () => {
    server.close();
    for (const socket of sockets) socket.resetAndDestroy();
  };
  cleanups.push(die);
  return { port, die };
}

type Backend = Awaited<ReturnType<typeof backend>>;

async function balancerOf(...backends: Backend[]) {
  const balancer = await startBalancer(backends.map(({ port }) => port));
  cleanups.push(balancer.close);
  const open = async () => {
    const socket = connect(balancer.port, '127.0.0.1');
    socket.on('error', () => {});
    cleanups.push(() => socket.destroy());
    const [name] = await once(socket, 'data');
    return { socket, name: String(name) };
  };
  return { port: balancer.port, open };
}

it('gives new connections to each backend in turn, and keeps open ones', async () => {
  const [a, b] = [await backend('a'), await backend('b')];
  const { open } = await balancerOf(a, b);
  const first = await open();
  expect([first.name, (await open()).name].sort()).toEqual(['a', 'b']);
  first.socket.write('still there');
  expect(String(await once(first.socket, 'data'))).toBe('still there');
});

it('tries the next backend if one refuses, and closes the connection if all do', async () => {
  const [a, b] = [await backend('a'), await backend('b')];
  const { open, port } = await balancerOf(a, b);
  a.die();
  expect([(await open()).name, (await open()).name]).toEqual(['b', 'b']);
  b.die();
  const socket = connect(port, '127.0.0.1');
  const [error] = await once(socket, 'error').catch((reason) => [reason]);
  expect(error).toMatchObject({ code: 'ECONNRESET' });
});

it('hands on that a backend has hung up', async () => {
  const a = await backend('a');
  const { open } = await balancerOf(a);
  const { socket } = await open();
  const failed = new Promise((resolve) => socket.once('error', resolve));
  a.die();
  expect(await failed).toMatchObject({ code: 'ECONNRESET' });
});
