/** What a plan adds to the counters, by its events: each is recorded once, and so counted once. */
import type { Count } from '../../api/metrics.ts';
import type { EventRecord } from '../../api/ports.ts';
import type { HistoryEntry, RolloutStatus } from '../../api/types.ts';

const BAKE_RESULTS = {
  BakeTimePassed: 'succeeded',
  BakeTimeFailed: 'failed',
  BakeTimeCancelled: 'cancelled',
} as const;

const COPY_RESULTS = { ReleaseCopied: 'copied', CopyFailed: 'failed' } as const;

export function countsOf(events: readonly Pick<EventRecord, 'reason' | 'key'>[], status: RolloutStatus): Count[] {
  return events.flatMap(({ reason, key }): Count[] => {
    const head = status.history?.[0];
    if (reason === 'DeploymentSucceeded' && head) {
      return [{ name: 'rollout_hooks_deployments_total', labels: { kind: kindOf(head) }, key }];
    }
    const copied = COPY_RESULTS[reason as keyof typeof COPY_RESULTS];
    if (copied) return [{ name: 'rollout_hooks_copies_total', labels: { result: copied }, key }];
    const result = BAKE_RESULTS[reason as keyof typeof BAKE_RESULTS];
    return result ? [{ name: 'rollout_hooks_bakes_total', labels: { result }, key }] : [];
  });
}

function kindOf({ rolledBackFrom, requestedBy, triggeredBy }: HistoryEntry): 'automatic' | 'manual' | 'rollback' {
  if (rolledBackFrom !== undefined) return 'rollback';
  return requestedBy !== undefined || triggeredBy?.kind === 'User' ? 'manual' : 'automatic';
}
