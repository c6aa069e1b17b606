/** HealthChecks of class prometheus: a query is measured when due, and every measurement is stored in the status. */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { HookCall } from '../../api/ports.ts';
import type { HealthCheck, Rollout } from '../../api/types.ts';
import type { HealthStatus } from '../../core/health/healthStatus.ts';
import {
  dueAt,
  type MetricCheck,
  statusAfterMeasurement,
  statusWithoutAnswer,
  statusWithProblem,
} from '../../core/health/prometheus/measurement.ts';
import { renderQuery } from '../../core/health/prometheus/query.ts';
import { parseTime } from '../../core/kube/time.ts';
import { requeueByAge } from '../hook.ts';

/**
 * The time to the next sync while the query is running or queued. It grows with the wait, because then many queries
 * wait, of this namespace or for a provider that hangs.
 */
const SHORTEST_UNANSWERED_REQUEUE_SECONDS = 3;
const LONGEST_UNANSWERED_REQUEUE_SECONDS = 30;

interface DeploymentsMeasured {
  /** The Rollouts of the HealthCheck's namespace that watch it. */
  watching: readonly Rollout[];
  /** The time from which health counts: when the deployment started or was applied. */
  cutoff: EpochMs | undefined;
}

/** The status with a new measurement, if one is due, and when to sync again. */
export async function measure(
  { metadata, status }: HealthCheck,
  check: MetricCheck,
  { watching, cutoff }: DeploymentsMeasured,
  { measurements, now }: HookCall,
): Promise<{ after: HealthStatus | undefined; requeueAfterSeconds: number }> {
  const interval = check.intervalMs / 1000;
  const rendered = renderQuery(check.query, watching);
  // No interval: the write that corrects the query, of the HealthCheck or the Rollout, triggers a sync.
  if ('problem' in rendered) {
    return { after: statusWithProblem(status, rendered.problem, now), requeueAfterSeconds: interval };
  }
  const due = dueAt(status, check, cutoff, now);
  if (now < due) return { after: status, requeueAfterSeconds: (due - now) / 1000 };
  // An older measurement by this replica doesn't count: others may have measured since.
  const since = Math.max(due, now - check.intervalMs);
  const { namespace = '', name = '', uid = '' } = metadata;
  const { provider } = check;
  const measurement = await measurements.measure({
    check: { namespace, name, uid },
    provider,
    query: rendered.query,
    since,
    cutoff,
  });
  if (!measurement) {
    const waitingSince = Math.max(due, parseTime(metadata.creationTimestamp) ?? Number.NEGATIVE_INFINITY);
    return {
      after: statusWithoutAnswer(status, check, now),
      requeueAfterSeconds: requeueByAge(
        now - waitingSince,
        SHORTEST_UNANSWERED_REQUEUE_SECONDS,
        LONGEST_UNANSWERED_REQUEUE_SECONDS,
      ),
    };
  }
  return { after: statusAfterMeasurement(status, check, measurement, now), requeueAfterSeconds: interval };
}
