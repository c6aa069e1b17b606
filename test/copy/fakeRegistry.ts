/** A registry in memory that behaves as a test sets, errors included. */
import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerOptions } from 'node:https';
import { type LocalServer, startLocalServer } from '../support/localServer.ts';

export const OCI_MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
export const OCI_INDEX = 'application/vnd.oci.image.index.v1+json';
const LAYER = 'application/vnd.oci.image.layer.v1.tar+gzip';

/** @param tls uses HTTPS with this certificate */
export async function startFakeRegistry(tls?: ServerOptions) {
  const server: LocalServer = await startLocalServer((request, response) => {
    registry.authorizations.push(request.headers.authorization);
    if (registry.meddle(request, response)) return;
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => answer(registry, request, response, Buffer.concat(chunks)));
  }, tls);
  const registry = {
    host: server.host,
    /** `METHOD path` of each request, and its Authorization. */
    requests: server.requests,
    authorizations: [] as (string | undefined)[],
    /** By `repository digest` or `repository tag`. */
    manifests: new Map<string, { mediaType: string; bytes: Buffer }>(),
    blobs: new Map<string, Buffer>(),
    /** Answers instead of the registry if it returns true. */
    meddle: (_request: IncomingMessage, _response: ServerResponse) => false,
    /** Whether it lists referrers, one per page. */
    hasReferrers: false,
    /** Origin of its links to the next page of referrers; empty: links are paths. */
    pageOrigin: '',
    blob(repository: string, content: string | Buffer) {
      const bytes = Buffer.from(content);
      registry.blobs.set(`${repository} ${sha256(bytes)}`, bytes);
      return { mediaType: LAYER, digest: sha256(bytes), size: bytes.byteLength };
    },
    manifest(repository: string, manifest: object, tag?: string) {
      const bytes = Buffer.from(JSON.stringify(manifest));
      const { mediaType } = manifest as { mediaType: string };
      const digest = sha256(bytes);
      for (const reference of [digest, ...(tag ? [tag] : [])]) {
        registry.manifests.set(`${repository} ${reference}`, { mediaType, bytes });
      }
      return { mediaType, digest, size: bytes.byteLength };
    },
    /** Makes it empty again, and as helpful as at its start. */
    reset() {
      registry.manifests.clear();
      registry.blobs.clear();
      registry.requests.length = 0;
      registry.authorizations.length = 0;
      registry.meddle = () => false;
      registry.hasReferrers = false;
      registry.pageOrigin = '';
    },
  };
  return registry;
}

export type FakeRegistry = Awaited<ReturnType<typeof startFakeRegistry>>;

/** An image of these layers. */
export function image(registry: FakeRegistry, repository: string, layers: string[], tag?: string, rest: object = {}) {
  const config = { ...registry.blob(repository, '{}'), mediaType: 'application/vnd.oci.image.config.v1+json' };
  const blobs = layers.map((layer) => registry.blob(repository, layer));
  return registry.manifest(
    repository,
    { schemaVersion: 2, mediaType: OCI_MANIFEST, config, layers: blobs, ...rest },
    tag,
  );
}

function answer(registry: FakeRegistry, request: IncomingMessage, response: ServerResponse, body: Buffer): void {
  const url = new URL(request.url!, 'http://registry');
  const [, repository = '', kind, rest = ''] =
    /^\/v2\/(.+?)\/(manifests|blobs|referrers)\/(.*)$/.exec(url.pathname) ?? [];
  const key = `${repository} ${rest}`;
  const end = (status: number, headers: Record<string, string> = {}, content?: Buffer | string) =>
    response.writeHead(status, headers).end(request.method === 'HEAD' ? undefined : content);
  if (kind === 'manifests' && request.method === 'PUT') {
    const stored = { mediaType: request.headers['content-type'] ?? '', bytes: body };
    registry.manifests.set(key, stored);
    registry.manifests.set(`${repository} ${sha256(body)}`, stored);
    const { subject } = JSON.parse(body.toString());
    return void end(201, { ...(registry.hasReferrers && subject && { 'oci-subject': subject.digest }) });
  }
  if (kind === 'manifests') {
    const found = registry.manifests.get(key);
    if (!found) return void end(404);
    return void end(
      200,
      { 'content-type': found.mediaType, 'docker-content-digest': sha256(found.bytes) },
      found.bytes,
    );
  }
  if (kind === 'referrers' && registry.hasReferrers) return void listReferrers(registry, repository, rest, url, end);
  if (kind === 'blobs' && request.method === 'POST')
    return void end(202, { location: `/v2/${repository}/blobs/uploads/1?s=1` });
  if (kind === 'blobs' && request.method === 'PUT') {
    const digest = url.searchParams.get('digest')!;
    if (sha256(body) !== digest) return void end(400, {}, '{"errors":[{"code":"DIGEST_INVALID"}]}');
    registry.blobs.set(`${repository} ${digest}`, body);
    return void end(201);
  }
  const blob = kind === 'blobs' && registry.blobs.get(key);
  if (!blob) return void end(404);
  end(200, { 'content-length': String(blob.byteLength) }, blob);
}

function listReferrers(
  registry: FakeRegistry,
  repository: string,
  subject: string,
  url: URL,
  end: (status: number, headers: Record<string, string>, content: string) => void,
): void {
  const about = [...registry.manifests].filter(([key, { bytes }]) => {
    return key.startsWith(`${repository} sha256:`) && JSON.parse(bytes.toString()).subject?.digest === subject;
  });
  const page = Number(url.searchParams.get('page') ?? 0);
  const manifests = about.slice(page, page + 1).map(([, { mediaType, bytes }]) => {
    return { mediaType, digest: sha256(bytes), size: bytes.byteLength };
  });
  const next = page + 1 < about.length && {
    link: `<${registry.pageOrigin}${url.pathname}?page=${page + 1}>; rel="next"`,
  };
  end(
    200,
    { 'content-type': OCI_INDEX, ...next },
    JSON.stringify({ schemaVersion: 2, mediaType: OCI_INDEX, manifests }),
  );
}

export function sha256(content: Buffer | string): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

/** For `meddle`: answers the first `times` requests of the method to matching paths. */
export function answering(
  method: string,
  path: RegExp,
  status: number,
  headers: object = {},
  times = Number.POSITIVE_INFINITY,
) {
  let left = times;
  return (request: IncomingMessage, response: ServerResponse) => {
    if (request.method !== method || !path.test(request.url!) || left-- <= 0) return false;
    request.resume();
    response.writeHead(status, { ...headers }).end('{"errors":[{"code":"OF_A_TEST","message":"s3cret"}]}');
    return true;
  };
}
