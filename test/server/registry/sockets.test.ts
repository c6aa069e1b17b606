/** Allowed addresses of a registry: tenants set its name, and a registry sets redirects. */
import { networkInterfaces } from 'node:os';
import { request } from 'undici';
import { describe, expect, it } from 'vitest';
import { RegistryError } from '../../../server/registry/error.ts';
import { boundedFetch } from '../../../server/registry/http.ts';
import { isLocalAddress, registrySockets } from '../../../server/registry/sockets.ts';
import { type LocalServer, startLocalServer } from '../../support/localServer.ts';

const started = (...more: [address?: string]) =>
  startLocalServer((_, response) => response.end('{}'), undefined, ...more);
const portOf = ({ host }: LocalServer) => host.split(':').at(-1);
const ask = (url: string, sockets = registrySockets({ allowLocal: false })) =>
  boundedFetch({ url: new URL(url), maxBytes: 100, signal: AbortSignal.timeout(5000), dispatcher: sockets.shared });

describe('an address', () => {
  it.each([
    ['127.0.0.1', true],
    ['127.9.9.9', true],
    ['0.0.0.0', true],
    ['169.254.169.254', true],
    ['168.63.129.16', true],
    ['100.100.100.200', true],
    ['224.0.0.1', true],
    ['255.255.255.255', true],
    ['::', true],
    ['::1', true],
    ['::127.0.0.1', true],
    ['::ffff:127.0.0.1', true],
    ['::ffff:a9fe:a9fe', true],
    ['64:ff9b::a9fe:a9fe', true],
    ['64:ff9b::7f00:1', true],
    ['fe80::1', true],
    ['febf::1', true],
    ['fd00:ec2::254', true],
    ['fd00:ec2::23', true],
    ['fd00:ec2:ffff::1', true],
    ['fd00:c1::a9fe:a9fe', true],
    ['fd00:42::42', true],
    ['fd00:a9fe:a9fe::1', true],
    ['fd00:100::100:200', true],
    ['ff02::1', true],
    ['10.0.0.1', false],
    ['172.16.0.1', false],
    ['192.168.0.1', false],
    ['100.64.0.1', false],
    ['8.8.8.8', false],
    ['::ffff:10.0.0.1', false],
    ['fd00::1', false],
    ['fd00:ec3::1', false],
    ['64:ff9b::808:808', false],
    ['2606:4700::1', false],
  ])('%s: no registry is asked there: %s', (address, isLocal) => {
    expect(isLocalAddress(address)).toBe(isLocal);
  });
});

describe('a registry on this machine', () => {
  it.each(['127.0.0.1', 'localhost', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', '0.0.0.0'])(
    'is not asked as %s',
    async (host) => {
      const server = await started();
      const asked = ask(`http://${host}:${portOf(server)}/v2/`);
      await expect(asked).rejects.toThrow(/a loopback, link-local .* set ALLOW_LOCAL_REGISTRIES=true/);
      await expect(asked).rejects.toMatchObject({ failure: 'Denied', transient: false });
      expect(server.requests).toEqual([]);
    },
  );

  it('is not used for TLS, requests other than fetches, or own options', async () => {
    const server = await started();
    const sockets = registrySockets({ allowLocal: false });
    await expect(ask(`https://${server.host}/`)).rejects.toThrow('a loopback');
    const dispatcher = sockets.agent({ headersTimeout: 1000 }, { timeout: 1000 });
    await expect(request(`http://${server.host}/`, { dispatcher })).rejects.toThrow(RegistryError);
    expect(server.requests).toEqual([]);
  });

  it('is not used by a name with only one address of this machine', async () => {
    const server = await started();
    const addresses = [
      { address: '192.0.2.1', family: 4 },
      { address: '127.0.0.1', family: 4 },
    ];
    const sockets = registrySockets({ allowLocal: false, resolve: (_host, _options, done) => done(null, addresses) });
    await expect(ask(`http://registry.example:${portOf(server)}/`, sockets)).rejects.toThrow('registry.example');
    expect(server.requests).toEqual([]);
  });

  it('is used if the installation allows it', async () => {
    const server = await started();
    const answer = await ask(`http://localhost:${portOf(server)}/v2/`, registrySockets({ allowLocal: true }));
    expect(answer.status).toBe(200);
  });

  const own = Object.values(networkInterfaces())
    .flat()
    .find((each) => each?.family === 'IPv4' && !each.internal)?.address;
  it.skipIf(own === undefined)('differs from one in the network, which is used', async () => {
    const server = await started(own);
    expect((await ask(`http://${server.host}/v2/`)).status).toBe(200);
  });
});
