/**
 * The versions that count as succeeded. The newest deployment of a version decides: after a later failure, an earlier
 * success is no reason to deploy the version again.
 */
import type { HistoryEntry } from '../../../api/types.ts';

/** Whether the deployment counts for its version: not if it was cancelled before it had a result. */
export function isCounted({ bakeStatus, lastRetryTimestamp }: HistoryEntry): boolean {
  return bakeStatus !== 'Cancelled' || lastRetryTimestamp !== undefined;
}

/** The deployment that succeeded of each tag that counts as succeeded, the newest first. */
export function succeededDeployments(history: readonly HistoryEntry[]): HistoryEntry[] {
  const decided = new Set<string>();
  return history.filter((entry) => {
    const { tag } = entry.version;
    if (!isCounted(entry) || decided.has(tag)) return false;
    decided.add(tag);
    return entry.bakeStatus === 'Succeeded';
  });
}
