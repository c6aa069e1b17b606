/**
 * The page behind an authenticating proxy: its headers count only with its certificate, without which every request is
 * refused.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createAuthority } from '../../../dev/local/controlPlane/certificates.ts';
import { eventually } from '../../support/eventually.ts';
import { temporaryFolder } from '../../support/temporaryFolder.ts';
import { FROM_PAGE, openPage, type PageSetup } from './pageSetup.ts';

const now = Date.now();
const [authority, stranger] = await Promise.all([createAuthority(now), createAuthority(now)]);
const served = await authority.issue('page');
const clientOf = async (by: typeof authority, name: string) => {
  const { certificate, key } = await by.issue(name, { use: 'client' });
  return { cert: certificate, key };
};
const PROXY = await clientOf(authority, 'oauth2-proxy');
const OTHER = await clientOf(authority, 'another-program');
const FORGED = await clientOf(stranger, 'oauth2-proxy');
const ALICE = { ...FROM_PAGE, 'x-forwarded-user': 'alice', 'x-forwarded-groups': 'shop,on-call' };

async function opened(): Promise<PageSetup> {
  const folder = temporaryFolder('proxy-');
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  return openPage({
    UI_TLS_CERT: file('tls.crt', served.certificate),
    UI_TLS_KEY: file('tls.key', served.key),
    UI_PROXY_CLIENT_CA: file('ca.crt', authority.certificate),
    UI_PROXY_CLIENT_NAMES: 'oauth2-proxy',
  });
}

describe('the page behind a proxy', () => {
  it('makes requests as the user that the proxy names', async () => {
    const setup = await opened();
    const answer = await setup.ask('/api/stream', { headers: ALICE, tls: { ca: authority.certificate, ...PROXY } });
    expect(answer.status).toBe(200);
    await eventually(() => expect(setup.asked.length).toBeGreaterThan(10));
    const whom = new Set(setup.asked.map(({ user, groups }) => `${user}: ${groups}`));
    expect([...whom]).toEqual(['alice: shop, on-call']);
  });

  it.each([
    ['without a certificate', {}, ALICE, 401],
    ['with a certificate of another CA', FORGED, ALICE, 401],
    ['with another name in it', OTHER, ALICE, 403],
    ['without a user', PROXY, FROM_PAGE, 403],
    ['with a group of Kubernetes', PROXY, { ...ALICE, 'x-forwarded-groups': 'shop,system:masters' }, 403],
    ['from another site', PROXY, { ...ALICE, 'sec-fetch-site': 'cross-site' }, 403],
  ])('does not answer %s', async (_, client, headers, status) => {
    const setup = await opened();
    const tls = { ca: authority.certificate, ...client };
    expect(await setup.ask('/api/stream', { headers, tls })).toMatchObject({ status });
    if (status === 401) expect(await setup.ask('/', { headers, tls })).toMatchObject({ status });
    expect(setup.asked).toEqual([]);
    expect(await setup.ask('/healthz', { tls: { ca: authority.certificate } })).toMatchObject({ status: 200 });
  });

  it('has no sign-in of its own', async () => {
    const setup = await opened();
    const tls = { ca: authority.certificate, ...PROXY };
    const { text } = await setup.ask('/sign-in', { headers: ALICE, tls });
    expect(text).toContain('<title>page</title>');
  });
});
