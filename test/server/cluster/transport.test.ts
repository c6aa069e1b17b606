import { KubeConfig } from '@kubernetes/client-node';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createAuthority } from '../../../dev/local/controlPlane/certificates.ts';
import { isTooLarge } from '../../../server/cluster/apiError.ts';
import { createTransport } from '../../../server/cluster/transport.ts';
import { startLocalServer } from '../../support/localServer.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** A transport to an API server of this test. */
async function connect(handle: Parameters<typeof startLocalServer>[0]) {
  const authority = await createAuthority(Date.now());
  const { certificate, key } = await authority.issue('api-server');
  const api = await startLocalServer(handle, { cert: certificate, key });
  const config = new KubeConfig();
  const caData = Buffer.from(authority.certificate).toString('base64');
  const cluster = { name: 'c', server: `https://${api.host}`, caData, skipTLSVerify: false };
  config.loadFromClusterAndUser(cluster, { name: 'u' });
  const transport = createTransport(config, { maxSockets: 2 });
  onTestFinished(transport.close);
  return { api, transport };
}

it('a path that cannot be sent is an error of that request, and of nothing else', async () => {
  vi.useFakeTimers();
  const config = new KubeConfig();
  config.loadFromClusterAndUser({ name: 'c', server: 'https://127.0.0.1:1', skipTLSVerify: false }, { name: 'u' });
  const count = vi.fn();
  const transport = createTransport(config, { maxSockets: 1 }, count);
  await expect(transport.send({ path: '/apis/x y/v1' })).rejects.toThrow(/unescaped characters/);
  expect(count).toHaveBeenCalledOnce();
  // A leftover timer would end the process.
  expect(vi.getTimerCount()).toBe(0);
  transport.close();
});

it('an answer that is too long for a string is an error of that request, and of nothing else', async () => {
  const { transport } = await connect((_, response) => response.end('{}'));
  expect(await transport.send({ path: '/api' })).toEqual({});
  vi.spyOn(Buffer, 'concat').mockImplementationOnce(() => {
    throw new Error('Cannot create a string longer than 0x1fffffe8 characters');
  });
  await expect(transport.send({ path: '/api' })).rejects.toThrow('GET /api: Cannot create a string longer');
  expect(await transport.send({ path: '/api' })).toEqual({});
});

it('an answer with more bytes than the request allows is not read to its end', async () => {
  let sent = 0;
  const { transport } = await connect(({ url }, response) => {
    if (url === '/small') return void response.end('{"metadata":{"managedFields":[{"fieldsV1":{"f:a":{}}}]}}');
    response.on('close', () => {
      sent = response.socket?.bytesWritten ?? 0;
    });
    const write = () => {
      while (response.write('x'.repeat(65_536)));
      response.once('drain', write);
    };
    write();
  });
  let size = 0;
  const measured = (bytes: number) => {
    size = bytes;
  };
  const small = { path: '/small', maxBytes: 56, measured, withoutFieldOwners: true };
  expect(await transport.send(small)).toEqual({ metadata: { managedFields: [{ fieldsV1: {} }] } });
  expect(size).toBe(56);
  const error = await transport.send({ path: '/endless', maxBytes: 1_000_000 }).catch((each) => each);
  expect(isTooLarge(error)).toBe(true);
  expect(sent).toBeLessThan(20_000_000);
});

describe('a connection that the API server has closed while it was idle', () => {
  const APPLY = { method: 'PATCH', contentType: 'application/apply-patch+yaml', body: '{}' } as const;

  /** Answers the first request on a connection, and closes it at the second. */
  const closesIdle = () => {
    const known = new WeakSet<object>();
    return connect(({ socket }, response) => {
      if (known.has(socket)) return socket.destroy();
      known.add(socket);
      response.end('{}');
    });
  };

  it.each([
    ['a read is sent again', {}],
    ['an apply is sent again', APPLY],
  ])('%s, until a connection is new', async (_, request) => {
    const { api, transport } = await closesIdle();
    await Promise.all([transport.send({ path: '/a' }), transport.send({ path: '/b' })]);
    expect(await transport.send({ ...request, path: '/c' })).toEqual({});
    expect(api.requests.filter((line) => line.endsWith('/c'))).toHaveLength(3);
  });

  it.each(['POST', 'PUT', 'DELETE', 'PATCH'] as const)('a %s may have been done: it fails', async (method) => {
    const { api, transport } = await closesIdle();
    await transport.send({ path: '/a' });
    await expect(transport.send({ method, path: '/c', body: {} })).rejects.toThrow(`${method} /c: socket hang up`);
    expect(api.requests).toHaveLength(2);
  });

  it.each([
    ['when its time is over', '{"half":', 'no answer from the API server in time'],
    ['when the answer breaks off', undefined, 'aborted'],
  ])('a read is not sent again %s after the answer has begun', async (_, body, message) => {
    const known = new WeakSet<object>();
    const { api, transport } = await connect(({ socket }, response) => {
      if (!known.has(socket)) {
        known.add(socket);
        return void response.end('{}');
      }
      response.writeHead(200, { 'content-length': '100' });
      response.write(body ?? '{', () => body === undefined && socket.end());
    });
    await Promise.all([transport.send({ path: '/a' }), transport.send({ path: '/b' })]);
    await expect(transport.send({ path: '/c', timeoutMs: 100 })).rejects.toThrow(message);
    expect(api.requests.filter((line) => line.endsWith('/c'))).toHaveLength(1);
  });

  it('a read that fails on a new connection too is an error', async () => {
    const { api, transport } = await connect(({ socket }) => socket.destroy());
    await expect(transport.send({ path: '/c' })).rejects.toThrow('GET /c: socket hang up');
    expect(api.requests).toHaveLength(1);
  });
});
