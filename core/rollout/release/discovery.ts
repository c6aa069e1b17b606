/** The discovery of releases: each tag that the ImagePolicy has selected becomes one. */
import { RELEASES_UPDATED } from '../../../api/conditions.ts';
import type { ImagePolicy } from '../../../api/flux.ts';
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { ReleaseMetadata } from '../../../api/ports.ts';
import type { ReleaseAuthors, Rollout, RolloutStatus, VersionInfo } from '../../../api/types.ts';
import type { NewCondition } from '../../kube/conditions.ts';
import { parseDuration } from '../../kube/duration.ts';
import { formatTime, parseTime } from '../../kube/time.ts';
import { LIMITS } from '../../limits.ts';
import { illegalTag, imageNameOf, imageOfReleases, latestOf, policyRef } from '../../policy/imagePolicy.ts';
import { artifactFields, metadataRequeueAt, releasesToLookUp, withMetadata } from './metadata.ts';

/** Characters of the text that names a release's authors. */
const MAX_AUTHORS = 256;

interface DiscoveryInputs {
  rollout: Rollout;
  imagePolicy?: ImagePolicy;
  /** Metadata from the registry, by tag. */
  metadata: Readonly<Record<string, ReleaseMetadata>>;
  /** Tags of the releases whose authors have to be known, for their approvals. */
  authorsOf: readonly string[];
  /** Tags of the releases that may be rolled back unless their metadata forbids it. */
  barriersOf: readonly string[];
}

interface DiscoveredReleases {
  /** The releases in the order of discovery. */
  available: VersionInfo[];
  /** Tags of the releases that must not be rolled back. */
  barriers: string[];
  /** Authors of the releases whose approvals exclude authors. */
  authors: ReleaseAuthors[];
  fields: Partial<RolloutStatus>;
  conditions: NewCondition[];
  problems: string[];
  requeueAt: EpochMs[];
}

/** The releases from the ImagePolicy and the registry, added to those in the Rollout's status. */
export function discoverReleases(inputs: DiscoveryInputs, now: EpochMs): DiscoveredReleases {
  const { rollout, imagePolicy, metadata, authorsOf, barriersOf } = inputs;
  const status = rollout.status ?? {};
  const {
    available,
    lastReleaseUpdate = status.lastReleaseUpdate,
    problem,
    requeueAt,
  } = availableReleases(inputs, now);
  const latest = latestOf(imagePolicy);
  const requested = imagePolicy ? releasesToLookUp(rollout, imagePolicy, authorsOf) : [];
  const missing = requested.filter(({ tag }) => metadata[tag] === undefined);
  const requeues = missing.map(({ tag }) => metadataRequeueAt(tag, available, [...authorsOf, ...barriersOf], now));
  const hasMinimumAge = parseDuration(rollout.spec?.minimumReleaseAge) !== undefined;
  return {
    available: available
      .map((entry) => withMetadata(entry, metadata[entry.tag]))
      .map((entry) => (hasMinimumAge ? withFirstSeen(entry, now) : entry)),
    barriers: rollbackBarriers(status, metadata),
    authors: releaseAuthors(authorsOf, status, metadata),
    fields: {
      image: imageOfReleases(rollout, imagePolicy),
      ...(rollout.spec?.releaseUpdateInterval && { lastReleaseUpdate }),
      ...artifactFields(status, latest && metadata[latest.tag]),
    },
    conditions: imagePolicy ? [UPDATED] : [],
    problems: problem === undefined ? [] : [problem],
    requeueAt: [requeueAt, ...requeues].filter((at) => at !== undefined),
  };
}

const UPDATED: NewCondition = {
  type: RELEASES_UPDATED,
  status: 'True',
  reason: 'ReleasesUpdated',
  message: 'Available releases were updated successfully from ImagePolicy',
};

/**
 * The release with the time at which it was first seen; a release of the Go controller, which stores no such time, gets
 * `now`.
 */
function withFirstSeen(release: VersionInfo, now: EpochMs): VersionInfo {
  return parseTime(release.firstSeen) === undefined ? { ...release, firstSeen: formatTime(now) } : release;
}

/** The barriers, with all that were reported earlier: the registry may be down at the next discovery. */
function rollbackBarriers(status: RolloutStatus, metadata: DiscoveryInputs['metadata']): string[] {
  const reported = Object.entries(metadata).flatMap(([tag, { rollbackBarrier }]) => (rollbackBarrier ? [tag] : []));
  return [...new Set([...(status.rollbackBarriers ?? []), ...reported])].sort();
}

/** The authors in the latest manifest of each tag: a tag that was moved may have other authors. */
function releaseAuthors(
  tags: readonly string[],
  status: RolloutStatus,
  metadata: DiscoveryInputs['metadata'],
): ReleaseAuthors[] {
  return tags.slice(0, LIMITS.approvals).flatMap((tag) => {
    const stored = status.releaseAuthors?.find((each) => each.tag === tag)?.authors;
    const authors = metadata[tag]?.authors?.slice(0, MAX_AUTHORS) ?? stored;
    return authors === undefined ? [] : [{ tag, authors }];
  });
}

interface Discovery {
  available: VersionInfo[];
  /** The time of the last discovery; stored only if spec.releaseUpdateInterval is set. */
  lastReleaseUpdate?: string;
  problem?: string;
  /** When the next discovery is due. */
  requeueAt?: EpochMs;
}

/** The tag that a discovery adds now; undefined if the status has it, or the next discovery is not due yet. */
export function undiscoveredTag(
  rollout: Rollout,
  imagePolicy: ImagePolicy | undefined,
  now: EpochMs,
): string | undefined {
  const known = new Set(rollout.status?.availableReleases?.map(({ tag }) => tag));
  const { available } = availableReleases({ rollout, imagePolicy, metadata: {} }, now);
  return available.find(({ tag }) => !known.has(tag))?.tag;
}

function availableReleases(
  { rollout, imagePolicy: policy, metadata }: Pick<DiscoveryInputs, 'rollout' | 'imagePolicy' | 'metadata'>,
  now: EpochMs,
): Discovery {
  const known = knownReleases(rollout.status ?? {}, policy);
  if (!policy) return { available: known, problem: missingPolicy(rollout) };
  const latest = latestOf(policy);
  if (!latest) return { available: known };
  const illegal = illegalTag(policy);
  if (illegal !== undefined) {
    const problem = `ImagePolicy '${policy.metadata.name}' selected ${JSON.stringify(illegal)}, which is not a valid image tag: correct the ImagePolicy`;
    return { available: known, problem };
  }
  if (known.some(({ tag }) => tag === latest.tag)) {
    return { available: known.map((entry) => withLatestDigest(entry, latest, metadata, now)) };
  }
  const { image } = rollout.status ?? {};
  const due = image === undefined || image === imageNameOf(policy) ? nextDiscovery(rollout, now) : undefined;
  if (due !== undefined && due > now) return { available: known, requeueAt: due };
  const entry = { ...withMetadata(latest, metadata[latest.tag]), firstSeen: formatTime(now) };
  return { available: [...known, entry], lastReleaseUpdate: formatTime(now) };
}

/**
 * The releases in the status. Once the ImagePolicy selects from another image, only the tags of those that were
 * deployed: another repository may lack the others, and may have other images under these tags.
 */
function knownReleases(
  { image, availableReleases = [], history = [] }: RolloutStatus,
  policy: ImagePolicy | undefined,
) {
  const present = imageNameOf(policy);
  if (image === undefined || present === undefined || image === present) return availableReleases;
  const deployed = new Set(history.map(({ version }) => version.tag));
  return availableReleases.flatMap(({ tag }) => (deployed.has(tag) ? [{ tag }] : []));
}

/** The release with its latest digest. A tag that was moved to another image is a new release, without metadata. */
function withLatestDigest(
  entry: VersionInfo,
  latest: { tag: string; digest?: string },
  metadata: Readonly<Record<string, ReleaseMetadata>>,
  now: EpochMs,
): VersionInfo {
  if (entry.tag !== latest.tag || !latest.digest || entry.digest === latest.digest) return entry;
  if (!entry.digest) return { ...entry, digest: latest.digest };
  return { ...withMetadata(latest, metadata[latest.tag]), firstSeen: formatTime(now) };
}

/**
 * The time of the next discovery. A last discovery in the future, from before the clock was set back, doesn't count.
 */
function nextDiscovery({ spec, status }: Rollout, now: EpochMs): EpochMs | undefined {
  const interval = parseDuration(spec?.releaseUpdateInterval);
  const last = parseTime(status?.lastReleaseUpdate);
  return interval === undefined || last === undefined || last > now ? undefined : last + interval;
}

function missingPolicy(rollout: Rollout): string {
  const ref = policyRef(rollout);
  if (!ref) return 'spec.releasesImagePolicy names no ImagePolicy: set the name of the one that discovers releases';
  const problem = `ImagePolicy '${ref.name}' not found in namespace '${ref.namespace}'`;
  return `${problem}: create it, or correct name or namespace in spec.releasesImagePolicy`;
}
