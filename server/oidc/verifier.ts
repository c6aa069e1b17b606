/** The port `IdTokenVerifier`: signature, issuer and times of an ID token, by the keys that its issuer publishes. */
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { Agent, request } from 'undici';
import type { IdTokenVerifier } from '../../api/ports.ts';
import { SERVER_LIMITS } from '../http/serverLimits.ts';

/** The accepted algorithms. All are asymmetric: with HS256 an attacker could sign with the public key. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512'];

export function createIdTokenVerifier(options: IssuerOptions): IdTokenVerifier {
  /** Keys of the issuers that the operator allows: callers check that first. */
  const issuers = new Map<string, JWTVerifyGetKey>();
  return {
    async verify(token, issuer, now) {
      const keys = issuers.get(issuer) ?? createIssuerKeys(issuer, options);
      issuers.set(issuer, keys);
      try {
        const { payload } = await jwtVerify(token, keys, {
          issuer,
          algorithms: ALGORITHMS,
          requiredClaims: ['exp', 'iat'],
          currentDate: new Date(now),
          clockTolerance: SERVER_LIMITS.idTokenClockSeconds,
          maxTokenAge: SERVER_LIMITS.idTokenSeconds,
        });
        return { claims: payload };
      } catch (error) {
        if (error instanceof IssuerError) return { problem: error.message, isTemporary: true };
        const what = error instanceof errors.JOSEError ? error.message : 'its key cannot be used';
        return { problem: `the token is not valid: ${what}`, isTemporary: false };
      }
    },
  };
}

// The public keys of an OIDC issuer that the operator allows, read from the issuer only: the key set must be on the
// same host, and no redirect is followed. Time, size and number of reads are limited, regardless of the tokens
// received.

const { issuerBytes, issuerSeconds, issuerKeysSeconds, issuerPauseSeconds } = SERVER_LIMITS;

/** Why an issuer's keys are unknown, as a sentence. */
class IssuerError extends Error {}

export interface IssuerOptions {
  /** Milliseconds of a monotonic clock. */
  clock: () => number;
  /** The authority that signed the issuer's certificate, in PEM; absent: Node's authorities. */
  ca?: string;
  timeoutMs?: number;
}

/** The keys of an issuer, cached for some minutes, and read again if a key id is unknown. */
function createIssuerKeys(issuer: string, options: IssuerOptions): JWTVerifyGetKey {
  const { clock } = options;
  let keys: ReturnType<typeof createLocalJWKSet> | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let triedAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;
  const isPausing = () => !reading && clock() - triedAt < issuerPauseSeconds * 1000;

  const read = async () => {
    triedAt = clock();
    keys = await readKeys(issuer, options);
    readAt = clock();
  };
  const refresh = async () => {
    if (isPausing())
      throw new IssuerError(`issuer ${issuer} failed recently; it is tried every ${issuerPauseSeconds} s`);
    reading ??= read().finally(() => {
      reading = undefined;
    });
    await reading;
  };

  return async (header, token) => {
    if (!keys || clock() - readAt >= issuerKeysSeconds * 1000) await refresh();
    try {
      return await keys!(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey) || isPausing()) throw error;
      await refresh();
      return keys!(header, token);
    }
  };
}

/** @throws IssuerError */
async function readKeys(issuer: string, { ca, timeoutMs = issuerSeconds * 1000 }: IssuerOptions) {
  const dispatcher = new Agent({ maxResponseSize: issuerBytes, connect: { ...(ca && { ca }) } });
  const signal = AbortSignal.timeout(timeoutMs);
  const get = async (url: URL): Promise<Record<string, unknown>> => {
    const { statusCode, body } = await request(url, {
      dispatcher,
      signal,
      headers: { accept: 'application/json', 'user-agent': 'rollout-hooks' },
    });
    if (statusCode !== 200) throw new IssuerError(`${url.href} answers ${statusCode}`);
    const json: unknown = JSON.parse(await body.text());
    if (typeof json !== 'object' || json === null) throw new IssuerError(`${url.href} is not a JSON object`);
    return json as Record<string, unknown>;
  };
  try {
    const home = new URL(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`);
    const { issuer: named, jwks_uri: where } = await get(home);
    if (named !== issuer) throw new IssuerError(`${home.href} belongs to another issuer`);
    const url = typeof where === 'string' ? URL.parse(where) : null;
    if (url?.origin !== home.origin) throw new IssuerError(`jwks_uri in ${home.href} is not on the issuer's own host`);
    return createLocalJWKSet((await get(url)) as unknown as JSONWebKeySet);
  } catch (error) {
    throw error instanceof IssuerError ? error : new IssuerError(`the keys of ${issuer} cannot be read: ${why(error)}`);
  } finally {
    await dispatcher.destroy();
  }
}

function why(error: unknown): string {
  const { name, code } = error as { name?: string; code?: string };
  if (name === 'TimeoutError' || name === 'ConnectTimeoutError') return 'no answer in time';
  if (code === 'UND_ERR_RES_EXCEEDED_MAX_SIZE') return `more than ${issuerBytes} bytes`;
  return code ?? (error instanceof SyntaxError ? 'not JSON' : 'no answer');
}
