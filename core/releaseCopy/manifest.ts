/**
 * The descriptors that a manifest refers to, found by its media type, or by its form if the type is unknown. A manifest
 * of unknown type and form is not copied.
 */
import type { Descriptor } from '../../api/registry.ts';
import { isMap } from '../kube/json.ts';
import { quotedJson } from '../text/oneLine.ts';
import { CopyFailure } from './outcome.ts';

export interface Contents {
  mediaType: string;
  /** The manifests of an index. They and `blobs` must be pushed first. */
  manifests: Descriptor[];
  /** Config and layers. */
  blobs: Blob[];
  /** The digest of the manifest that this one is about, if it is a signature or an SBOM. */
  subject?: string;
  artifactType?: string;
  annotations?: Record<string, string>;
}

export interface Blob extends Descriptor {
  /** Whether registries need not have the layer, because clients fetch it from another server. */
  elsewhere?: true;
}

type Form = 'image' | 'index' | 'artifact';

/** The forms of known media types. */
const FORMS: Record<string, Form> = {
  'application/vnd.oci.image.manifest.v1+json': 'image',
  'application/vnd.oci.image.index.v1+json': 'index',
  'application/vnd.docker.distribution.manifest.v2+json': 'image',
  'application/vnd.docker.distribution.manifest.list.v2+json': 'index',
  // From a draft of OCI 1.1; older signatures and SBOMs have it.
  'application/vnd.oci.artifact.manifest.v1+json': 'artifact',
};

export const MANIFEST_TYPES = Object.keys(FORMS);
export const OCI_INDEX = 'application/vnd.oci.image.index.v1+json';

const DIGEST = /^(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})$/;
const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,126}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,126}$/i;
const ELSEWHERE = /nondistributable|\.foreign\./;

export function isDigest(value: unknown): value is string {
  return typeof value === 'string' && DIGEST.test(value);
}

/**
 * The contents of a manifest.
 * @param contentType the media type in the registry's answer; by the specification, the manifest's own has priority
 * @throws CopyFailure Invalid
 */
export function contentsOf(text: string, contentType: string, name: string): Contents {
  const manifest = parse(text, name);
  const mediaType = typeof manifest.mediaType === 'string' ? manifest.mediaType : contentType;
  const found: Contents = { mediaType, manifests: [], blobs: [] };
  switch (FORMS[mediaType] ?? formOf(manifest)) {
    case 'image':
      found.blobs = [descriptorOf(manifest.config, name), ...descriptors(manifest.layers, 'layers', name)];
      break;
    case 'index':
      found.manifests = descriptors(manifest.manifests, 'manifests', name);
      break;
    case 'artifact':
      found.blobs = descriptors(manifest.blobs ?? [], 'blobs', name);
      break;
    default:
      throw invalid(`${name} has the unknown media type ${quoted(mediaType)}, so what it refers to is unknown too`);
  }
  if (manifest.subject !== undefined) found.subject = descriptorOf(manifest.subject, name).digest;
  const type = manifest.artifactType ?? (isMap(manifest.config) ? manifest.config.mediaType : undefined);
  if (typeof type === 'string') found.artifactType = type;
  const annotations = textsOf(manifest.annotations);
  if (annotations) found.annotations = annotations;
  return found;
}

function formOf(manifest: Record<string, unknown>): Form | undefined {
  if (isMap(manifest.config) && Array.isArray(manifest.layers)) return 'image';
  if (Array.isArray(manifest.manifests)) return 'index';
  return Array.isArray(manifest.blobs) ? 'artifact' : undefined;
}

/** The descriptors of an index, as a registry's referrers API answers it. */
export function listedDescriptors(text: string, name: string): Descriptor[] {
  return descriptors(parse(text, name).manifests, 'manifests', name);
}

function parse(text: string, name: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (isMap(value)) return value;
  } catch {
    // The error is thrown below.
  }
  throw invalid(`${name} is not a JSON object`);
}

function descriptors(value: unknown, field: string, name: string): Blob[] {
  if (!Array.isArray(value)) throw invalid(`${name} has no list ${field}`);
  return value.map((each) => descriptorOf(each, name));
}

function descriptorOf(value: unknown, name: string): Blob {
  if (!isMap(value)) throw invalid(`${name} refers to something that is not a descriptor`);
  const { mediaType, digest, size, artifactType } = value;
  if (!isDigest(digest)) throw invalid(`${name} refers to the digest ${quoted(digest)}, which is not sha256 or sha512`);
  if (typeof mediaType !== 'string' || !MEDIA_TYPE.test(mediaType)) {
    throw invalid(`${name} refers to ${digest} with the media type ${quoted(mediaType)}`);
  }
  if (!Number.isSafeInteger(size) || (size as number) < 0) {
    throw invalid(`${name} refers to ${digest} with the size ${quoted(size)}`);
  }
  const annotations = textsOf(value.annotations);
  return {
    mediaType,
    digest,
    size: size as number,
    ...(typeof artifactType === 'string' && { artifactType }),
    ...(annotations && { annotations }),
    ...(ELSEWHERE.test(mediaType) && { elsewhere: true }),
  };
}

function textsOf(value: unknown): Record<string, string> | undefined {
  if (!isMap(value)) return undefined;
  const texts = Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return texts.length > 0 ? Object.fromEntries(texts) : undefined;
}

const invalid = (message: string) => new CopyFailure('Invalid', message);

/** Characters of a manifest's value in a message. */
const MAX_QUOTED_CHARACTERS = 100;
const quoted = (value: unknown) => quotedJson(value, MAX_QUOTED_CHARACTERS);

// Referrers: OCI's, which the registry or a tag lists, and the tags of cosign.

/** The endings of tags under which cosign stores signatures, attestations and SBOMs of a manifest. */
const COSIGN_ENDINGS = ['sig', 'att', 'sbom'];

/** The tags of cosign for a manifest: of its signatures, attestations and SBOMs. */
export function cosignTags(digest: string): string[] {
  return COSIGN_ENDINGS.map((suffix) => `${tagForm(digest)}.${suffix}`);
}

/**
 * Whether an attachment of cosign has all layers of another one, so that its tag can move without a loss. cosign adds a
 * layer for each signature or attestation, and moves the tag. False for other manifests.
 */
export function hasLayersOf(text: string, other: string): boolean {
  const [layers, others] = [layerKeys(text), layerKeys(other)];
  return layers !== undefined && others !== undefined && [...others].every((key) => layers.has(key));
}

function layerKeys(text: string): Set<string> | undefined {
  try {
    const layers = descriptors(parse(text, 'it').layers, 'layers', 'it');
    return new Set(
      layers.map(({ digest, annotations = {} }) => JSON.stringify([digest, Object.entries(annotations).sort()])),
    );
  } catch (error) {
    if (error instanceof CopyFailure) return undefined;
    throw error;
  }
}

/** The tag for the list of referrers in a registry without an API for it, by OCI's referrers tag schema. */
export function referrersTag(digest: string): string {
  // By the specification, at most 64 characters of a digest.
  const [algorithm = '', hex = ''] = digest.split(':');
  return `${algorithm.slice(0, 32)}-${hex.slice(0, 64)}`;
}

function tagForm(digest: string): string {
  return digest.replace(':', '-');
}

/** The entry for a manifest in a list of referrers. */
export function referrerOf({ digest, bytes }: { digest: string; bytes: Uint8Array }, contents: Contents): Descriptor {
  const { mediaType, artifactType, annotations } = contents;
  return {
    mediaType,
    digest,
    size: bytes.byteLength,
    ...(artifactType !== undefined && { artifactType }),
    ...(annotations && { annotations }),
  };
}

/**
 * The list of referrers with these added; undefined if it has them already.
 * @param existing the list under the referrers tag, if it exists
 */
export function mergedList(existing: string | undefined, referrers: Descriptor[], name: string): string | undefined {
  const before = existing === undefined ? [] : listedDescriptors(existing, name);
  const known = new Set(before.map(({ digest }) => digest));
  const missing = referrers.filter(({ digest }) => !known.has(digest));
  if (missing.length === 0) return undefined;
  const manifests = [...before, ...missing];
  return JSON.stringify({ schemaVersion: 2, mediaType: OCI_INDEX, manifests });
}
