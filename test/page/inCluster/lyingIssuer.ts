/** An OIDC issuer that lies. */
import { generateKeyPair, importJWK, SignJWT } from 'jose';
import { CLIENT, ISSUER_KEY, type Issuer, listenAsIssuer } from '../../../dev/page/localIssuer.ts';

type Claims = Record<string, unknown>;

export interface Lie {
  claims: Claims;
  /** Signs with a key that the issuer does not publish. */
  otherKey?: boolean;
  /** HMAC with the client's secret, or no signature. */
  alg?: 'HS256' | 'none';
  /** Replaces the requested nonce. */
  nonce?: string;
}

/** Every code is exchanged for the ID token that `lie` describes at that time. */
export async function lyingIssuer(lie: (url: string) => Lie): Promise<Issuer & { nonceIs(nonce: string): void }> {
  let nonce = '';
  const issuer = await listenAsIssuer((url) => async (request, response) => {
    const json = (value: object) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(value));
    };
    if (request.url === '/keys')
      return json({ keys: [{ kty: ISSUER_KEY.kty, n: ISSUER_KEY.n, e: ISSUER_KEY.e, kid: 'key', alg: 'RS256' }] });
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
  const key = otherKey ? (await generateKeyPair('RS256')).privateKey : await importJWK(ISSUER_KEY);
  const token = new SignJWT(all).setProtectedHeader({ alg: alg ?? 'RS256', kid: 'key' });
  return token.sign(alg === 'HS256' ? new TextEncoder().encode(CLIENT.secret.padEnd(32, '.')) : key);
}
