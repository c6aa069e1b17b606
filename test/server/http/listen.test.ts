/** Idle connections keep no client out: over HTTP and TLS, from several addresses of this machine. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createAuthority } from '../../../dev/local/controlPlane/certificates.ts';
import { type Listener, listenHttp, listenHttps, type TlsListenOptions } from '../../../server/http/listen.ts';
import { SERVER_LIMITS } from '../../../server/http/serverLimits.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';

const dir = temporaryFolder('listen-');
const files = { cert: join(dir, 'tls.crt'), key: join(dir, 'tls.key') };
let ca: string;
beforeAll(async () => {
  const authority = await createAuthority(Date.now());
  const { certificate, key } = await authority.issue('rollout-hooks');
  ca = authority.certificate;
  writeFileSync(files.cert, certificate);
  writeFileSync(files.key, key);
});

const sockets: Socket[] = [];
let listener: Listener | undefined;
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await listener?.close();
});

const answering: RequestListener = (request, response) => void request.resume().once('end', () => response.end('ok'));
const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n';
const UNFINISHED = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{';

type Options = Partial<Omit<TlsListenOptions, 'log'>>;
const log = { info: () => {}, error: () => {} };
const common = { host: '127.0.0.1', port: 0, maxConnections: 100 };

/** A port, with connections to it from 127.0.0.`from`. */
async function serve(protocol: 'HTTP' | 'TLS', options: Options = {}, handler = answering) {
  const bound = await (protocol === 'HTTP'
    ? listenHttp(handler, { ...common, ...options })
    : listenHttps(handler, files, { ...common, ...options, log }));
  listener = bound;
  return async (from: number, text = '', raw = false) => {
    const to = { port: bound.port, host: '127.0.0.1', localAddress: `127.0.0.${from}` };
    const isTls = protocol === 'TLS' && !raw;
    const socket = isTls ? connectTls({ ...to, ca, servername: 'localhost' }) : connect(to);
    sockets.push(socket);
    const closed = new Promise<'closed'>((resolve) => socket.once('close', () => resolve('closed')));
    socket.on('error', () => {});
    let got = '';
    socket.on('data', (data) => {
      got += data;
    });
    const connected = once(socket, isTls ? 'secureConnect' : 'connect').catch(() => {});
    await Promise.race([connected, closed]);
    const ask = async (request: string) => {
      socket.write(request);
      await Promise.race([once(socket, 'data').catch(() => {}), closed]);
      return got.includes('200 OK');
    };
    if (text) socket.write(text);
    return { socket, closed, ask };
  };
}

describe.each(['HTTP', 'TLS'] as const)('over %s', (protocol) => {
  it('the oldest idle one is closed for a new one, which is answered', async () => {
    const open = await serve(protocol, { maxConnections: 3 });
    const [first, second, third] = [await open(2), await open(2, UNFINISHED), await open(2)];
    const fourth = await open(3);
    expect(await first.closed).toBe('closed');
    expect(await fourth.ask(GET)).toBe(true);
    const fifth = await open(3);
    expect(await fifth.ask(GET)).toBe(true);
    expect(await Promise.race([second.closed, third.closed])).toBe('closed');
  });

  it('those of other addresses stay while one address has more', async () => {
    const open = await serve(protocol, { maxConnections: 4 });
    const server = await open(1);
    expect(await server.ask(GET)).toBe(true);
    for (let i = 0; i < 3; i++) await open(2);
    for (let i = 0; i < 6; i++) expect(await (await open(2)).ask(GET)).toBe(true);
    expect(await server.ask(GET)).toBe(true);
  });

  it('an address has at most its share', async () => {
    const open = await serve(protocol, { maxPerAddress: 2 });
    const [first, second, other] = [await open(2), await open(2), await open(3)];
    const third = await open(2);
    expect(await first.closed).toBe('closed');
    for (const each of [second, third, other]) expect(await each.ask(GET)).toBe(true);
  });

  it('one with a running request is never closed: the new one is', async () => {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const { promise: asked, resolve: reached } = Promise.withResolvers<void>();
    const open = await serve(protocol, { maxConnections: 1 }, async (_request, response) => {
      reached();
      await released;
      response.end('ok');
    });
    const busy = await open(2);
    const answer = busy.ask(GET);
    await asked;
    expect(await (await open(2)).closed).toBe('closed');
    release();
    expect(await answer).toBe(true);
  });

  it('one that sends half of its headers is closed soon, one that waits, before or after an answer, is not', async () => {
    const open = await serve(protocol, { headersMs: 100 });
    const [kept, unused] = [await open(2), await open(2)];
    expect(await kept.ask(GET)).toBe(true);
    for (let time = 0; time < 2; time++) {
      const slow = await open(2, 'GET / HTTP/1.1\r\nHost:');
      expect(await slow.closed).toBe('closed');
    }
    for (const each of [kept, unused]) expect(await each.ask(GET)).toBe(true);
    unused.socket.write('GET / HTTP/1.1\r\nHost:');
    expect(await unused.closed).toBe('closed');
  });

  it('one that waits, before or after an answer, is closed at the end', async () => {
    const open = await serve(protocol);
    const [kept, unused] = [await open(2), await open(2)];
    expect(await kept.ask(GET)).toBe(true);
    await listener?.close();
    for (const each of [kept, unused]) expect(await each.closed).toBe('closed');
  });
});

it.each(['HTTP', 'TLS'] as const)(
  '%s: one that sends requests without waiting for answers is closed',
  async (protocol) => {
    let requests = 0;
    const hold: RequestListener = () => void requests++;
    const open = await serve(protocol, {}, hold);
    const { closed } = await open(1, GET.repeat(1000));
    await closed;
    expect(requests).toBe(SERVER_LIMITS.requestsOfConnection);
  },
);

it('an incomplete TLS handshake is ended', async () => {
  const open = await serve('TLS', { handshakeMs: 50 });
  expect(await (await open(2, '', true)).closed).toBe('closed');
});
