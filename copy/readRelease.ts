/** Reads a release from the source: its manifest, all that this refers to, and what refers to any of them. */
import type { Descriptor, SourceRepository, StoredManifest } from '../api/registry.ts';
import { cosignTags, referrersTag } from '../core/releaseCopy/attached.ts';
import { COPY_LIMITS } from '../core/releaseCopy/limits.ts';
import { contentsOf, listed, MANIFEST_TYPES } from '../core/releaseCopy/manifest.ts';
import { CopyFailure } from '../core/releaseCopy/outcome.ts';
import { addPart, emptyRelease, type Part, type Release } from '../core/releaseCopy/release.ts';

interface Waiting {
  manifest: StoredManifest;
  /** Steps from the release's tag. */
  depth: number;
}

/** @param reference tag or digest @throws CopyFailure */
export async function readRelease(source: SourceRepository, reference: string): Promise<Release> {
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
async function listedIn(source: SourceRepository, { contents }: Part, release: Release): Promise<StoredManifest[]> {
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

async function attachedTo(source: SourceRepository, { manifest }: Part, release: Release): Promise<StoredManifest[]> {
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
  if (pages) return pages.flatMap((page) => listed(textOf(page), name));
  const tagged = await source.manifest(referrersTag(digest));
  return tagged ? listed(textOf(tagged.bytes), name) : [];
}

const unknownYet = (descriptors: Descriptor[], { parts }: Release) =>
  descriptors.filter(({ digest }) => !parts.has(digest));

function gone(source: SourceRepository, digest: string): CopyFailure {
  return new CopyFailure('NotFound', `the source ${source.name} lists ${digest}, and does not have it, or no longer`);
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
