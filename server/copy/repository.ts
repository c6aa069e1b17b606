/** Manifests of a source and of a target, the implementation of the ports of api/registry.ts. */
import { createHash } from 'node:crypto';
import type { SourceRepository, StoredManifest, TargetRepository } from '../../api/registry.ts';
import { RegistryError } from '../registry/error.ts';
import { ACCEPT } from '../registry/releaseMetadata.ts';
import { atKnownAddress, type Session } from './registrySession.ts';

const MAX_PAGES = 20;
const DIGEST = /^(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/;
/** Media types: those of `ACCEPT`, those of older signatures and SBOMs, and any other that an index lists. */
const ACCEPTED = `${ACCEPT}, application/vnd.oci.artifact.manifest.v1+json, */*;q=0.1`;
const PARTS_UNKNOWN = new Set(['MANIFEST_BLOB_UNKNOWN', 'BLOB_UNKNOWN', 'MANIFEST_UNKNOWN']);
const INDEX = 'application/vnd.oci.image.index.v1+json';
/**
 * Answers of registries without the referrers API. The OCI distribution specification requires 404 (distribution,
 * GitLab, GitHub). distribution uses 405 for what it doesn't implement, Artifactory answers 406, and GitHub has
 * redirected to its website with 303. After any other status, such as 403 or 400, the registry may have signatures to
 * list, and a release without them must not count as copied.
 */
const NO_REFERRERS_API = new Set([303, 404, 405, 406, 501]);

/** @param maxBytes of a manifest */
export function createSource(session: Session, maxBytes: number): SourceRepository {
  let hasReferrers: boolean | undefined;
  return {
    name: session.name,
    manifest: (reference) => readManifest(session, reference, maxBytes),
    async referrers(digest) {
      if (hasReferrers === false) return undefined;
      const pages = await readReferrers(session, digest, maxBytes);
      hasReferrers ??= pages !== undefined;
      return pages;
    },
  };
}

/** @param maxBytes of a manifest */
export function createTarget(session: Session, maxBytes: number): TargetRepository {
  return {
    name: session.name,
    manifest: (reference) => readManifest(session, reference, maxBytes),
    async digestOf(reference) {
      const answer = await session.ask(`manifests/${reference}`, { method: 'HEAD', headers: { accept: ACCEPTED } });
      if (answer.status === 404) return undefined;
      if (answer.status !== 200) throw session.refusal(answer.status, `to show ${reference}`);
      const named = answer.headers.get('docker-content-digest');
      return named && DIGEST.test(named) ? named : (await readManifest(session, reference, maxBytes))?.digest;
    },
    async put(reference, { mediaType, bytes }) {
      const headers = { 'content-type': mediaType };
      const answer = await session.ask(`manifests/${reference}`, { method: 'PUT', headers, body: bytes });
      const what = `the manifest ${reference}`;
      if (PARTS_UNKNOWN.has(answer.errorCode ?? '')) {
        const text = `the target ${session.name} has lost a part of ${what} since it was sent, for example by a garbage collection: start again`;
        throw new RegistryError(text, 'Unavailable', { transient: false });
      }
      if (answer.status < 200 || answer.status > 299)
        throw session.refusal(answer.status, what, { code: answer.errorCode });
      const named = answer.headers.get('docker-content-digest');
      const sent = digestOf(bytes, named?.startsWith('sha512:') ? 'sha512' : 'sha256');
      if (named && DIGEST.test(named) && named !== sent) {
        throw new RegistryError(`the target ${session.name} was sent ${sent}, but reports it as ${named}`);
      }
      return { listsReferrers: answer.headers.has('oci-subject') };
    },
  };
}

async function readManifest(
  session: Session,
  reference: string,
  maxBytes: number,
): Promise<StoredManifest | undefined> {
  return session.retry(async () => {
    const headers = { accept: ACCEPTED };
    const answer = await session.ask(`manifests/${reference}`, { headers, maxBytes });
    if (answer.status === 404) return undefined;
    if (answer.status !== 200) throw session.refusal(answer.status, `to show ${reference}`, { code: answer.errorCode });
    const requested = DIGEST.test(reference) ? reference : undefined;
    const digest = digestOf(answer.body, requested?.startsWith('sha512:') ? 'sha512' : 'sha256');
    if (requested && digest !== requested) {
      const text = `the ${session.side} ${session.name} answers ${requested} with another manifest, ${digest}`;
      throw new RegistryError(text, 'Invalid', { transient: true });
    }
    const mediaType = answer.headers.get('content-type')?.split(';')[0]?.trim() ?? '';
    return { digest, mediaType, bytes: answer.body };
  });
}

/** The pages of the list of referrers; undefined if the registry has no API for them. @throws if a page is refused */
async function readReferrers(session: Session, digest: string, maxBytes: number): Promise<Uint8Array[] | undefined> {
  const pages: Uint8Array[] = [];
  let next: string | URL | undefined = `referrers/${digest}`;
  while (next !== undefined) {
    const isFirst = pages.length === 0;
    const answer = await session.ask(next, { headers: { accept: INDEX }, maxBytes, returnsForeignRedirect: isFirst });
    if (isFirst && NO_REFERRERS_API.has(answer.status)) return undefined;
    const what = `${isFirst ? '' : `page ${pages.length + 1} of `}the list of referrers of ${digest}`;
    if (answer.status !== 200) throw session.refusal(answer.status, what, { code: answer.errorCode });
    const type = answer.headers.get('content-type') ?? 'nothing';
    if (!type.startsWith(INDEX)) {
      // Some registries without the API answer every GET with a page or an empty object.
      if (isFirst) return undefined;
      throw new RegistryError(`the ${session.side} ${session.name} answers ${what} as ${type.slice(0, 100)}`);
    }
    pages.push(answer.body);
    if (pages.length > MAX_PAGES) {
      throw new RegistryError(
        `the ${session.side} ${session.name} lists the referrers of ${digest} on more than ${MAX_PAGES} pages`,
      );
    }
    next = nextPage(answer.headers.get('link'), session, session.url(next));
  }
  return pages;
}

/** The address of the next page: path and query of the registry's link, at its known address. */
function nextPage(link: string | null, session: Session, page: URL): URL | undefined {
  const [, target] = /<([^>]{1,2000})>\s*;\s*rel="?next"?/i.exec(link ?? '') ?? [];
  const url = target ? URL.parse(target, page.href) : null;
  if (!url) return undefined;
  if (url.hostname !== page.hostname) {
    throw new RegistryError(`the ${session.side} ${session.name} links to another host for its next page`);
  }
  return atKnownAddress(url, page);
}

function digestOf(bytes: Uint8Array, algorithm: 'sha256' | 'sha512'): string {
  return `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`;
}
