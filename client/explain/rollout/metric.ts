/** What a HealthCheck of class prometheus measured, as numbers: whoever may write its status may write any text. */
import type { HealthCheck } from '../../../api/types.ts';
import { metricCheckOf } from '../../../core/health/prometheus/spec.ts';
import { MAX_MEASUREMENTS } from '../../../core/health/prometheus/verdict.ts';
import { formatTime, parseTime } from '../../../core/kube/time.ts';
import type { MeasurementView, MetricView } from '../application.ts';
import { defined } from '../defined.ts';

type Stored = { time?: unknown; result?: unknown; value?: unknown };

const RESULTS: readonly unknown[] = ['InRange', 'OutOfRange', 'Empty', 'Unknown'] satisfies MeasurementView['result'][];

/** As the hook writes numbers. */
const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/;
const LONGEST = 32;
/** Differences and shares of smaller numbers are finite. */
const LARGEST = 1e100;

/** undefined: the check is of another class, or has no measurement that can be read. */
export function metricOf(check: HealthCheck): MetricView | undefined {
  const asked = metricCheckOf(check);
  const stored: unknown = check.status?.prometheus?.measurements;
  if (!asked || !Array.isArray(stored)) return undefined;
  const measurements = stored
    .slice(0, MAX_MEASUREMENTS)
    .flatMap((each: Stored | null) => measurementOf(each ?? {}))
    .reverse()
    .sort((a, b) => a.at.localeCompare(b.at));
  if (measurements.length === 0) return undefined;
  const { min, max } = asked.range;
  return { ...defined({ min: bounded(min), max: bounded(max) }), measurements };
}

function measurementOf({ time, result, value }: Stored): MeasurementView[] {
  const at = typeof time === 'string' ? parseTime(time) : undefined;
  if (at === undefined || !RESULTS.includes(result)) return [];
  const hasValue = result === 'InRange' || result === 'OutOfRange';
  return [
    {
      at: formatTime(at),
      result: result as MeasurementView['result'],
      ...(hasValue && defined({ value: numberOf(value) })),
    },
  ];
}

function numberOf(text: unknown): number | undefined {
  if (typeof text !== 'string' || text.length > LONGEST || !NUMBER.test(text)) return undefined;
  return bounded(Number(text));
}

function bounded(value: unknown): number | undefined {
  return typeof value === 'number' && Math.abs(value) <= LARGEST ? value : undefined;
}
