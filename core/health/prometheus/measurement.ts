/**
 * The status of a HealthCheck after a measurement.
 *
 * | result | health |
 * |---|---|
 * | every series is inside the range | Healthy |
 * | a series is outside | Pending, and Unhealthy from the `failureLimit`th in a row |
 * | no series | the health in `onEmpty` |
 * | no answer, one that may lack series, too many series, NaN | Unhealthy stays, others become Pending; not counted |
 */
import type { EpochMs } from '../../../api/kubernetes.ts';
import type { Measurement, Reading } from '../../../api/ports.ts';
import type { HealthCheck } from '../../../api/types.ts';
import { parseDuration } from '../../kube/duration.ts';
import { formatTime, parseTime, wholeSeconds } from '../../kube/time.ts';
import { CLOCK_DIFFERENCE_MS, type HealthStatus, statusAfter, type Verdict } from '../healthStatus.ts';

type Stored = NonNullable<NonNullable<HealthStatus['prometheus']>['measurements']>[number];

/** Limit for the measurements in the status, as in its CRD. */
const MAX_MEASUREMENTS = 10;

/**
 * The time of the next measurement.
 * @param cutoff the time from which measurements count for the current deployment
 */
export function dueAt(
  status: HealthStatus | undefined,
  { intervalMs }: MetricCheck,
  cutoff: EpochMs | undefined,
  now: EpochMs,
): EpochMs {
  const last = measuredAt(status);
  const afterApply = firstCounted(cutoff);
  // Any reporter may write any time into the status. One that is less ahead is of a replica with another clock.
  if (last === undefined || last > now + CLOCK_DIFFERENCE_MS) return afterApply;
  return Math.max(last + intervalMs, afterApply);
}

/** Stored times have whole seconds: a value measured in the second of the apply may be older than the apply. */
function firstCounted(cutoff: EpochMs | undefined): EpochMs {
  return cutoff === undefined ? Number.NEGATIVE_INFINITY : wholeSeconds(cutoff) + 1000;
}

function measuredAt(status: HealthStatus | undefined): EpochMs | undefined {
  return parseTime(status?.prometheus?.measurements?.[0]?.time);
}

/**
 * Whether the newest measurement is of the version before. It may be stored after the apply, by a hook that has not
 * seen the apply yet.
 */
export function isMeasuredBefore(status: HealthStatus | undefined, cutoff: EpochMs | undefined): boolean {
  const last = measuredAt(status);
  return last !== undefined && last < firstCounted(cutoff);
}

/** The status that counts for a deployment without a measurement of its version. */
export const NOT_MEASURED: HealthStatus = {
  status: 'Pending',
  message: 'not measured since the version was applied',
};

export function statusAfterMeasurement(
  before: HealthStatus | undefined,
  check: MetricCheck,
  { at, reading }: Measurement,
  now: EpochMs,
): HealthStatus {
  const { counts, text, ...stored } = classify(reading, check);
  const { failures: known = 0, measurements = [] } = before?.prometheus ?? {};
  const failures = { success: 0, failure: known + 1, unknown: known }[counts];
  const verdicts: Record<typeof counts, Verdict> = {
    success: { health: 'Healthy', message: text },
    failure: failedVerdict(text, failures, check),
    unknown: unknownVerdict(before, text),
  };
  return {
    ...statusAfter(before, verdicts[counts], now),
    prometheus: {
      failures,
      measurements: [{ time: formatTime(at), ...stored }, ...measurements].slice(0, MAX_MEASUREMENTS),
    },
  };
}

/** The shortest time for which a measurement counts without a newer one. */
const OVERDUE_MS = 30_000;

/**
 * The status without an answer. It stays for two intervals, and is unknown after that, or if the clock was set back
 * since the measurement. A status Healthy without a measurement was written by another client, and counts as unknown.
 */
export function statusWithoutAnswer(
  before: HealthStatus | undefined,
  { intervalMs }: MetricCheck,
  now: EpochMs,
): HealthStatus | undefined {
  const last = measuredAt(before);
  if (last === undefined) {
    return before?.status === 'Healthy' ? statusWithProblem(before, 'not measured yet', now) : before;
  }
  const age = now - last;
  if (age >= -CLOCK_DIFFERENCE_MS && age <= Math.max(2 * intervalMs, OVERDUE_MS)) return before;
  const why = 'the provider is slow, or other queries of this namespace are answered first';
  return statusWithProblem(before, `not measured since ${formatTime(last)}: ${why}`, now);
}

/** The status if the measurement failed. */
export function statusWithProblem(before: HealthStatus | undefined, problem: string, now: EpochMs): HealthStatus {
  const { prometheus } = before ?? {};
  return { ...statusAfter(before, unknownVerdict(before, problem), now), prometheus };
}

type Classified = { counts: 'success' | 'failure' | 'unknown'; text: string } & Omit<Stored, 'time'>;

function classify(reading: Reading, { range, onEmpty }: MetricCheck): Classified {
  if ('problem' in reading) return { counts: 'unknown', text: reading.problem, result: 'Unknown' };
  const { values } = reading;
  if (values.length === 0) return { counts: EMPTY_COUNTS[onEmpty], text: EMPTY, result: 'Empty' };
  const outside = values.filter((value) => isOutside(value, range));
  const shown = outside[0] ?? values.find(Number.isNaN) ?? values[0]!;
  const stored = { value: numberText(shown), ...(values.length > 1 && { series: values.length }) };
  if (outside.length > 0) {
    const many = `${outside.length} of ${values.length} series are outside the range (${rangeText(range)}), one at ${stored.value}`;
    const one = `${stored.value} is outside the range (${rangeText(range)})`;
    return { counts: 'failure', text: values.length > 1 ? many : one, result: 'OutOfRange', ...stored };
  }
  if (Number.isNaN(shown)) return { counts: 'unknown', text: NOT_A_NUMBER, result: 'Unknown', ...stored };
  const which = values.length > 1 ? `all ${values.length} series are` : `${stored.value} is`;
  return { counts: 'success', text: `${which} inside the range (${rangeText(range)})`, result: 'InRange', ...stored };
}

const EMPTY = 'the result is empty';
const EMPTY_COUNTS = { Pending: 'unknown', Healthy: 'success', Unhealthy: 'failure' } as const;
const NOT_A_NUMBER =
  'the value is not a number (NaN), such as a ratio without data: end the query with ">= 0" to omit it, and onEmpty decides';

function failedVerdict(text: string, failures: number, { failureLimit }: MetricCheck): Verdict {
  if (failures < failureLimit) {
    return { health: 'Pending', message: `${text}, ${failures} of ${failureLimit} times in a row` };
  }
  return { health: 'Unhealthy', message: failures > 1 ? `${text}, ${failures} times in a row` : text };
}

/** The verdict of a failed measurement: not Healthy, and Unhealthy if it was so before. */
function unknownVerdict(before: HealthStatus | undefined, text: string): Verdict {
  const message = before?.status === 'Unhealthy' ? `still Unhealthy: ${text}` : text;
  return { health: 'Pending', message, awaits: 'attempt' };
}

function isOutside(value: number, { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY }: Range): boolean {
  return value < min || value > max;
}

/** The number for messages. Six digits are enough to compare with a threshold, and few enough to read. */
function numberText(value: number): string {
  return String(Number(value.toPrecision(6)));
}

// The settings of a HealthCheck of class prometheus: a query, the healthy range of its value, and how often to measure.

const PROMETHEUS_CLASS = 'prometheus';

const DEFAULT_INTERVAL_MS = 60_000;
const MIN_INTERVAL_MS = 10_000;
const DEFAULT_FAILURE_LIMIT = 3;

interface Range {
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

/** The metric of a check; undefined: the check has another class, or another controller reports its health. */
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

/** The range as text: `at most 5`. */
export function rangeText({ min, max }: Range): string {
  if (min === undefined) return `at most ${max}`;
  return max === undefined ? `at least ${min}` : `${min} to ${max}`;
}
