/** Manifests of an OCI distribution registry: anonymous, Basic and Bearer token authentication. */
import { createHash } from 'node:crypto';
import { createLogin } from './authorize.ts';
import type { Credentials } from './dockerConfig.ts';
import { RegistryError } from './error.ts';
import { boundedFetch, type Connections, parseJson, type RegistryAnswer } from './http.ts';
import { type Image, isSha256Digest } from './image.ts';
import { ACCEPT } from './releaseMetadata.ts';
import type { RegistrySockets } from './sockets.ts';
import type { Trust } from './trust.ts';

const MAX_MANIFEST_BYTES = 4 * 1024 * 1024;

export interface ManifestRequest {
  image: Image;
  /** Tag or digest. */
  reference: string;
  /** Plain HTTP. */
  insecure: boolean;
  credentials?: Credentials;
  trust?: Trust;
  sockets: RegistrySockets;
  /** Milliseconds for all requests together. */
  timeoutMs: number;
}

export interface Manifest {
  digest: string;
  content: unknown;
}

/** The manifest of a reference. @throws RegistryError with the registry's answer, without secrets */
export async function fetchManifest(request: ManifestRequest): Promise<Manifest> {
  const { trust, timeoutMs, sockets } = request;
  const own = trust && sockets.agent({}, { ...trust });
  try {
    return await fetchThrough(request, { signal: AbortSignal.timeout(timeoutMs), dispatcher: own ?? sockets.shared });
  } finally {
    await own?.destroy();
  }
}

async function fetchThrough(request: ManifestRequest, connections: Connections): Promise<Manifest> {
  const { image, reference, insecure, credentials } = request;
  const url = new URL(`${insecure ? 'http' : 'https'}://${image.host}/v2/${image.repository}/manifests/${reference}`);
  const scopes = [`repository:${image.repository}:pull`];
  const login = createLogin({ image, insecure, credentials, scopes }, () => connections);
  const headers = () => ({ accept: ACCEPT, ...login.headers() });
  const answer = await login.send(() =>
    boundedFetch({ url, headers: headers(), maxBytes: MAX_MANIFEST_BYTES, ...connections }),
  );
  return manifestOf(answer, request);
}

function manifestOf({ status, body }: RegistryAnswer, { image, reference }: ManifestRequest): Manifest {
  const name = `${image.host}/${image.repository}`;
  if (status === 401 || status === 403) {
    const right = 'its credentials need the right to pull from it';
    throw new RegistryError(`${image.host} refuses to show ${name} (${status}): ${right}`);
  }
  if (status === 404) throw new RegistryError(`${name} has no ${reference}`);
  if (status !== 200) {
    const failure = status >= 500 || status === 429 ? 'Unavailable' : 'Invalid';
    throw new RegistryError(`${image.host} answers ${status} for ${name}`, failure);
  }
  const digest = `sha256:${createHash('sha256').update(body).digest('hex')}`;
  if (isSha256Digest(reference) && digest !== reference) {
    throw new RegistryError(`${name} answers ${reference} with another manifest`);
  }
  return { digest, content: parseJson(body, image.host) };
}
