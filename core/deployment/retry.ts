/** The retry of a failed bake (reference section 2.9). */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { HistoryEntry } from '../../api/types.ts';
import { formatTime } from '../kube/time.ts';
import type { News } from '../rollout/observed.ts';
import { deploymentKey } from './bake.ts';

/** The head to begin again with; undefined when it has not failed. */
export function retried(head: HistoryEntry | undefined, now: EpochMs): { head: HistoryEntry; news: News } | undefined {
  if (head?.bakeStatus !== 'Failed') return undefined;
  const { bakeStatusMessage, bakeStartTime, bakeEndTime, failedHealthChecks, waitedSeconds, waitingSince, ...rest } =
    head;
  const at = formatTime(now);
  const again = { ...rest, bakeStatus: 'Deploying', lastRetryTimestamp: at };
  const message = `Retry requested; bake status reset at ${at}`;
  return { head: again, news: { type: 'Normal', reason: 'RetryRequested', message, about: deploymentKey(again) } };
}
