/**
 * `spec.certSecretRef` of an ImageRepository: a registry with an authority of its own, which may require a client
 * certificate.
 */
import type { TLSSocket } from 'node:tls';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  type CertificateAuthority,
  createAuthority,
  type KeyPair,
} from '../../../dev/local/controlPlane/certificates.ts';
import { trustOf } from '../../../server/registry/trust.ts';
import { startLocalServer } from '../../support/localServer.ts';
import { cacheOn, registryObjects } from './cacheFixture.ts';

let authority: CertificateAuthority;
let serving: KeyPair;
let client: KeyPair;
beforeAll(async () => {
  authority = await createAuthority(Date.now());
  [serving, client] = [await authority.issue('registry'), await authority.issue('hooks')];
});

const encoded = (data: Record<string, string>) =>
  Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]));
const keysOf = (pair: KeyPair) => ({ 'tls.crt': pair.certificate, 'tls.key': pair.key });
const caOf = ({ certificate }: KeyPair) => ({ 'ca.crt': certificate });

describe('the Secret', () => {
  const TOGETHER = { problem: 'tls.crt and tls.key go together, but only one is there' };
  it.each([
    { what: 'nothing', data: () => ({}), problem: 'it has neither ca.crt nor tls.crt and tls.key' },
    { what: 'a certificate without key', data: () => ({ 'tls.crt': client.certificate }), ...TOGETHER },
    { what: 'a key without certificate', data: () => ({ ...caOf(authority), 'tls.key': client.key }), ...TOGETHER },
    { what: 'no PEM', data: () => ({ 'ca.crt': 'x' }), problem: 'ca.crt is not a certificate in PEM' },
    {
      what: 'the key of another certificate',
      data: () => ({ 'tls.crt': client.certificate, 'tls.key': serving.key }),
      problem: 'tls.crt and tls.key are not a certificate and its key in PEM',
    },
  ])('with $what has a problem', ({ data, problem }) => {
    expect(trustOf(encoded(data()))).toEqual({ problem });
  });

  it('may have an authority, a client certificate, or both', () => {
    const pair = { cert: client.certificate, key: client.key };
    const ca = expect.arrayContaining([authority.certificate]);
    expect(trustOf(encoded(caOf(authority)))).toEqual({ ca });
    expect(trustOf(encoded(keysOf(client)))).toEqual(pair);
    expect(trustOf(encoded({ ...caOf(authority), ...keysOf(client) }))).toEqual({ ca, ...pair });
  });
});

describe('a registry with an authority of its own', () => {
  /** Its metadata has the name in the client's certificate as version. */
  async function registry(data: () => Record<string, string>, repository: object = {}) {
    const tls = { cert: serving.certificate, key: serving.key, requestCert: true, rejectUnauthorized: false };
    const server = await startLocalServer((request, response) => {
      const name = (request.socket as TLSSocket).getPeerCertificate().subject?.CN ?? 'nobody';
      response.end(JSON.stringify({ annotations: { 'org.opencontainers.image.version': name } }));
    }, tls);
    const of = registryObjects(server.host, { insecure: false, certSecretRef: { name: 'certs' }, ...repository });
    of.objects['secrets demo/certs'] = { data: encoded(data()) };
    return { of, server, cache: cacheOn(of) };
  }

  it('is trusted by its ca.crt, and gets the client certificate if there is one', async () => {
    const anonymous = await registry(() => caOf(authority));
    expect(await anonymous.cache.settled()).toEqual({ version: 'nobody' });
    const known = await registry(() => ({ ...caOf(authority), ...keysOf(client) }));
    expect(await known.cache.settled()).toEqual({ version: 'hooks' });
  });

  it('is not trusted without it, nor with another, and the log has the cause', async () => {
    const none = await registry(() => ({}));
    await none.cache.settled();
    expect(none.cache.warnings[0]).toMatch(/cannot be reached \(.*\); Secret demo\/certs: it has neither ca\.crt/);
    const other = await createAuthority(Date.now());
    const wrong = await registry(() => caOf(other));
    await wrong.cache.settled();
    expect(wrong.cache.warnings[0]).toMatch(/cannot be reached \(.*(CERT|SIGNATURE)/);
    expect(wrong.server.requests).toEqual([]);
  });

  it('without its Secret is reported', async () => {
    const { of, cache } = await registry(() => caOf(authority));
    delete of.objects['secrets demo/certs'];
    await cache.settled();
    expect(cache.warnings).toEqual(['there is no Secret demo/certs']);
  });

  it('keeps its certificates from namespaces that its ImageRepository does not grant', async () => {
    const { of, cache } = await registry(() => ({ ...caOf(authority), ...keysOf(client) }));
    of.objects['namespaces other'] = { metadata: { labels: {} } };
    await cache.settled('1.1.0', { namespace: 'other' });
    expect(cache.warnings[0]).toContain('grants no access to other');
    expect(of.reads).not.toContain('secrets demo/certs');
  });
});
