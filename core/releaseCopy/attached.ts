/** What refers to a manifest without being part of it: OCI referrers, listed by the registry or under a tag, and cosign's tags. */
import type { Descriptor } from '../../api/registry.ts';
import { type Contents, listed, OCI_INDEX } from './manifest.ts';

/** Under which cosign keeps signatures, attestations and SBOMs of a manifest. */
const COSIGN = ['sig', 'att', 'sbom'];

/** Tags that cosign gives to what belongs to a manifest. */
export function cosignTags(digest: string): string[] {
  return COSIGN.map((suffix) => `${tagForm(digest)}.${suffix}`);
}

/** The tag under which clients keep the list of referrers, where a registry has no API for it: OCI's referrers tag schema. */
export function referrersTag(digest: string): string {
  // As the specification has it: at most 64 characters of a digest.
  const [algorithm = '', hex = ''] = digest.split(':');
  return `${algorithm.slice(0, 32)}-${hex.slice(0, 64)}`;
}

function tagForm(digest: string): string {
  return digest.replace(':', '-');
}

/** A line of a list of referrers, as a registry would write it. */
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

/** The list under the referrers tag with these in it; undefined where it has them already. @param existing the list, where there is one */
export function mergedList(existing: string | undefined, referrers: Descriptor[], name: string): string | undefined {
  const before = existing === undefined ? [] : listed(existing, name);
  const known = new Set(before.map(({ digest }) => digest));
  const missing = referrers.filter(({ digest }) => !known.has(digest));
  if (missing.length === 0) return undefined;
  const manifests = [...before, ...missing];
  return JSON.stringify({ schemaVersion: 2, mediaType: OCI_INDEX, manifests });
}
