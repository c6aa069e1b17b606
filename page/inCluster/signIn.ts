/** Sign-in at an OIDC issuer: code flow with PKCE, state and nonce. Only the ID token is used, and it is not stored. */
import { readFileSync } from 'node:fs';
import * as oidc from 'openid-client';
import { type IssuerConfig, isLoopback } from './config.ts';
import { type IdentityResult, identityOfClaims } from './identity.ts';

export const CALLBACK = '/signed-in';
const ANSWER_TIMEOUT_SECONDS = 10;

/** The values that the callback must match; the browser keeps them in a cookie that only this server can read. */
export interface Pending {
  state: string;
  nonce: string;
  verifier: string;
}

export interface SignIn {
  /** Starts a sign-in. `to`: the address for the browser. @throws SignInError */
  begin(): Promise<{ to: URL; pending: Pending }>;
  /** Ends a sign-in. `query`: that of the callback. @throws SignInError */
  finish(query: string, pending: Pending): Promise<IdentityResult>;
}

/** A failed sign-in: a sentence for the reader, without text from the issuer or the browser. `detail`: for the log. */
export class SignInError extends Error {
  readonly detail: string;

  constructor(message: string, cause: unknown) {
    super(message);
    this.detail = detailOf(cause);
  }
}

export function createSignIn(config: IssuerConfig, origin: string): SignIn {
  let known: Promise<oidc.Configuration> | undefined;
  const issuer = (): Promise<oidc.Configuration> => {
    known ??= discover(config).catch((error) => {
      known = undefined;
      throw new SignInError('The issuer does not answer. Try again in a moment.', error);
    });
    return known;
  };
  return {
    async begin() {
      const pending = { state: oidc.randomState(), nonce: oidc.randomNonce(), verifier: oidc.randomPKCECodeVerifier() };
      const to = oidc.buildAuthorizationUrl(await issuer(), {
        redirect_uri: origin + CALLBACK,
        scope: config.scopes,
        state: pending.state,
        nonce: pending.nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(pending.verifier),
        code_challenge_method: 'S256',
      });
      return { to, pending };
    },
    async finish(query, { state, nonce, verifier }) {
      const known = await issuer();
      try {
        const answer = await oidc.authorizationCodeGrant(known, new URL(CALLBACK + query, origin), {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: verifier,
          idTokenExpected: true,
        });
        return identityOfClaims(answer.claims() ?? {}, config.naming);
      } catch (error) {
        throw new SignInError('The issuer’s answer was not accepted. Sign in again.', error);
      }
    },
  };
}

function discover({ issuer, clientId, clientSecretFile }: IssuerConfig): Promise<oidc.Configuration> {
  const url = new URL(issuer);
  // Read anew for each sign-in: a mounted Secret is replaced in place.
  const withSecret: oidc.ClientAuth = (...request) =>
    oidc.ClientSecretPost(readFileSync(clientSecretFile!, 'utf8').trim())(...request);
  return oidc.discovery(url, clientId, undefined, clientSecretFile ? withSecret : oidc.None(), {
    timeout: ANSWER_TIMEOUT_SECONDS,
    // The token's signature is checked too, although it comes from the issuer itself over TLS.
    execute: [oidc.enableNonRepudiationChecks, ...(isLoopback(url.hostname) ? [oidc.allowInsecureRequests] : [])],
  });
}

/** The name and codes of an error, for the log: its texts may quote a token. */
function detailOf(cause: unknown): string {
  const { name = 'Error', code, error } = (cause ?? {}) as { name?: string; code?: unknown; error?: unknown };
  const codes = [code, error].filter((each) => typeof each === 'string' && /^[\w.-]{1,60}$/.test(each));
  return [name, ...codes].join(' ');
}
