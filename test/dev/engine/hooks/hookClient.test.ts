import { describe, expect, it } from 'vitest';
import type { ApiClient } from '../../../../dev/engine/cluster/apiClient.ts';
import type { Authorization, EndpointConfig } from '../../../../dev/engine/hooks/controllerSpec.ts';
import { hookClient, hooksOverHttp } from '../../../../dev/engine/hooks/hookClient.ts';
import { startLocalServer } from '../../../support/localServer.ts';

describe('hook of a controller', () => {
  const secrets: Record<string, object> = { '/api/v1/namespaces/ns/secrets/t': { data: { token: btoa(' s3cret\n') } } };
  const api = { get: async (path: string) => secrets[path] ?? Promise.reject(new Error(`no ${path}`)) };
  const engine = { hooks: hooksOverHttp(), client: api as unknown as ApiClient };
  const client = (url: string, endpointConfigs: EndpointConfig[]) =>
    hookClient({ version: 'v2', webhook: { url } }, engine, endpointConfigs);

  describe('with a token', () => {
    const authorization = { secretRef: { namespace: 'ns', name: 't', key: 'token' } };
    /** Requests that the hook got. */
    async function sent(endpointConfigs: EndpointConfig[]) {
      const seen = Promise.withResolvers<string | undefined>();
      const server = await startLocalServer((request, response) => {
        seen.resolve(request.headers.authorization);
        response.end('{}');
      });
      const port = server.host.split(':')[1]!;
      const here = endpointConfigs.map((config) => ({ ...config, host: config.host.replace('PORT', port) }));
      const hook = await client(`http://${server.host}/sync`, here);
      await hook.call({});
      return seen.promise;
    }

    it.each<[string, EndpointConfig[], string | undefined]>([
      ["its host's, without the space around it", [{ host: '127.0.0.1:PORT', authorization }], 'Bearer s3cret'],
      ['none for another host', [{ host: '127.0.0.1', authorization }], undefined],
    ])('sends %s', async (_what, configs, header) => {
      expect(await sent(configs)).toBe(header);
    });

    const { secretRef } = authorization;
    it.each<[string, Authorization, RegExp]>([
      ['a Secret that is not there', { secretRef: { ...secretRef, name: 'x' } }, /no .*x/],
      ['a key that is not there', { secretRef: { ...secretRef, key: 'x' } }, /no key x/],
    ])('and %s is refused', async (_what, wrong, message) => {
      await expect(client('http://a/sync', [{ host: 'a', authorization: wrong }])).rejects.toThrow(message);
    });
  });
});
