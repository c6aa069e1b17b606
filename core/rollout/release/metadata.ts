/** The metadata of releases from the registry: the releases for which it is read, and how it is stored. */
import type { ImagePolicy } from '../../../api/flux.ts';
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { ReleaseMetadata } from '../../../api/ports.ts';
import type { HistoryEntry, Rollout, RolloutStatus, VersionInfo } from '../../../api/types.ts';
import { isLegalTag } from '../../kube/tag.ts';
import { parseTime } from '../../kube/time.ts';
import { imageNameOf, latestOf } from '../../policy/imagePolicy.ts';

/** The interval of look-ups without an answer: for a release just discovered, and for one a little older. */
const FIRST_RETRY_MS = 5_000;
const RETRY_MS = 60_000;

/** Releases without metadata that are looked up again, the newest first: a client may have written thousands. */
const MAX_RETRIED_RELEASES = 20;

/**
 * The tags to look up: the latest, the deployed, the wanted, and discovered releases without metadata.
 * @param authorsOf the tags whose authors a decision needs: their metadata is read again
 */
export function releasesToLookUp(
  rollout: Rollout,
  policy: ImagePolicy | undefined,
  authorsOf: readonly string[] = [],
): { tag: string; digest?: string }[] {
  const { history, availableReleases } = rollout.status ?? {};
  const latest = latestOf(policy);
  const { wantedVersion: wanted, initialVersion: initial } = rollout.spec ?? {};
  const bare = (availableReleases ?? []).filter(isBare).slice(-MAX_RETRIED_RELEASES);
  const named = new Set(authorsOf);
  const more = (availableReleases ?? []).filter(({ tag }) => named.has(tag)).slice(-MAX_RETRIED_RELEASES);
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
 * The time of the next lookup of metadata that the registry has not returned; undefined for the next sync. For a
 * release older than a minute that is the resync every ten minutes: with a registry that can't be read, shorter
 * intervals would sync every Rollout each time.
 * @param awaited tags whose metadata decides something
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
  // A time in the future was stored before the clock was set back.
  if (seen === undefined || seen > now || now - seen >= RETRY_MS) return undefined;
  return now + (now - seen < FIRST_RETRY_MS ? FIRST_RETRY_MS : RETRY_MS);
}

/** Whether the release has no metadata. */
export function isBare({ version, revision, created }: VersionInfo): boolean {
  return version === undefined && revision === undefined && created === undefined;
}

/** The release with its metadata; the same object if there is nothing to add. */
export function withMetadata(entry: VersionInfo, metadata: ReleaseMetadata | undefined): VersionInfo {
  if (!metadata || !isBare(entry)) return entry;
  const { version, revision, created } = metadata;
  return { ...entry, version, revision, created };
}

/** The version as a history entry has it: without the time at which its release was first seen. */
export function withoutFirstSeen({ firstSeen, ...version }: VersionInfo): VersionInfo {
  return version;
}

type Artifact = Pick<RolloutStatus, 'artifactType' | 'source' | 'title' | 'description'>;

/** The fields of the latest image: overwritten if its manifest was read, unchanged if not. */
export function artifactFields(status: RolloutStatus, metadata: ReleaseMetadata | undefined): Artifact {
  const { artifactType, source, title, description } = metadata ?? status;
  return { artifactType, source, title, description };
}

/**
 * Whether the ImagePolicy now selects the deployment's tag with another digest. The digests of stored releases don't
 * show that: they may be those of another image, from which an ImagePolicy selected for a while.
 */
export function isTagMoved({ version, image }: HistoryEntry, policy: ImagePolicy | undefined): boolean {
  const latest = latestOf(policy);
  if (latest?.tag !== version.tag || !latest.digest || !version.digest) return false;
  return latest.digest !== version.digest && (image === undefined || image === imageNameOf(policy));
}
