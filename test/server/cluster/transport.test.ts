import { KubeConfig } from '@kubernetes/client-node';
import { afterEach, expect, it, vi } from 'vitest';
import { createAuthority } from '../../../dev/local/controlPlane/certificates.ts';
import { createTransport } from '../../../server/cluster/transport.ts';
import { startLocalServer } from '../registry/localServer.ts';

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

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
  const authority = await createAuthority(Date.now());
  const { certificate, key } = await authority.issue('api-server');
  const api = await startLocalServer((_, response) => response.end('{}'), { cert: certificate, key });
  const config = new KubeConfig();
  const caData = Buffer.from(authority.certificate).toString('base64');
  const cluster = { name: 'c', server: `https://${api.host}`, caData, skipTLSVerify: false };
  config.loadFromClusterAndUser(cluster, { name: 'u' });
  const transport = createTransport(config, { maxSockets: 1 });
  expect(await transport.send({ path: '/api' })).toEqual({});
  vi.spyOn(Buffer, 'concat').mockImplementationOnce(() => {
    throw new Error('Cannot create a string longer than 0x1fffffe8 characters');
  });
  await expect(transport.send({ path: '/api' })).rejects.toThrow('GET /api: Cannot create a string longer');
  expect(await transport.send({ path: '/api' })).toEqual({});
  transport.close();
  api.close();
});
