/**
 * The parts of a release in the source, and the order in which they are pushed: each part after those that it refers
 * to, and the release's tag last.
 */
import type { StoredManifest } from '../../api/registry.ts';
import type { Blob, Contents } from './manifest.ts';
import { CopyFailure } from './outcome.ts';

/** A manifest of a release, and what it refers to. */
export interface ReleasePart {
  manifest: StoredManifest;
  contents: Contents;
}

/** All parts of a release at its source. */
export interface SourceRelease {
  /** Digest under the release's tag. */
  root: string;
  /** The parts by digest, in the order in which they were found: the root first, and referrers after their subject. */
  parts: Map<string, ReleasePart>;
  /** Blobs that an index lists itself, as build caches do. */
  looseBlobs: Map<string, Blob>;
  /** cosign's tags, and the digest under each. */
  attachedTags: Map<string, string>;
}

export function emptyRelease(root: string): SourceRelease {
  return { root, parts: new Map(), looseBlobs: new Map(), attachedTags: new Map() };
}

/** Adds a part. @throws CopyFailure Invalid, if the release is larger than a copy may be. */
export function addPart({ parts }: SourceRelease, part: ReleasePart): void {
  parts.set(part.manifest.digest, part);
  if (parts.size > COPY_LIMITS.manifests) {
    throw releaseTooLarge(`more than ${COPY_LIMITS.manifests} manifests, with what refers to them`);
  }
  let bytes = 0;
  for (const { manifest } of parts.values()) bytes += manifest.bytes.byteLength;
  if (bytes > COPY_LIMITS.manifestsBytes) {
    throw releaseTooLarge(`manifests of more than ${COPY_LIMITS.manifestsBytes} bytes together`);
  }
}

/** Adds a blob that an index lists itself. @throws CopyFailure Invalid, if there are more than a copy may have. */
export function addLooseBlob({ looseBlobs }: SourceRelease, blob: Blob): void {
  looseBlobs.set(blob.digest, blob);
  if (looseBlobs.size > COPY_LIMITS.blobs) throw tooManyBlobs();
}

/** The blobs, each once. @throws CopyFailure Invalid, beyond the limit, or if one digest is listed with two sizes. */
export function blobsOf({ parts, looseBlobs }: SourceRelease): Blob[] {
  const blobs = new Map<string, Blob>(looseBlobs);
  for (const { contents } of parts.values()) {
    for (const blob of contents.blobs) {
      const known = blobs.get(blob.digest);
      if (known && known.size !== blob.size) {
        throw new CopyFailure(
          'Invalid',
          `the release says that ${blob.digest} has ${known.size} and ${blob.size} bytes`,
        );
      }
      // A blob is copied if one manifest does not have it elsewhere.
      if (!known?.elsewhere && known) continue;
      blobs.set(blob.digest, blob);
      if (blobs.size > COPY_LIMITS.blobs) throw tooManyBlobs();
    }
  }
  return [...blobs.values()];
}

/** The parts in the order of the push: parts of an index before it, and referrers after their subject. */
export function pushOrder({ parts }: SourceRelease): ReleasePart[] {
  const ordered = new Map<string, ReleasePart>();
  const visit = (digest: string) => {
    const part = parts.get(digest);
    if (!part || ordered.has(digest)) return;
    for (const child of part.contents.manifests) visit(child.digest);
    ordered.set(digest, part);
  };
  for (const digest of parts.keys()) visit(digest);
  return [...ordered.values()];
}

/** The referrers by the digest of their subject: a registry without the referrers API needs a list of them. */
export function partsWithSubject({ parts }: SourceRelease): Map<string, ReleasePart[]> {
  const bySubject = Map.groupBy(parts.values(), ({ contents }) => contents.subject);
  bySubject.delete(undefined);
  return bySubject as Map<string, ReleasePart[]>;
}

const tooManyBlobs = () => releaseTooLarge(`more than ${COPY_LIMITS.blobs} blobs`);

function releaseTooLarge(what: string): CopyFailure {
  return new CopyFailure('Invalid', `the release has ${what}, more than a copy may have`);
}

/**
 * The limits of one copy: a user who may push to the source may write any manifest. Beyond a limit nothing is copied.
 * docs/reference/limits.md is generated from this table.
 */
export const COPY_LIMITS = {
  /** Bytes of one manifest, and of one list of referrers. */
  manifestBytes: 4_194_304,
  /** Manifests of one release, with all referrers. */
  manifests: 500,
  /** Bytes of all manifests of one release: they are held in memory, blobs are not. */
  manifestsBytes: 33_554_432,
  /** Blobs of one release. */
  blobs: 10_000,
  /** Steps from the tag to a manifest: an index in an index, a signature of an SBOM. */
  nesting: 5,
} as const;
