/** What a HealthCheck of class prometheus asks for: a query, the healthy range of its value, and how often to measure. */
import type { HealthCheck } from '../../../api/types.ts';
import { parseDuration } from '../../kube/duration.ts';

export const PROMETHEUS_CLASS = 'prometheus';

const DEFAULT_INTERVAL_MS = 60_000;
const MIN_INTERVAL_MS = 10_000;
const DEFAULT_FAILURE_LIMIT = 3;

export interface Range {
  min?: number;
  max?: number;
}

export interface MetricCheck {
  provider: string;
  query: string;
  range: Range;
  intervalMs: number;
  failureLimit: number;
  onEmpty: 'Pending' | 'Healthy' | 'Unhealthy';
}

/** undefined: the check is of another class, or somebody else reports its health. */
export function metricCheckOf({ spec }: HealthCheck): MetricCheck | undefined {
  if (spec?.class !== PROMETHEUS_CLASS || !spec.prometheus) return undefined;
  const { provider, query, thresholdRange, interval, failureLimit, onEmpty } = spec.prometheus;
  return {
    provider,
    query,
    range: thresholdRange,
    intervalMs: Math.max(parseDuration(interval) ?? DEFAULT_INTERVAL_MS, MIN_INTERVAL_MS),
    failureLimit: failureLimit ?? DEFAULT_FAILURE_LIMIT,
    onEmpty: onEmpty ?? 'Pending',
  };
}

/** `at most 5`; without the words around it. */
export function rangeText({ min, max }: Range): string {
  if (min === undefined) return `at most ${max}`;
  return max === undefined ? `at least ${min}` : `${min} to ${max}`;
}
