/** Releases: each tag that the ImagePolicy has selected becomes one. */
import type { ImagePolicy } from '../../../api/flux.ts';
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { ReleaseMetadata } from '../../../api/ports.ts';
import type { Rollout, RolloutStatus, VersionInfo } from '../../../api/types.ts';
import { parseDuration } from '../../kube/duration.ts';
import { isLegalTag } from '../../kube/tag.ts';
import { formatTime, parseTime } from '../../kube/time.ts';
import { latestOf, policyRef } from '../../policy/imagePolicy.ts';
import { withMetadata } from './metadata.ts';

interface Discovery {
  /** In the order of discovery. */
  available: VersionInfo[];
  /** Kept only if spec.releaseUpdateInterval is set. */
  lastReleaseUpdate?: string;
  problem?: string;
  /** When the next look is due. */
  requeueAt?: EpochMs;
}

export function discover(
  rollout: Rollout,
  policy: ImagePolicy | undefined,
  metadata: Readonly<Record<string, ReleaseMetadata>>,
  now: EpochMs,
): Discovery {
  const status = rollout.status ?? {};
  const known = status.availableReleases ?? [];
  const kept = rollout.spec?.releaseUpdateInterval ? lastUpdateOf(status) : {};
  if (!policy) return { available: [...known], ...kept, problem: missingPolicy(rollout) };
  const latest = latestOf(policy);
  if (!latest) return { available: [...known], ...kept };
  if (!isLegalTag(latest.tag)) {
    const problem = `ImagePolicy '${policy.metadata.name}' selected ${JSON.stringify(latest.tag)}, which is not a legal tag`;
    return { available: [...known], ...kept, problem };
  }
  if (known.some(({ tag }) => tag === latest.tag)) {
    return { available: known.map((entry) => retagged(entry, latest, metadata, now)), ...kept };
  }
  const due = nextLookup(rollout, now);
  if (due !== undefined && due > now) return { available: [...known], ...kept, requeueAt: due };
  const entry = { ...withMetadata(latest, metadata[latest.tag]), firstSeen: formatTime(now) };
  const look = rollout.spec?.releaseUpdateInterval ? { lastReleaseUpdate: formatTime(now) } : {};
  return { available: [...known, entry], ...look };
}

function lastUpdateOf({ lastReleaseUpdate }: RolloutStatus): Pick<Discovery, 'lastReleaseUpdate'> {
  return lastReleaseUpdate === undefined ? {} : { lastReleaseUpdate };
}

/** A tag that was moved to another image: what was known of the old one is forgotten, and it is a new release. */
function retagged(
  entry: VersionInfo,
  latest: { tag: string; digest?: string },
  metadata: Readonly<Record<string, ReleaseMetadata>>,
  now: EpochMs,
): VersionInfo {
  if (entry.tag !== latest.tag || !latest.digest || entry.digest === latest.digest) return entry;
  if (!entry.digest) return { ...entry, digest: latest.digest };
  return { ...withMetadata(latest, metadata[latest.tag]), firstSeen: formatTime(now) };
}

/** A last check in the future comes from a clock that has been set back since: it does not count. */
function nextLookup({ spec, status }: Rollout, now: EpochMs): EpochMs | undefined {
  const interval = parseDuration(spec?.releaseUpdateInterval);
  const last = parseTime(status?.lastReleaseUpdate);
  return interval === undefined || last === undefined || last > now ? undefined : last + interval;
}

function missingPolicy(rollout: Rollout): string {
  const ref = policyRef(rollout);
  if (!ref) return 'spec.releasesImagePolicy.name is empty: name the ImagePolicy that discovers releases';
  return `ImagePolicy '${ref.name}' not found in namespace '${ref.namespace}'`;
}
