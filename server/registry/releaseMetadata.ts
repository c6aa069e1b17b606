/** The metadata of a release, from its manifest or index. */
import { ROLLBACK_BARRIER } from '../../api/annotations.ts';
import type { ReleaseMetadata } from '../../api/ports.ts';
import { childOf } from '../../core/kube/json.ts';
import { formatTime, parseTime } from '../../core/kube/time.ts';

const PREFIX = 'org.opencontainers.image.';
const KEYS = ['version', 'revision', 'source', 'title', 'description', 'authors'] as const;
/** The most characters of one value: it may be stored in a status. */
const MAX_LENGTH = 4096;

/** The requested media types of manifests. */
export const ACCEPT = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
].join(', ');

/**
 * The metadata. Each key comes from the annotations of the manifest, or else from those of its config descriptor, which
 * an index doesn't have.
 */
export function releaseMetadataOf(manifest: unknown): ReleaseMetadata {
  const descriptor = childOf(manifest, 'config');
  const annotations = [manifest, descriptor].map((each) => childOf(each, 'annotations'));
  const lookup = (key: string) => annotations.map((from) => textOf(childOf(from, PREFIX + key))).find(Boolean);

  const metadata: ReleaseMetadata = {};
  for (const key of KEYS) {
    const value = lookup(key);
    if (value !== undefined) metadata[key] = value;
  }
  const created = parseTime(lookup('created'));
  if (created !== undefined) metadata.created = formatTime(created);
  if (annotations.some((from) => childOf(from, ROLLBACK_BARRIER) === 'true')) metadata.rollbackBarrier = true;
  const types = [childOf(manifest, 'artifactType'), childOf(descriptor, 'mediaType'), childOf(manifest, 'mediaType')];
  const type = types.map(textOf).find(Boolean);
  if (type !== undefined) metadata.artifactType = type;
  return metadata;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, MAX_LENGTH) : undefined;
}
