/** One look at a HealthCheck of class prometheus: it is measured when that is due, and its status has every measurement. */
import type { EpochMs } from '../../api/kubernetes.ts';
import type { HookCall } from '../../api/ports.ts';
import type { HealthCheck, Rollout } from '../../api/types.ts';
import { renderQuery } from '../../core/health/prometheus/query.ts';
import type { MetricCheck } from '../../core/health/prometheus/spec.ts';
import {
  dueAt,
  statusAfterMeasurement,
  statusWithoutAnswer,
  statusWithProblem,
} from '../../core/health/prometheus/verdict.ts';
import type { HealthStatus } from '../../core/health/status.ts';

/** While a query is under way, or waits for its turn. */
const NOT_YET_MS = 3000;

export interface DeploymentsMeasured {
  /** The Rollouts of its namespace that watch it. */
  watching: readonly Rollout[];
  /** When the deployment began, or arrived, that the health is for. */
  cutoff: EpochMs | undefined;
}

export async function measure(
  { metadata, status }: HealthCheck,
  check: MetricCheck,
  { watching, cutoff }: DeploymentsMeasured,
  { measurements, now }: HookCall,
): Promise<{ after: HealthStatus | undefined; nextLookMs: number }> {
  const rendered = renderQuery(check.query, watching);
  // Whoever mends it wakes this hook: by a write of the check, or of the Rollout.
  if ('problem' in rendered) {
    return { after: statusWithProblem(status, rendered.problem, now), nextLookMs: check.intervalMs };
  }
  const due = dueAt(status, check, cutoff, now);
  if (now < due) return { after: status, nextLookMs: due - now };
  // This replica may have measured it last long ago.
  const since = Math.max(due, now - check.intervalMs);
  const { namespace = '', name = '', uid = '' } = metadata;
  const { provider } = check;
  const taken = await measurements.take({ check: { namespace, name, uid }, provider, query: rendered.query, since });
  if (!taken) return { after: statusWithoutAnswer(status, check, now), nextLookMs: NOT_YET_MS };
  return { after: statusAfterMeasurement(status, check, taken, now), nextLookMs: check.intervalMs };
}
