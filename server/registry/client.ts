/** Manifests of an OCI distribution registry: anonymous, Basic and Bearer token authentication. */
import { createHash } from 'node:crypto';
import { Agent, type Dispatcher } from 'undici';
import { type Challenge, parseChallenge, tokenServer } from './challenge.ts';
import type { Credentials } from './dockerConfig.ts';
import { RegistryError } from './error.ts';
import { type Answer, boundedFetch } from './http.ts';
import { type Image, isDigest } from './image.ts';
import { ACCEPT } from './metadata.ts';
import type { Trust } from './trust.ts';

const MAX_MANIFEST = 4 * 1024 * 1024;
const MAX_TOKEN = 256 * 1024;

export interface ManifestRequest {
  image: Image;
  /** Tag or digest. */
  reference: string;
  /** Plain HTTP. */
  insecure: boolean;
  credentials?: Credentials;
  trust?: Trust;
  /** For all the requests it takes. */
  timeoutMs: number;
}

export interface Manifest {
  digest: string;
  content: unknown;
}

interface Connections {
  signal: AbortSignal;
  dispatcher?: Dispatcher | undefined;
}

/** @throws RegistryError, without secrets, saying what the registry did. */
export async function fetchManifest(request: ManifestRequest): Promise<Manifest> {
  const { trust, timeoutMs } = request;
  const dispatcher = trust && new Agent({ connect: { ...trust } });
  try {
    return await fetchThrough(request, { signal: AbortSignal.timeout(timeoutMs), dispatcher });
  } finally {
    await dispatcher?.destroy();
  }
}

async function fetchThrough(request: ManifestRequest, connections: Connections): Promise<Manifest> {
  const { image, reference, insecure, credentials } = request;
  const url = new URL(`${insecure ? 'http' : 'https'}://${image.host}/v2/${image.repository}/manifests/${reference}`);
  const get = (authorization?: string) =>
    boundedFetch({
      url,
      headers: { accept: ACCEPT, ...(authorization && { authorization }) },
      maxBytes: MAX_MANIFEST,
      ...connections,
    });

  let answer = await get(credentials?.kind === 'registryToken' ? `Bearer ${credentials.token}` : undefined);
  if (answer.status === 401) {
    const challenge = parseChallenge(answer.headers.get('www-authenticate'));
    answer = await get(await authorize(request, challenge, connections));
  }
  return manifestOf(answer, request);
}

async function authorize(
  { image, insecure, credentials }: ManifestRequest,
  challenge: Challenge | undefined,
  connections: Connections,
): Promise<string> {
  if (!challenge) throw new RegistryError(`${image.host} asks for an unknown kind of authentication`);
  if (challenge.scheme === 'basic') {
    if (credentials?.kind !== 'basic') throw new RegistryError(`${image.host} asks for username and password`);
    return basic(credentials);
  }
  const realm = tokenServer(challenge.realm, { host: image.host, insecure });
  if (!realm) throw new RegistryError(`${image.host} names a token server that is not its own, so it is not asked`);
  const scope = `repository:${image.repository}:pull`;
  const answer = await fetchToken(realm, challenge.service, scope, credentials, connections);
  if (answer.status !== 200) throw new RegistryError(`the token server ${realm.host} answers ${answer.status}`);
  const { token, access_token } = parseJson(answer.body, realm.host) as Record<string, unknown>;
  const bearer = token ?? access_token;
  // A line break would become a header of its own.
  if (typeof bearer !== 'string' || !/^[\x21-\x7e]+$/.test(bearer)) {
    throw new RegistryError(`the token server ${realm.host} returns no token`);
  }
  return `Bearer ${bearer}`;
}

function fetchToken(
  realm: URL,
  service: string | undefined,
  scope: string,
  credentials: Credentials | undefined,
  connections: Connections,
): Promise<Answer> {
  if (credentials?.kind === 'identityToken') {
    const form = new URLSearchParams({
      grant_type: 'refresh_token',
      refresh_token: credentials.token,
      client_id: 'rollout-hooks',
      scope,
      ...(service && { service }),
    });
    return boundedFetch({ url: new URL(realm), method: 'POST', form, maxBytes: MAX_TOKEN, ...connections });
  }
  const url = new URL(realm);
  url.searchParams.set('scope', scope);
  if (service) url.searchParams.set('service', service);
  const headers = credentials?.kind === 'basic' && { authorization: basic(credentials) };
  return boundedFetch({ url, ...(headers && { headers }), maxBytes: MAX_TOKEN, ...connections });
}

function basic({ username, password }: { username: string; password: string }): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

function manifestOf({ status, body }: Answer, { image, reference }: ManifestRequest): Manifest {
  const name = `${image.host}/${image.repository}`;
  if (status === 401 || status === 403) throw new RegistryError(`${image.host} refuses to show ${name} (${status})`);
  if (status === 404) throw new RegistryError(`${name} has no ${reference}`);
  if (status !== 200) throw new RegistryError(`${image.host} answers ${status} for ${name}`);
  const digest = `sha256:${createHash('sha256').update(body).digest('hex')}`;
  if (isDigest(reference) && digest !== reference) {
    throw new RegistryError(`${name} answers ${reference} with another manifest`);
  }
  return { digest, content: parseJson(body, image.host) };
}

function parseJson(body: Buffer, host: string): unknown {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // Said below.
  }
  throw new RegistryError(`${host} answers with something other than a JSON object`);
}
