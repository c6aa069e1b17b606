import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { ApiClient } from '../../../dev/engine/apiClient.ts';
import { systemClock } from '../../../dev/engine/clock.ts';
import type { EndpointConfig, HookSpec, Webhook } from '../../../dev/engine/controllerSpec.ts';
import { hookAgent, hookClient, retryAfterSeconds } from '../../../dev/engine/hookClient.ts';

describe('Retry-After', () => {
  const now = Date.parse('2030-01-01T00:00:00Z');
  it.each([
    ['120', 120],
    ['Tue, 01 Jan 2030 00:00:30 GMT', 30],
    ['Mon, 31 Dec 2029 23:59:00 GMT', -60],
    ['', 0],
    ['soon', 0],
  ])('%j is %d s', (header, seconds) => {
    expect(retryAfterSeconds(header, now)).toBe(seconds);
  });
});

describe('hook of a controller', () => {
  const secrets: Record<string, object> = { '/api/v1/namespaces/ns/secrets/t': { data: { token: btoa(' s3cret\n') } } };
  const api = { get: async (path: string) => secrets[path] ?? Promise.reject(new Error(`no ${path}`)) };
  const engine = { hooks: hookAgent(), clock: systemClock, client: api as unknown as ApiClient };
  const client = (hook: HookSpec | undefined, endpointConfigs?: EndpointConfig[]) =>
    hookClient('sync', hook, engine, endpointConfigs);
  const url = 'http://127.0.0.1:8080/sync';

  it('is not there when it is not defined', async () => {
    expect(await client(undefined)).toBeUndefined();
  });

  it.each<[string, HookSpec, boolean]>([
    ['strict by default', { version: 'v2', webhook: { url } }, true],
    ['loose when it says so', { version: 'v2', webhook: { url, responseUnMarshallMode: 'loose' } }, false],
  ])('is %s', async (_what, hook, strict) => {
    expect((await client(hook))?.strict).toBe(strict);
  });

  it.each<[string, HookSpec, RegExp]>([
    ['version v1', { version: 'v1', webhook: { url } }, /only version v2/],
    ['no version, which is v1', { webhook: { url } }, /only version v2/],
    ['an ETag cache', { version: 'v2', webhook: { url, etag: { enabled: true } } }, /etag/],
    ['authentication', { version: 'v2', webhook: { url, basicAuth: {} } }, /authentication/],
    ['no address', { version: 'v2', webhook: { path: '/sync' } }, /give either url, or path and service/],
  ])('with %s is refused', async (_what, hook, message) => {
    await expect(client(hook)).rejects.toThrow(message);
  });

  describe('with a token', () => {
    const authorization = { secretRef: { namespace: 'ns', name: 't', key: 'token' } };
    /** What the hook is sent. */
    async function sent(webhook: Webhook, endpointConfigs: EndpointConfig[]) {
      const seen = Promise.withResolvers<string | undefined>();
      const server = createServer((request, response) => {
        seen.resolve(request.headers.authorization);
        response.end('{}');
      });
      await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
      const { port } = server.address() as AddressInfo;
      const here = endpointConfigs.map((config) => ({ ...config, host: config.host.replace('PORT', `${port}`) }));
      const hook = await client({ version: 'v2', webhook: { ...webhook, url: `http://127.0.0.1:${port}/sync` } }, here);
      await hook!.call('{}');
      server.close();
      return seen.promise;
    }

    it.each<[string, Webhook, EndpointConfig[], string | undefined]>([
      ['its own, without the space around it', { authorization }, [], 'Bearer s3cret'],
      ["its host's", {}, [{ host: '127.0.0.1:PORT', authorization }], 'Bearer s3cret'],
      ['of a scheme of its own', { authorization: { ...authorization, type: 'Token' } }, [], 'Token s3cret'],
      ['none for another host', {}, [{ host: '127.0.0.1', authorization }], undefined],
    ])('sends %s', async (_what, webhook, configs, header) => {
      expect(await sent(webhook, configs)).toBe(header);
    });

    it.each<[string, HookSpec['webhook'], RegExp]>([
      [
        'a Secret that is not there',
        { authorization: { secretRef: { ...authorization.secretRef, name: 'x' } } },
        /no .*x/,
      ],
      [
        'a key that is not there',
        { authorization: { secretRef: { ...authorization.secretRef, key: 'x' } } },
        /no key x/,
      ],
      ['the scheme Basic', { authorization: { ...authorization, type: 'basic' } }, /use basicAuth/],
    ])('and %s is refused', async (_what, webhook, message) => {
      await expect(client({ version: 'v2', webhook: { url, ...webhook } })).rejects.toThrow(message);
    });
  });
});
