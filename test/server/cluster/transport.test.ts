import { KubeConfig } from '@kubernetes/client-node';
import { afterEach, expect, it, vi } from 'vitest';
import { countedTransport, createTransport, type Transport } from '../../../server/cluster/transport.ts';

afterEach(() => vi.useRealTimers());

it('a path that cannot be sent is an error of that request, and of nothing else', async () => {
  vi.useFakeTimers();
  const config = new KubeConfig();
  config.loadFromClusterAndUser({ name: 'c', server: 'https://127.0.0.1:1', skipTLSVerify: false }, { name: 'u' });
  const transport = createTransport(config, { maxSockets: 1 });
  await expect(transport.send({ path: '/apis/x y/v1' })).rejects.toThrow(/unescaped characters/);
  // A timer left behind would end the process.
  expect(vi.getTimerCount()).toBe(0);
  transport.close();
});

it('each request of a counted transport is counted, also one that fails', async () => {
  let count = 0;
  const transport: Transport = { send: async () => Promise.reject(new Error('no answer')), close: () => {} };
  const counted = countedTransport(transport, () => {
    count++;
  });
  await expect(counted.send({ path: '/api' })).rejects.toThrow('no answer');
  expect(count).toBe(1);
});
