/** An OIDC issuer on this machine: its configuration and keys over HTTPS, and tokens signed with them. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type CryptoKey, exportJWK, generateKeyPair, type JSONWebKeySet, type JWTPayload, SignJWT } from 'jose';
import { createAuthority } from '../../../dev/local/controlPlane/certificates.ts';
import { startLocalServer } from '../../support/localServer.ts';

export const CONFIGURATION = '/.well-known/openid-configuration';
export const KEYS = '/keys';

export type Handle = (request: IncomingMessage, response: ServerResponse) => void;

interface SigningKey {
  kid: string;
  alg: string;
  privateKey: CryptoKey;
  publicKey: CryptoKey;
}

export async function newKey(kid: string, alg = 'RS256'): Promise<SigningKey> {
  return { kid, alg, ...(await generateKeyPair(alg, { extractable: true })) };
}

export async function startIssuer() {
  const authority = await createAuthority(Date.now());
  const { certificate, key: tlsKey } = await authority.issue('issuer');
  const answers = new Map<string, Handle>();
  let keySet: JSONWebKeySet = { keys: [] };
  const server = await startLocalServer(
    (request, response) => {
      const replaced = answers.get(request.url!);
      if (replaced) return replaced(request, response);
      const bodies: Record<string, object> = {
        [CONFIGURATION]: { issuer: issuer.url, jwks_uri: `${issuer.url}${KEYS}` },
        [KEYS]: keySet,
      };
      response.writeHead(bodies[request.url!] ? 200 : 404).end(JSON.stringify(bodies[request.url!] ?? {}));
    },
    { cert: certificate, key: tlsKey },
  );
  const first = await newKey('first');
  const issuer = {
    url: `https://${server.host}`,
    /** PEM of the authority that signed its certificate. */
    ca: authority.certificate,
    /** `GET path` of each request. */
    requests: server.requests,
    key: first,
    /** Replaces the answer to a path. */
    answers,
    async publish(...keys: SigningKey[]) {
      const published = keys.map(async ({ kid, alg, publicKey }) => ({
        ...(await exportJWK(publicKey)),
        kid,
        alg,
        use: 'sig',
      }));
      keySet = { keys: await Promise.all(published) };
    },
    sign: (claims: JWTPayload, { alg, kid, privateKey }: SigningKey = first) =>
      new SignJWT(claims).setProtectedHeader({ alg, kid, typ: 'JWT' }).sign(privateKey),
  };
  await issuer.publish(issuer.key);
  return issuer;
}

export type Issuer = Awaited<ReturnType<typeof startIssuer>>;
