/** An OIDC issuer on this machine, for the page in the cluster. Users choose their account. */
import { createServer, type RequestListener } from 'node:http';
import { exportJWK, generateKeyPair, type JWK } from 'jose';
// @ts-expect-error: it brings no types.
import Provider from 'oidc-provider';
import { listenOnLoopback } from '../local/process/ports.ts';

export const CLIENT = { id: 'rollouts', secret: 'the-secret-of-the-client' };

/** The signing key, with its private part for tests. */
export const ISSUER_KEY: JWK = await newKey();

async function newKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair('RS256', { extractable: true });
  return { ...(await exportJWK(privateKey)), kid: 'key', alg: 'RS256', use: 'sig' };
}

export interface Issuer {
  url: string;
  close(): void;
}

/** Starts an issuer. `answerAt` makes the request listener for the issuer's URL. */
export async function listenAsIssuer(answerAt: (url: string) => RequestListener): Promise<Issuer> {
  const server = createServer();
  const { host, close } = await listenOnLoopback(server);
  const url = `http://${host}`;
  server.on('request', answerAt(url));
  return { url, close };
}

/** Starts an issuer with these accounts and their claims. A `login_hint` selects the account. */
export function startIssuer(accounts: Record<string, object>, redirect: string): Promise<Issuer> {
  return listenAsIssuer((url) => {
    const provider = new Provider(url, configuration(accounts, redirect));
    const answer = provider.callback();
    return async (request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', url);
      if (!pathname.startsWith('/interaction/')) return answer(request, response);
      const { params } = await provider.interactionDetails(request, response);
      const accountId = searchParams.get('as') ?? params.login_hint;
      if (Object.hasOwn(accounts, accountId ?? '')) {
        return provider.interactionFinished(request, response, { login: { accountId } });
      }
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
      response.end(choice(Object.keys(accounts)));
    };
  });
}

function choice(accounts: readonly string[]): string {
  const links = accounts.map((name) => `<li><a href="?as=${name}">${name}</a></li>`);
  return `<!doctype html><html lang="en"><title>Local issuer</title><h1>Who are you?</h1><ul>${links.join('')}</ul></html>`;
}

const HOUR = 3600;

function configuration(accounts: Record<string, object>, redirect: string): object {
  const client = {
    client_id: CLIENT.id,
    client_secret: CLIENT.secret,
    redirect_uris: [redirect],
    token_endpoint_auth_method: 'client_secret_post',
  };
  return {
    clients: [client],
    jwks: { keys: [ISSUER_KEY] },
    cookies: { keys: ['of a local issuer'] },
    scopes: ['openid', 'email', 'groups'],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    ttl: { AccessToken: HOUR, AuthorizationCode: 60, Grant: HOUR, IdToken: HOUR, Interaction: HOUR, Session: HOUR },
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    findAccount: (_: unknown, id: string) => ({ accountId: id, claims: () => ({ sub: id, ...accounts[id] }) }),
    // Users aren't asked for consent.
    async loadExistingGrant({ oidc }: any) {
      const grant = new oidc.provider.Grant({ clientId: CLIENT.id, accountId: oidc.session.accountId });
      grant.addOIDCScope('openid email groups');
      await grant.save();
      return grant;
    },
  };
}
