/** What the registry says of releases, filled into the entries when it arrives. */
import type { ImagePolicy } from '../../api/flux.ts';
import type { ReleaseMetadata } from '../../api/ports.ts';
import type { Rollout, RolloutStatus, VersionInfo } from '../../api/types.ts';
import { isLegalTag } from '../kube/tag.ts';
import { latestOf } from '../policy/imagePolicy.ts';

/** At most this many entries without metadata are looked up again, the newest first: a hand-seeded list may have thousands. */
const MAX_RETRIED = 20;

/**
 * The tags to look up: the latest, the deployed, the wanted, and known releases of which nothing is known. `others`: known
 * ones of which more has to be known.
 */
export function metadataWanted(
  rollout: Rollout,
  policy: ImagePolicy | undefined,
  others: readonly string[] = [],
): { tag: string; digest?: string }[] {
  const { history, availableReleases } = rollout.status ?? {};
  const latest = latestOf(policy);
  const { wantedVersion: wanted, initialVersion: initial } = rollout.spec ?? {};
  const bare = (availableReleases ?? []).filter(isBare).slice(-MAX_RETRIED);
  const named = new Set(others);
  const more = (availableReleases ?? []).filter(({ tag }) => named.has(tag)).slice(-MAX_RETRIED);
  const all = [
    ...(latest ? [latest] : []),
    ...(history?.[0] && isBare(history[0].version) ? [history[0].version] : []),
    ...(wanted && wanted !== history?.[0]?.version.tag ? [{ tag: wanted }] : []),
    ...(initial && !history?.length ? [{ tag: initial }] : []),
    ...bare,
    ...more,
  ];
  const byTag = new Map<string, { tag: string; digest?: string }>();
  for (const { tag, digest } of all) {
    if (isLegalTag(tag) && !byTag.has(tag)) byTag.set(tag, digest ? { tag, digest } : { tag });
  }
  return [...byTag.values()];
}

export function isBare({ version, revision, created }: VersionInfo): boolean {
  return version === undefined && revision === undefined && created === undefined;
}

/** The entry with what it lacks; the same entry when there is nothing to add. */
export function withMetadata(entry: VersionInfo, metadata: ReleaseMetadata | undefined): VersionInfo {
  if (!metadata || !isBare(entry)) return entry;
  const { version, revision, created } = metadata;
  return {
    ...entry,
    ...(version !== undefined && { version }),
    ...(revision !== undefined && { revision }),
    ...(created !== undefined && { created }),
  };
}

type Artifact = Pick<RolloutStatus, 'artifactType' | 'source' | 'title' | 'description'>;

/** The fields of the latest image: overwritten when its manifest was read, kept when it was not. */
export function artifactFields(status: RolloutStatus, metadata: ReleaseMetadata | undefined): Artifact {
  const { artifactType, source, title, description } = metadata ?? status;
  return {
    ...(artifactType !== undefined && { artifactType }),
    ...(source !== undefined && { source }),
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
  };
}
