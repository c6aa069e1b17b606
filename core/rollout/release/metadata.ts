/** Metadata of releases from the registry, added to the entries when it is read. */
import type { ImagePolicy } from '../../../api/flux.ts';
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { ReleaseMetadata } from '../../../api/ports.ts';
import type { Rollout, RolloutStatus, VersionInfo } from '../../../api/types.ts';
import { isLegalTag } from '../../kube/tag.ts';
import { parseTime } from '../../kube/time.ts';
import { latestOf } from '../../policy/imagePolicy.ts';

/**
 * How long after a look-up without an answer the registry is asked again: of a release just discovered, and of one a
 * little older.
 */
const FIRST_MS = 5_000;
const RETRY_MS = 60_000;

/**
 * At most this many entries without metadata are looked up again, the newest first: a hand-seeded list may have
 * thousands.
 */
const MAX_RETRIED = 20;

/**
 * The tags to look up: the latest, the deployed, the wanted, and known releases of which nothing is known.
 * `others`: known ones of which more has to be known.
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

/**
 * When to ask again for metadata that the registry has not returned.
 * A release that is older than a minute has only the resync of every ten minutes: if a registry cannot be read at all,
 * more would cost a sync of every Rollout each time.
 * `awaited`: tags of which something is decided by what their metadata says.
 */
export function metadataRequeueAt(
  tag: string,
  available: readonly VersionInfo[],
  awaited: readonly string[],
  now: EpochMs,
): EpochMs | undefined {
  const release = available.find((each) => each.tag === tag);
  if (!release || awaited.includes(tag)) return now + RETRY_MS;
  const seen = parseTime(release.firstSeen);
  // A time that lies ahead is one of a clock that was set back since.
  if (seen === undefined || seen > now || now - seen >= RETRY_MS) return undefined;
  return now + (now - seen < FIRST_MS ? FIRST_MS : RETRY_MS);
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

/**
 * The version without the time at which its release was first seen: that concerns releases, and the history does not
 * keep it.
 */
export function withoutFirstSeen({ firstSeen, ...version }: VersionInfo): VersionInfo {
  return version;
}

type Artifact = Pick<RolloutStatus, 'artifactType' | 'source' | 'title' | 'description'>;

/** The fields of the latest image: overwritten if its manifest was read, unchanged if not. */
export function artifactFields(status: RolloutStatus, metadata: ReleaseMetadata | undefined): Artifact {
  const { artifactType, source, title, description } = metadata ?? status;
  return {
    ...(artifactType !== undefined && { artifactType }),
    ...(source !== undefined && { source }),
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
  };
}
