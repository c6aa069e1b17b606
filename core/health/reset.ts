/** Resets of HealthChecks: a deployment, a retry, or the apply of a version makes older health meaningless. */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { HealthCheck, HistoryEntry, Rollout } from '../../api/types.ts';
import { parseTime } from '../kube/time.ts';
import { deployCutoff, healthCutoff, isReportedSince } from './knownHealth.ts';
import { KUSTOMIZATION_CLASS } from './kustomizationCheck.ts';

/** The time from which health counts for the Rollout's newest deployment; undefined if nothing is deployed. */
export function cutoffOf(rollout: Rollout): EpochMs | undefined {
  const head = rollout.status?.history?.[0];
  if (!head) return undefined;
  const deployed = parseTime(head.timestamp);
  // Go's zero time is in the year 1.
  if (deployed === undefined || deployed <= 0) return undefined;
  return healthCutoff(head);
}

export interface Cutoffs {
  /** The newest cutoff that has passed. */
  reached?: EpochMs;
  /**
   * The next cutoff in the future, because clocks differ, and histories may be written by hand. A reset before that
   * time would be repeated without end.
   */
  ahead?: EpochMs;
}

export function cutoffsOf(rollouts: readonly Rollout[], now: EpochMs): Cutoffs {
  const all = rollouts.flatMap((rollout) => cutoffOf(rollout) ?? []);
  const reached = all.filter((at) => at <= now);
  const ahead = all.filter((at) => at > now);
  return {
    ...(reached.length > 0 && { reached: Math.max(...reached) }),
    ...(ahead.length > 0 && { ahead: Math.min(...ahead) }),
  };
}

/** Whether one of the Rollouts has started or applied its newest deployment since the last report of the check. */
export function needsReset(healthCheck: HealthCheck, rollouts: readonly Rollout[], now: EpochMs): boolean {
  const { status } = healthCheck;
  return rollouts.some((rollout) => {
    const [head] = rollout.status?.history ?? [];
    const cutoff = cutoffOf(rollout);
    if (!head || cutoff === undefined || cutoff > now) return false;
    if (status?.lastChangeTime === undefined) return true;
    return !isReportedSince(healthCheck, head) && !(isApply(head) && isBlank(healthCheck));
  });
}

const isApply = (head: HistoryEntry) => healthCutoff(head) > deployCutoff(head);

/** Whether any report will differ from the present one. Reporters of other classes may wait for the reset. */
function isBlank({ spec, status }: HealthCheck): boolean {
  return spec?.class === KUSTOMIZATION_CLASS && status?.status === 'Pending' && status.lastErrorTime === undefined;
}
