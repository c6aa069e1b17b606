/** The login that a registry requires: Basic, or a token of its token server. */
import type { Credentials } from './dockerConfig.ts';
import { RegistryError } from './error.ts';
import { boundedFetch, type Connections, parseJson, type RegistryAnswer } from './http.ts';
import type { Image } from './image.ts';

const MAX_TOKEN_BYTES = 256 * 1024;

interface Account {
  image: Image;
  /** Plain HTTP. */
  insecure: boolean;
  credentials?: Credentials | undefined;
  /** `repository:acme/web:pull` */
  scopes: string[];
}

/**
 * The login of requests to one repository. `send` sends a request, and again with `headers` if the registry answers
 * 401; `renew` logs in by the header WWW-Authenticate of a 401.
 * @throws RegistryError, without secrets
 */
export function createLogin(account: Account, connections: () => Connections) {
  const { credentials } = account;
  let authorization = credentials?.kind === 'registryToken' ? `Bearer ${credentials.token}` : undefined;

  async function renew(challenge: string | null): Promise<void> {
    authorization = await authorize(account, challenge, connections());
  }

  return {
    renew,
    headers: () => ({ ...(authorization && { authorization }) }),
    async send(request: () => Promise<RegistryAnswer>): Promise<RegistryAnswer> {
      const answer = await request();
      if (answer.status !== 401) return answer;
      await renew(answer.headers.get('www-authenticate'));
      return request();
    },
  };
}

async function authorize(account: Account, challenge: string | null, connections: Connections): Promise<string> {
  const { image, insecure, credentials } = account;
  const requested = parseChallenge(challenge);
  if (!requested) {
    const known = 'only Basic and Bearer are supported';
    throw new RegistryError(`${image.host} requires an unknown kind of authentication: ${known}`, 'Denied');
  }
  if (requested.scheme === 'basic') {
    if (credentials?.kind === 'basic') return basic(credentials);
    const needed = 'the Secret with its credentials needs an entry with both';
    throw new RegistryError(`${image.host} requires username and password: ${needed}`, 'Denied');
  }
  const realm = tokenServer(requested.realm, { host: image.host, insecure });
  if (!realm) {
    const instead = 'sign in with username and password, or use a registry with a token server in its own domain';
    throw new RegistryError(`${image.host} names a token server that is not its own: ${instead}`, 'Denied');
  }
  const answer = await fetchToken(realm, requested, account, connections);
  if (answer.status !== 200) {
    const failure = answer.status === 429 || answer.status >= 500 ? 'Unavailable' : 'Denied';
    throw new RegistryError(`the token server ${realm.host} answers ${answer.status}`, failure);
  }
  const { token, access_token } = parseJson(answer.body, realm.host) as Record<string, unknown>;
  const bearer = token ?? access_token;
  // A line break would start another header.
  if (typeof bearer !== 'string' || !/^[\x21-\x7e]+$/.test(bearer)) {
    throw new RegistryError(`the token server ${realm.host} returns no token`);
  }
  return `Bearer ${bearer}`;
}

function fetchToken(
  realm: URL,
  { service }: Challenge & { scheme: 'bearer' },
  { credentials, scopes }: Account,
  connections: Connections,
): Promise<RegistryAnswer> {
  if (credentials?.kind === 'identityToken') {
    const form = new URLSearchParams({
      grant_type: 'refresh_token',
      refresh_token: credentials.token,
      client_id: 'rollout-hooks',
      scope: scopes.join(' '),
      ...(service && { service }),
    });
    return boundedFetch({ url: new URL(realm), method: 'POST', body: form, maxBytes: MAX_TOKEN_BYTES, ...connections });
  }
  const url = new URL(realm);
  url.searchParams.delete('scope');
  for (const scope of scopes) url.searchParams.append('scope', scope);
  if (service) url.searchParams.set('service', service);
  const headers = credentials?.kind === 'basic' && { authorization: basic(credentials) };
  return boundedFetch({ url, ...(headers && { headers }), maxBytes: MAX_TOKEN_BYTES, ...connections });
}

function basic({ username, password }: { username: string; password: string }): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

// The header WWW-Authenticate of a registry, and whether its token server may be called.

type Challenge = { scheme: 'basic' } | { scheme: 'bearer'; realm: string; service?: string };

/** A match can't start inside a word: a registry could choose a header for which that takes quadratic time. */
const PARAMETER = /(?<![a-z_])([a-z_]+)\s*=\s*(?:"([^"]*)"|([^\s,"]+))/gi;

/** Parses the challenge in WWW-Authenticate; undefined for an unknown scheme. */
export function parseChallenge(header: string | null): Challenge | undefined {
  const [, scheme = '', rest = ''] = /^\s*([a-z]+)\s*(.*)$/is.exec(header ?? '') ?? [];
  if (scheme.toLowerCase() === 'basic') return { scheme: 'basic' };
  if (scheme.toLowerCase() !== 'bearer') return undefined;
  const parameters = new Map<string, string>();
  for (const [, name = '', quoted, bare] of rest.matchAll(PARAMETER)) {
    parameters.set(name.toLowerCase(), quoted ?? bare ?? '');
  }
  const realm = parameters.get('realm');
  const service = parameters.get('service');
  return realm ? { scheme: 'bearer', realm, ...(service && { service }) } : undefined;
}

/** Domains inside a cluster or private network, in which a sibling name may belong to another tenant. */
const PRIVATE = /(^|\.)(svc|local|localdomain|internal|lan|home|corp)$|\.svc\./;
const IP = /^[0-9.]+$|^\[/;

/**
 * The token server's address; undefined if it must not be called. A registry can name any address, and we run inside
 * the cluster. So only the registry's own host, its parent domain (GitLab) or a sibling (Docker Hub) is called, and by
 * HTTPS if the registry is.
 */
export function tokenServer(realm: string, registry: { host: string; insecure: boolean }): URL | undefined {
  const url = URL.parse(realm);
  if (url?.username !== '' || url.password !== '') return undefined;
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && registry.insecure)) return undefined;
  if (url.host === registry.host) return url;
  const host = registry.host.replace(/:[0-9]+$/, '');
  if (url.hostname === host && registry.insecure) return url;
  if (url.port !== '' || PRIVATE.test(host) || IP.test(host) || IP.test(url.hostname)) return undefined;
  const parent = parentOf(host);
  if (!parent) return undefined;
  return url.hostname === parent || parentOf(url.hostname) === parent ? url : undefined;
}

/** The parent domain; undefined for a single label: `com` is no parent. */
function parentOf(host: string): string | undefined {
  const labels = host.split('.').slice(1);
  return labels.length >= 2 ? labels.join('.') : undefined;
}
