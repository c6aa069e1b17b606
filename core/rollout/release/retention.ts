/** Which releases stay in `status.availableReleases`. */
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { HistoryEntry, VersionInfo } from '../../../api/types.ts';
import { goJsonBytes } from '../../kube/json.ts';
import { DAY_MS, parseTime } from '../../kube/time.ts';
import { LIMITS } from '../../limits.ts';

interface Retention {
  days: number;
  minCount: number;
}

/** The newest ones, as many as the most generous of three criteria keeps. `available` is oldest first. */
export function retained(
  available: readonly VersionInfo[],
  history: readonly HistoryEntry[],
  { days, minCount }: Retention,
  now: EpochMs,
): VersionInfo[] {
  const total = available.length;
  const keep = Math.max(
    fromOldestInHistory(available, history),
    fromRecent(available, now - days * DAY_MS),
    Math.min(minCount, total),
  );
  return keep >= total ? [...available] : available.slice(total - keep);
}

/**
 * At most as many as a status holds: those that matter, and then the latest discovered.
 * `matters` are tags, the most important first; what is kept stays in the order of discovery.
 */
export function boundedReleases(available: readonly VersionInfo[], matters: Iterable<string>): readonly VersionInfo[] {
  if (available.length <= LIMITS.availableReleases && sizeOf(available) <= LIMITS.availableReleasesBytes)
    return available;
  const kept = new Set<VersionInfo>();
  let bytes = 0;
  for (const release of inTurn(available, matters)) {
    if (kept.has(release)) continue;
    bytes += sizeOf([release]);
    if (kept.size === LIMITS.availableReleases || bytes > LIMITS.availableReleasesBytes) break;
    kept.add(release);
  }
  return kept.size === available.length ? available : available.filter((release) => kept.has(release));
}

function* inTurn(available: readonly VersionInfo[], matters: Iterable<string>): Iterable<VersionInfo> {
  const byTag = new Map(available.map((release) => [release.tag, release]));
  for (const tag of matters) {
    const release = byTag.get(tag);
    if (release) yield release;
  }
  yield* available.toReversed();
}

function sizeOf(releases: readonly VersionInfo[]): number {
  return releases.reduce((bytes, release) => bytes + goJsonBytes(release) + 1, 0);
}

function fromOldestInHistory(available: readonly VersionInfo[], history: readonly HistoryEntry[]): number {
  const deployed = new Set(history.map(({ version }) => version.tag));
  const oldest = available.findIndex(({ tag }) => deployed.has(tag));
  return oldest < 0 ? 0 : available.length - oldest;
}

/** Everything after the newest release that is older than the cutoff; a release without a date is never old. */
function fromRecent(available: readonly VersionInfo[], cutoff: EpochMs): number {
  const newestOld = available.findLastIndex(({ created }) => {
    const at = parseTime(created);
    return at !== undefined && at < cutoff;
  });
  return available.length - (newestOld + 1);
}
