/** The port `IdTokenVerifier`: signature, issuer and times of an ID token, by the keys that its issuer publishes. */
import { errors, type JWTVerifyGetKey, jwtVerify } from 'jose';
import type { IdTokenVerifier } from '../../api/ports.ts';
import { SERVER_LIMITS } from '../http/limits.ts';
import { createIssuerKeys, IssuerError, type IssuerOptions } from './issuerKeys.ts';

/** Asymmetric ones only: with HS256 the public key would be the secret. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512'];

export function createIdTokenVerifier(options: IssuerOptions): IdTokenVerifier {
  /** Of the issuers that the operator allows: callers check that first. */
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
