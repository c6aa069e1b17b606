/**
 * Copies a release: blobs, then manifests by digest, then tags, the release's own tag last.
 * What the target has is skipped.
 */
import type { Descriptor, Repositories, SourceRepository, StoredManifest, TargetRepository } from '../api/registry.ts';
import {
  type Blob,
  contentsOf,
  cosignTags,
  listedDescriptors,
  MANIFEST_TYPES,
  mergedList,
  OCI_INDEX,
  referrerOf,
  referrersTag,
} from '../core/releaseCopy/manifest.ts';
import { CopyFailure } from '../core/releaseCopy/outcome.ts';
import {
  addPart,
  blobsOf,
  COPY_LIMITS,
  emptyRelease,
  partsWithSubject,
  pushOrder,
  type Release,
  type ReleasePart,
} from '../core/releaseCopy/release.ts';

const BLOBS_AT_ONCE = 3;

interface ReleaseOrder {
  tag: string;
  /** The digest that the tag has to get; absent: that of the source's tag. */
  digest?: string;
  /** Whether a tag of the target with another digest may be moved. */
  overwrite: boolean;
}

export interface Copied {
  tag: string;
  digest: string;
  manifests: number;
  blobs: number;
  /** Bytes of all blobs; then of the uploaded ones. */
  bytes: number;
  uploadedBytes: number;
  message: string;
}

/**
 * @param say takes a line for people at each step
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
  const bytes = sum(blobs.map((blob) => blob.size));
  say(
    `${source.name}:${tag} is ${release.root}: ${release.parts.size} manifests, ${blobs.length} blobs, ${size(bytes)}`,
  );

  const tags = new Map([...release.attachedTags, [tag, release.root] as const]);
  const place = (each: string) => placeOf(target, each, tags.get(each)!, overwrite);
  for (const each of tags.keys()) await place(each);
  const uploadedBytes = await copyBlobs(blobs, repositories, say);
  const { unlisted } = await putManifests(pushOrder(release), target);
  if (unlisted) await tellReferrers(release, target);
  for (const [each, digest] of tags) {
    if ((await place(each)) === 'taken') continue;
    await target.put(each, contentOf(release.parts.get(digest)!));
    const seen = await target.manifest(each);
    if (seen?.digest !== digest) {
      throw new CopyFailure(
        'Invalid',
        `the target ${target.name} took ${digest} as ${each}, and has ${seen?.digest ?? 'nothing'} there`,
      );
    }
  }
  const message = `${target.name}:${tag} is ${release.root}: ${blobs.length} blobs, ${size(uploadedBytes)} of ${size(bytes)} sent`;
  return {
    tag,
    digest: release.root,
    manifests: release.parts.size,
    blobs: blobs.length,
    bytes,
    uploadedBytes,
    message,
  };
}

/** `taken`: the tag has that digest already. @throws CopyFailure Conflict */
async function placeOf(target: TargetRepository, tag: string, digest: string, overwrite: boolean) {
  const there = await target.digestOf(tag);
  if (there === digest) return 'taken';
  if (there === undefined || overwrite) return 'free';
  const text = `the target ${target.name} has ${tag} already, as ${there}, and it would become ${digest}: delete it there, or allow to overwrite it`;
  throw new CopyFailure('Conflict', text);
}

/** @returns bytes that had to be sent */
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
        throw new CopyFailure('NotFound', `the source ${source.name} has no longer the blob ${blob.digest}`);
      }
      if (outcome === 'uploaded') sent += blob.size;
      done++;
      say(`blob ${done} of ${blobs.length}: ${blob.digest} ${outcome}, ${size(blob.size)}`);
    }
  };
  const stop = (error: unknown) => {
    stopped = true;
    throw error;
  };
  await Promise.all(Array.from({ length: BLOBS_AT_ONCE }, () => worker().catch(stop)));
  return sent;
}

/** By digest. A manifest with a subject is always put, to learn whether the registry lists referrers. */
async function putManifests(parts: ReleasePart[], target: TargetRepository): Promise<{ unlisted: boolean }> {
  let unlisted = false;
  for (const part of parts) {
    const { manifest, contents } = part;
    if (contents.subject === undefined && (await target.manifest(manifest.digest))) continue;
    const { listsReferrers } = await target.put(manifest.digest, contentOf(part));
    if (contents.subject !== undefined && !listsReferrers) unlisted = true;
    if (await target.manifest(manifest.digest)) continue;
    throw new CopyFailure('Invalid', `the target ${target.name} took ${manifest.digest}, and does not have it`);
  }
  return { unlisted };
}

/** If the registry does not list referrers, clients keep a list under a tag: lines of other clients stay. */
async function tellReferrers(release: Release, target: TargetRepository): Promise<void> {
  for (const [subject, parts] of partsWithSubject(release)) {
    const tag = referrersTag(subject);
    const existing = await target.manifest(tag);
    const lines = parts.map(({ manifest, contents }) => referrerOf(manifest, contents));
    const text = mergedList(existing && new TextDecoder().decode(existing.bytes), lines, `${target.name}:${tag}`);
    if (text === undefined) continue;
    await target.put(tag, { mediaType: OCI_INDEX, bytes: new TextEncoder().encode(text) });
  }
}

const contentOf = ({ manifest, contents }: ReleasePart) => ({ mediaType: contents.mediaType, bytes: manifest.bytes });

/** `1.2 MiB`. */
function size(bytes: number): string {
  const units = ['bytes', 'KiB', 'MiB', 'GiB'];
  const unit = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), units.length - 1);
  return `${Number((bytes / 1024 ** unit).toFixed(1))} ${units[unit]}`;
}

function sum(numbers: number[]): number {
  return numbers.reduce((all, each) => all + each, 0);
}

// Reads a release from the source: its manifest, all that this refers to, and what refers to any of them.

interface Waiting {
  manifest: StoredManifest;
  /** Steps from the release's tag. */
  depth: number;
}

/** @param reference tag or digest @throws CopyFailure */
async function readRelease(source: SourceRepository, reference: string): Promise<Release> {
  const manifest = await source.manifest(reference);
  if (!manifest) throw new CopyFailure('NotFound', `the source ${source.name} has no ${reference}`);
  const release = emptyRelease(manifest.digest);
  const waiting: Waiting[] = [{ manifest, depth: 0 }];
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const { manifest, depth } = next;
    if (release.parts.has(manifest.digest)) continue;
    if (depth > COPY_LIMITS.nesting) {
      const text = `${manifest.digest} is more than ${COPY_LIMITS.nesting} steps from ${reference}, lists inside lists: that is not copied`;
      throw new CopyFailure('Invalid', text);
    }
    const name = `${source.name}@${manifest.digest}`;
    const part = { manifest, contents: contentsOf(textOf(manifest.bytes), manifest.mediaType, name) };
    addPart(release, part);
    const found = [...(await listedIn(source, part, release)), ...(await attachedTo(source, part, release))];
    waiting.push(...found.map((each) => ({ manifest: each, depth: depth + 1 })));
  }
  return release;
}

/** What an index lists. Of an unknown media type it may be a blob as well, which refers to nothing. */
async function listedIn(
  source: SourceRepository,
  { contents }: ReleasePart,
  release: Release,
): Promise<StoredManifest[]> {
  const found: StoredManifest[] = [];
  for (const descriptor of unknownYet(contents.manifests, release)) {
    const manifest = await source.manifest(descriptor.digest);
    if (manifest) found.push({ ...manifest, mediaType: descriptor.mediaType });
    else if (MANIFEST_TYPES.includes(descriptor.mediaType)) throw gone(source, descriptor.digest);
    else release.looseBlobs.set(descriptor.digest, descriptor);
    if (found.length > COPY_LIMITS.manifests) break;
  }
  return found;
}

async function attachedTo(
  source: SourceRepository,
  { manifest }: ReleasePart,
  release: Release,
): Promise<StoredManifest[]> {
  const found: StoredManifest[] = [];
  for (const { digest } of unknownYet(await referrersOf(source, manifest.digest), release)) {
    const referrer = await source.manifest(digest);
    if (!referrer) throw gone(source, digest);
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
  const name = `the list of what refers to ${source.name}@${digest}`;
  const pages = await source.referrers(digest);
  if (pages) return pages.flatMap((page) => listedDescriptors(textOf(page), name));
  const tagged = await source.manifest(referrersTag(digest));
  return tagged ? listedDescriptors(textOf(tagged.bytes), name) : [];
}

const unknownYet = (descriptors: Descriptor[], { parts }: Release) =>
  descriptors.filter(({ digest }) => !parts.has(digest));

function gone(source: SourceRepository, digest: string): CopyFailure {
  return new CopyFailure('NotFound', `the source ${source.name} lists ${digest}, and does not have it, or no longer`);
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
