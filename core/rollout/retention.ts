/** Which releases stay in `status.availableReleases` (reference section 2.11). */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { HistoryEntry, VersionInfo } from '../../api/types.ts';
import { parseTime } from '../kube/time.ts';

const DAY_MS = 24 * 60 * 60 * 1000;

export interface Retention {
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
