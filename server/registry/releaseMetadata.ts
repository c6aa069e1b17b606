/** What a manifest or an index says of its release. */
import { ROLLBACK_BARRIER } from '../../api/annotations.ts';
import type { ReleaseMetadata } from '../../api/ports.ts';
import { formatTime, parseTime } from '../../core/kube/time.ts';

const PREFIX = 'org.opencontainers.image.';
const KEYS = ['version', 'revision', 'source', 'title', 'description', 'authors'] as const;
/** They end up in a status. */
const MAX_LENGTH = 4096;

/** The manifest media types asked for. */
export const ACCEPT = [
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.v2+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
].join(', ');

/** Each key from the annotations of the manifest, else from those of its config descriptor; an index has only its own. */
export function releaseMetadataOf(manifest: unknown): ReleaseMetadata {
  const { annotations, config, artifactType, mediaType } = objectOf(manifest);
  const descriptor = objectOf(config);
  const lookup = (key: string) =>
    textOf(objectOf(annotations)[PREFIX + key]) ?? textOf(objectOf(descriptor.annotations)[PREFIX + key]);

  const metadata: ReleaseMetadata = {};
  for (const key of KEYS) {
    const value = lookup(key);
    if (value !== undefined) metadata[key] = value;
  }
  const created = parseTime(lookup('created'));
  if (created !== undefined) metadata.created = formatTime(created);
  if ([annotations, descriptor.annotations].some((from) => objectOf(from)[ROLLBACK_BARRIER] === 'true')) {
    metadata.rollbackBarrier = true;
  }
  const type = textOf(artifactType) ?? textOf(descriptor.mediaType) ?? textOf(mediaType);
  if (type !== undefined) metadata.artifactType = type;
  return metadata;
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, MAX_LENGTH) : undefined;
}
