/** The settings of the page in a cluster: missing or unsafe values fail the start. */
import { describe, expect, it } from 'vitest';
import { readPageConfig } from '../../../page/inCluster/config.ts';

const GOOD = {
  UI_ORIGIN: 'https://rollouts.example.com',
  UI_OIDC_ISSUER: 'https://issuer.example.com/dex',
  UI_OIDC_CLIENT_ID: 'rollouts',
  UI_COOKIE_KEY_FILE: '/keys/key',
};
const PROXY = { UI_ORIGIN: GOOD.UI_ORIGIN, UI_TLS_CERT: 'a', UI_TLS_KEY: 'b', UI_PROXY_CLIENT_CA: '/ca.crt' };

describe('the page', () => {
  it('needs an origin, an issuer, its client and a key', () => {
    const { origin, signIn, sessionSeconds } = readPageConfig(GOOD);
    expect({ origin, sessionSeconds }).toEqual({ origin: GOOD.UI_ORIGIN, sessionSeconds: 3600 });
    expect(signIn).toMatchObject({ by: 'issuer', keys: { current: '/keys/key' }, issuer: { clientId: 'rollouts' } });
    expect(() => readPageConfig({})).toThrow(
      /^UI_ORIGIN is not set: it is .*; neither UI_OIDC_ISSUER nor UI_PROXY_CLIENT_CA is set: .*UI_OIDC_CLIENT_ID.*UI_COOKIE_KEY_FILE/,
    );
  });

  it.each([
    [{ UI_ORIGIN: 'http://rollouts.example.com' }, 'UI_ORIGIN'],
    [{ UI_ORIGIN: 'https://rollouts.example.com/' }, 'UI_ORIGIN'],
    [{ UI_ORIGIN: 'https://user@rollouts.example.com' }, 'UI_ORIGIN'],
    [{ UI_OIDC_ISSUER: 'http://issuer.example.com' }, 'UI_OIDC_ISSUER'],
    [{ UI_OIDC_ISSUER: 'https://issuer.example.com?a=b' }, 'UI_OIDC_ISSUER'],
    [{ UI_OIDC_USERNAME_PREFIX: 'system:' }, 'UI_OIDC_USERNAME_PREFIX'],
    [{ UI_OIDC_GROUPS_PREFIX: 'system:serviceaccounts:' }, 'UI_OIDC_GROUPS_PREFIX'],
    [{ UI_SESSION_MINUTES: '1' }, 'UI_SESSION_MINUTES'],
    [{ UI_SESSION_MINUTES: '10000' }, 'UI_SESSION_MINUTES'],
    [{ UI_TLS_CERT: 'a' }, 'UI_TLS_KEY'],
    [{ UI_PROXY_USER_HEADER: 'x-user' }, 'without UI_PROXY_CLIENT_CA'],
    [{ UI_PROXY_CLIENT_CA: '/ca.crt', UI_TLS_CERT: 'a', UI_TLS_KEY: 'b' }, 'exclude each other'],
    [{ LOG_LEVEL: 'loud' }, 'LOG_LEVEL'],
    [{ UI_NAMESPACES: 'a,b,c,d,e,f,g,h,i,j,k' }, 'UI_NAMESPACES'],
  ])('does not start with %j', (env, problem) => {
    expect(() => readPageConfig({ ...GOOD, ...env })).toThrow(problem);
  });

  it('trusts the headers of a proxy only with TLS and the CA of its certificate', () => {
    const proxy = { clients: [], userHeader: 'x-forwarded-user', groupsHeader: 'x-forwarded-groups' };
    expect(readPageConfig(PROXY)).toMatchObject({ signIn: { by: 'proxy', proxy }, tls: { clientCa: '/ca.crt' } });
    const { UI_TLS_CERT: _, UI_TLS_KEY: __, ...plain } = PROXY;
    expect(() => readPageConfig(plain)).toThrow('UI_PROXY_CLIENT_CA needs UI_TLS_CERT');
  });

  it('takes plain HTTP on this machine, for a trial', () => {
    const env = { ...GOOD, UI_ORIGIN: 'http://localhost:8080', UI_OIDC_ISSUER: 'http://127.0.0.1:5556/dex' };
    expect(readPageConfig(env).origin).toBe('http://localhost:8080');
  });
});
