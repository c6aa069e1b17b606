/** Since when something counts for a deployment. */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { HistoryEntry } from '../../api/types.ts';
import { parseTime } from '../kube/time.ts';

/** Of the deployment, or of its last retry. */
export function deployCutoff(head: HistoryEntry): EpochMs {
  return Math.max(parseTime(head.timestamp) ?? 0, parseTime(head.lastRetryTimestamp) ?? 0);
}

/** Health from before this instant says nothing about the head. */
export function healthCutoff(head: HistoryEntry): EpochMs {
  return Math.max(deployCutoff(head), parseTime(head.appliedTime) ?? 0);
}
