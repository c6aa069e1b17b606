/** The releases that stay in `status.availableReleases`. */
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { HistoryEntry, VersionInfo } from '../../../api/types.ts';
import { goJsonBytes } from '../../kube/json.ts';
import { DAY_MS, parseTime } from '../../kube/time.ts';
import { LIMITS } from '../../limits.ts';

interface Retention {
  retentionDays: number;
  /** The number of releases that are kept, whatever their age. */
  minReleases: number;
}

/**
 * The newest releases, as many as the most generous of three criteria keeps: the oldest deployed release, the age, and
 * the number.
 * @param available the oldest first
 */
export function retainedReleases(
  available: readonly VersionInfo[],
  history: readonly HistoryEntry[],
  { retentionDays, minReleases }: Retention,
  now: EpochMs,
): VersionInfo[] {
  const total = available.length;
  const keep = Math.max(
    countFromOldestDeployed(available, history),
    countRecent(available, now - retentionDays * DAY_MS),
    Math.min(minReleases, total),
  );
  return keep >= total ? [...available] : available.slice(total - keep);
}

/**
 * The releases that fit into a status, in the order of discovery: the important ones, then those discovered last.
 * @param important tags, the most important first
 */
export function boundedReleases(
  available: readonly VersionInfo[],
  important: readonly string[],
): readonly VersionInfo[] {
  const isSmall = sizeOf(available) <= LIMITS.availableReleasesBytes;
  if (isSmall && available.length <= LIMITS.availableReleases) return available;
  const kept = new Set<VersionInfo>();
  let bytes = 0;
  const byTag = new Map(available.map((release) => [release.tag, release]));
  const first = important.flatMap((tag) => byTag.get(tag) ?? []);
  for (const release of new Set([...first, ...available.toReversed()])) {
    bytes += sizeOf([release]);
    if (kept.size === LIMITS.availableReleases || bytes > LIMITS.availableReleasesBytes) break;
    kept.add(release);
  }
  return available.filter((release) => kept.has(release));
}

function sizeOf(releases: readonly VersionInfo[]): number {
  return releases.reduce((bytes, release) => bytes + goJsonBytes(release) + 1, 0);
}

/** The number of releases from the oldest in the history on. */
function countFromOldestDeployed(available: readonly VersionInfo[], history: readonly HistoryEntry[]): number {
  const deployed = new Set(history.map(({ version }) => version.tag));
  const oldest = available.findIndex(({ tag }) => deployed.has(tag));
  return oldest < 0 ? 0 : available.length - oldest;
}

/** The number of releases after the newest one from before the cutoff. A release without a date is never old. */
function countRecent(available: readonly VersionInfo[], cutoff: EpochMs): number {
  const newestOld = available.findLastIndex(({ created }) => {
    const at = parseTime(created);
    return at !== undefined && at < cutoff;
  });
  return available.length - (newestOld + 1);
}
