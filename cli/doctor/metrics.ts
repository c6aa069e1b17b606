/** Whether HealthChecks of class prometheus may query what they name. */
import { METRIC_PROVIDERS, NAMESPACES } from '../../api/kinds.ts';
import type { KubeObject } from '../../api/kubernetes.ts';
import type { HealthCheck, MetricProvider } from '../../api/types.ts';
import type { Finding } from '../../client/explain/doctor/finding.ts';
import { metricFindings } from '../../client/explain/doctor/metrics.ts';
import { metricCheckOf } from '../../core/health/prometheus/measurement.ts';
import { type Check, ofKind, seen } from './examined.ts';

const ABOUT = 'HealthChecks';

export const checkMetrics: Check = async (examined) => {
  const notes: Finding[] = [];
  const checks = (await ofKind<HealthCheck>(examined, 'HealthCheck', ABOUT, notes)) ?? [];
  // Most people may read neither of the others, which matters only where there is such a check.
  const measured = checks.filter(metricCheckOf);
  if (measured.length === 0) return notes;
  const [providers, namespaces] = await Promise.all([
    seen<MetricProvider>(examined.client, METRIC_PROVIDERS, ABOUT, notes),
    seen<KubeObject>(examined.client, NAMESPACES, ABOUT, notes),
  ]);
  return [...(providers ? metricFindings(measured, providers, namespaces) : []), ...notes];
};
