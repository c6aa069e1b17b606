/**
 * Copies a release: blobs, then manifests by digest, then tags, the release's own tag last.
 * Anything that the target has is skipped.
 */
import type { Descriptor, Repositories, SourceRepository, StoredManifest, TargetRepository } from '../api/registry.ts';
import {
  type Blob,
  contentsOf,
  cosignTags,
  hasLayersOf,
  listedDescriptors,
  MANIFEST_TYPES,
  mergedList,
  OCI_INDEX,
  referrerOf,
  referrersTag,
} from '../core/releaseCopy/manifest.ts';
import { CopyFailure } from '../core/releaseCopy/outcome.ts';
import {
  addLooseBlob,
  addPart,
  blobsOf,
  COPY_LIMITS,
  emptyRelease,
  partsWithSubject,
  pushOrder,
  type ReleasePart,
  type SourceRelease,
} from '../core/releaseCopy/release.ts';

const BLOBS_AT_ONCE = 3;

interface ReleaseOrder {
  tag: string;
  /** The digest for the target's tag; absent: the digest of the source's tag. */
  digest?: string;
  /** Whether the target's tag may be moved if it has another digest. */
  overwrite: boolean;
}

export interface Copied {
  tag: string;
  digest: string;
  manifests: number;
  blobs: number;
  /** Bytes of all blobs. */
  bytes: number;
  uploadedBytes: number;
  message: string;
}

/**
 * Copies a release, and checks that the target has it under its tags.
 * @param say called with a line of progress at each step
 * @throws CopyFailure, or the registry's failure
 */
export async function copyRelease(
  { tag, digest, overwrite }: ReleaseOrder,
  repositories: Repositories,
  say: (line: string) => void,
): Promise<Copied> {
  const { source, target } = repositories;
  const release = await readRelease(source, digest ?? tag);
  const blobs = blobsOf(release);
  const bytes = blobs.reduce((sum, { size }) => sum + size, 0);
  say(
    `${source.name}:${tag} is ${release.root}: ${release.parts.size} manifests, ${blobs.length} blobs, ${sizeText(bytes)}`,
  );

  const isTagged = () => hasTag(target, tag, release.root, overwrite);
  await isTagged();
  const uploadedBytes = await copyBlobs(blobs, repositories, say);
  const listsReferrers = await putManifests(pushOrder(release), target);
  if (!listsReferrers) await putReferrers(release, target);
  const kept: string[] = [];
  for (const [attached, digest] of release.attachedTags) {
    if (!(await putAttachedTag(target, attached, release.parts.get(digest)!))) kept.push(attached);
  }
  if (!(await isTagged())) await putTag(target, tag, release.parts.get(release.root)!);
  const sent = `${blobs.length} blobs, ${sizeText(uploadedBytes)} of ${sizeText(bytes)} sent`;
  const keeps = kept.length === 0 ? '' : `; the target keeps its own ${kept.join(', ')}`;
  const message = `${target.name}:${tag} is ${release.root}: ${sent}${keeps}`;
  const counts = { manifests: release.parts.size, blobs: blobs.length, bytes, uploadedBytes };
  return { tag, digest: release.root, ...counts, message };
}

/** Whether the target's tag already has that digest. @throws CopyFailure if it has another one that must stay */
async function hasTag(target: TargetRepository, tag: string, digest: string, overwrite: boolean): Promise<boolean> {
  const there = await target.digestOf(tag);
  if (there === digest) return true;
  if (there === undefined || overwrite) return false;
  const text = `the target ${target.name} already has ${tag} as ${there}, not ${digest}: delete it there, or set overwrite`;
  throw new CopyFailure('Conflict', text);
}

/** Puts a part under a tag, and checks that it is there. */
async function putTag(target: TargetRepository, tag: string, part: ReleasePart): Promise<void> {
  const { digest } = part.manifest;
  await target.put(tag, contentOf(part));
  const seen = await target.manifest(tag);
  if (seen?.digest === digest) return;
  throw new CopyFailure(
    'Invalid',
    `the target ${target.name} accepted ${digest} as ${tag}, but has ${seen?.digest ?? 'nothing'} there`,
  );
}

/**
 * Puts a part under a tag of cosign; false if the target has another one there. That one stays: it has a signature that
 * the source lacks, such as a countersignature, and isn't a conflict, because every tag of the digest shares it.
 */
async function putAttachedTag(target: TargetRepository, tag: string, part: ReleasePart): Promise<boolean> {
  const there = await target.manifest(tag);
  if (there?.digest === part.manifest.digest) return true;
  if (there && !hasLayersOf(textOf(part.manifest.bytes), textOf(there.bytes))) return false;
  await putTag(target, tag, part);
  return true;
}

/** Copies the blobs that the target lacks, and returns the bytes that were sent. */
async function copyBlobs(
  blobs: Blob[],
  { source, copyBlob }: Repositories,
  say: (line: string) => void,
): Promise<number> {
  let done = 0;
  let sent = 0;
  const rest = blobs.values();
  let stopped = false;
  const worker = async () => {
    for (const blob of rest) {
      if (stopped) return;
      const outcome = await copyBlob(blob);
      if (outcome === 'absent' && !blob.elsewhere) {
        throw new CopyFailure('NotFound', `the source ${source.name} no longer has the blob ${blob.digest}`);
      }
      if (outcome === 'uploaded') sent += blob.size;
      done++;
      say(`blob ${done} of ${blobs.length}: ${blob.digest} ${outcome}, ${sizeText(blob.size)}`);
    }
  };
  const stop = (error: unknown) => {
    stopped = true;
    throw error;
  };
  await Promise.all(Array.from({ length: BLOBS_AT_ONCE }, () => worker().catch(stop)));
  return sent;
}

/**
 * Puts the manifests by digest, and returns whether the registry lists all their referrers. Only a put shows this, so a
 * manifest with a subject is put even if the target has it.
 */
async function putManifests(parts: ReleasePart[], target: TargetRepository): Promise<boolean> {
  let listsAll = true;
  for (const part of parts) {
    const { manifest, contents } = part;
    if (contents.subject === undefined && (await target.manifest(manifest.digest))) continue;
    const { listsReferrers } = await target.put(manifest.digest, contentOf(part));
    if (contents.subject !== undefined && !listsReferrers) listsAll = false;
    if (await target.manifest(manifest.digest)) continue;
    throw new CopyFailure('Invalid', `the target ${target.name} accepted ${manifest.digest}, but does not have it`);
  }
  return listsAll;
}

/**
 * Puts the lists of referrers that clients keep under a tag if the registry has no API for them. Entries of other
 * clients stay.
 */
async function putReferrers(release: SourceRelease, target: TargetRepository): Promise<void> {
  for (const [subject, parts] of partsWithSubject(release)) {
    const tag = referrersTag(subject);
    const existing = await taggedList(target, subject);
    const lines = parts.map(({ manifest, contents }) => referrerOf(manifest, contents));
    const text = mergedList(existing && textOf(existing.bytes), lines, `${target.name}:${tag}`);
    if (text === undefined) continue;
    await target.put(tag, { mediaType: OCI_INDEX, bytes: new TextEncoder().encode(text) });
  }
}

const contentOf = ({ manifest, contents }: ReleasePart) => ({ mediaType: contents.mediaType, bytes: manifest.bytes });

/** A number of bytes as `1.2 MiB`. */
function sizeText(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB'];
  const unit = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), units.length - 1);
  return `${Number((bytes / 1024 ** unit).toFixed(1))} ${units[unit]}`;
}

// The release in the source: its manifest, everything that this refers to, and everything that refers to any of them.

interface Waiting {
  manifest: StoredManifest;
  /** Steps from the release's tag. */
  depth: number;
}

/** @param reference tag or digest @throws CopyFailure */
async function readRelease(source: SourceRepository, reference: string): Promise<SourceRelease> {
  const manifest = await source.manifest(reference);
  if (!manifest) throw new CopyFailure('NotFound', `the source ${source.name} has no ${reference}`);
  const release = emptyRelease(manifest.digest);
  const waiting: Waiting[] = [{ manifest, depth: 0 }];
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const { manifest, depth } = next;
    if (release.parts.has(manifest.digest)) continue;
    if (depth > COPY_LIMITS.nesting) {
      const text = `${manifest.digest} is more than ${COPY_LIMITS.nesting} steps from ${reference}: lists nested this deep are not copied`;
      throw new CopyFailure('Invalid', text);
    }
    const name = `${source.name}@${manifest.digest}`;
    const part = { manifest, contents: contentsOf(textOf(manifest.bytes), manifest.mediaType, name) };
    addPart(release, part);
    const found = [...(await readListed(source, part, release)), ...(await readAttached(source, part, release))];
    waiting.push(...found.map((each) => ({ manifest: each, depth: depth + 1 })));
  }
  return release;
}

/**
 * The manifests that an index lists. A descriptor with an unknown media type may describe a blob, which refers to
 * nothing.
 */
async function readListed(
  source: SourceRepository,
  { contents }: ReleasePart,
  release: SourceRelease,
): Promise<StoredManifest[]> {
  const found: StoredManifest[] = [];
  for (const descriptor of withoutKnown(contents.manifests, release)) {
    const manifest = await source.manifest(descriptor.digest);
    if (manifest) found.push({ ...manifest, mediaType: descriptor.mediaType });
    else if (MANIFEST_TYPES.includes(descriptor.mediaType)) throw missingError(source, descriptor.digest);
    else addLooseBlob(release, descriptor);
    if (found.length > COPY_LIMITS.manifests) break;
  }
  return found;
}

/** The referrers of a manifest, and everything that cosign has attached to it by tags. */
async function readAttached(
  source: SourceRepository,
  { manifest }: ReleasePart,
  release: SourceRelease,
): Promise<StoredManifest[]> {
  const found: StoredManifest[] = [];
  for (const { digest } of withoutKnown(await referrersOf(source, manifest.digest), release)) {
    const referrer = await source.manifest(digest);
    if (!referrer) throw missingError(source, digest);
    found.push(referrer);
    if (found.length > COPY_LIMITS.manifests) return found;
  }
  for (const tag of cosignTags(manifest.digest)) {
    const attached = await source.manifest(tag);
    if (!attached) continue;
    release.attachedTags.set(tag, attached.digest);
    found.push(attached);
  }
  return found;
}

async function referrersOf(source: SourceRepository, digest: string): Promise<Descriptor[]> {
  const name = `the list of referrers of ${source.name}@${digest}`;
  const pages = await source.referrers(digest);
  if (pages) return pages.flatMap((page) => listedDescriptors(textOf(page), name));
  const tagged = await taggedList(source, digest);
  return tagged ? listedDescriptors(textOf(tagged.bytes), name) : [];
}

/** The list of a manifest's referrers under their tag. For that tag, GitLab answers with the manifest itself. */
async function taggedList(
  { manifest }: Pick<SourceRepository, 'manifest'>,
  subject: string,
): Promise<StoredManifest | undefined> {
  const found = await manifest(referrersTag(subject));
  return found?.digest === subject ? undefined : found;
}

const withoutKnown = (descriptors: Descriptor[], { parts }: SourceRelease) =>
  descriptors.filter(({ digest }) => !parts.has(digest));

function missingError(source: SourceRepository, digest: string): CopyFailure {
  return new CopyFailure('NotFound', `the source ${source.name} lists ${digest}, but does not have it`);
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
