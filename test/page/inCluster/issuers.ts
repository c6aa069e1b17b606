/** Two OIDC issuers for tests: a real one that everybody may sign in at, and one that lies. */
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
// @ts-expect-error: it brings no types.
import Provider from 'oidc-provider';

export const CLIENT = { id: 'rollouts', secret: 'the-secret-of-the-client' };
const { privateKey } = await generateKeyPair('RS256', { extractable: true });
const KEY = { ...(await exportJWK(privateKey)), kid: 'key', alg: 'RS256', use: 'sig' };

export interface Issuer {
  url: string;
  close(): void;
}

async function listen(answerAt: (url: string) => RequestListener): Promise<Issuer> {
  const server: Server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  server.on('request', answerAt(url));
  return {
    url,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Whoever comes with `login_hint` is signed in as that account. */
export function realIssuer(accounts: Record<string, object>, redirect: string): Promise<Issuer> {
  return listen((url) => {
    const provider = new Provider(url, {
      clients: [
        {
          client_id: CLIENT.id,
          client_secret: CLIENT.secret,
          redirect_uris: [redirect],
          token_endpoint_auth_method: 'client_secret_post',
        },
      ],
      jwks: { keys: [KEY] },
      cookies: { keys: ['of this test'] },
      scopes: ['openid', 'email', 'groups'],
      claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
      conformIdTokenClaims: false,
      pkce: { required: () => true },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
      findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id, ...accounts[id] }) }),
      async loadExistingGrant({ oidc }: any) {
        const grant = new oidc.provider.Grant({ clientId: CLIENT.id, accountId: oidc.session.accountId });
        grant.addOIDCScope('openid email groups');
        await grant.save();
        return grant;
      },
    });
    const answer = provider.callback();
    return async (request, response) => {
      if (!request.url?.startsWith('/interaction/')) return answer(request, response);
      const { params } = await provider.interactionDetails(request, response);
      await provider.interactionFinished(request, response, { login: { accountId: params.login_hint } });
    };
  });
}

type Claims = Record<string, unknown>;

export interface Lie {
  claims: Claims;
  /** Signs with a key that the issuer does not publish. */
  otherKey?: boolean;
  /** HMAC with the client's secret, or no signature. */
  alg?: 'HS256' | 'none';
  /** Replaces the nonce that was asked for. */
  nonce?: string;
}

/** Every code gets the ID token that `lie` describes at that moment. */
export async function lyingIssuer(lie: (url: string) => Lie): Promise<Issuer & { nonceIs(nonce: string): void }> {
  let nonce = '';
  const issuer = await listen((url) => async (request, response) => {
    const json = (value: object) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
    };
    if (request.url === '/keys')
      return json({ keys: [{ kty: KEY.kty, n: KEY.n, e: KEY.e, kid: 'key', alg: 'RS256' }] });
    if (request.url === '/token') {
      const id_token = await tokenOf(lie(url), { iss: url, aud: CLIENT.id, nonce });
      return json({ access_token: 'an-access-token', token_type: 'bearer', id_token });
    }
    json({
      issuer: url,
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      jwks_uri: `${url}/keys`,
      response_types_supported: ['code'],
      id_token_signing_alg_values_supported: ['RS256'],
    });
  });
  return {
    ...issuer,
    nonceIs(asked) {
      nonce = asked;
    },
  };
}

async function tokenOf({ claims, otherKey, alg, nonce }: Lie, own: Claims): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  const all = { sub: 'mallory', iat: now, exp: now + 300, ...own, ...(nonce && { nonce }), ...claims };
  if (alg === 'none') {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    return `${part({ alg: 'none' })}.${part(all)}.`;
  }
  const key = otherKey ? (await generateKeyPair('RS256')).privateKey : privateKey;
  const token = new SignJWT(all).setProtectedHeader({ alg: alg ?? 'RS256', kid: 'key' });
  return token.sign(alg === 'HS256' ? new TextEncoder().encode(CLIENT.secret.padEnd(32, '.')) : key);
}
