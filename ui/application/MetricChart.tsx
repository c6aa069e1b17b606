/** The value of a HealthCheck over its newest measurements, and the bounds of its range as dashed lines. */
import type { MeasurementView, MetricView } from '../../client/explain/application.ts';
import { fullTime } from '../../client/explain/when.ts';
import { rangeText } from '../../core/health/prometheus/measurement.ts';
import { At } from '../parts/Time.tsx';
import { clockText, now } from '../state/clock.ts';
import { type Mark, metricPicture, numberText, PICTURE } from './metricPicture.ts';

const { width, height } = PICTURE;

const RESULTS: Record<MeasurementView['result'], string> = {
  InRange: 'inside the range',
  OutOfRange: 'outside the range',
  Empty: 'no series',
  Unknown: 'no answer',
};

export function MetricChart({ metric }: { metric: MetricView }) {
  const { lines, marks, bounds } = metricPicture(metric);
  const [oldest, newest] = [metric.measurements[0]!.at, metric.measurements.at(-1)!.at];
  return (
    <figure class="metric">
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={metricText(metric)}>
        {bounds.map(({ y, labelY, text }) => (
          <g key={labelY}>
            <line class="metric-bound" x1="0" x2={width} y1={y} y2={y} />
            <text class="metric-label" x="0" y={labelY}>
              {text}
            </text>
          </g>
        ))}
        {lines.map((points) => (
          <polyline key={points} class="metric-line" points={points} />
        ))}
        {marks.map((mark, index) => (
          <Point key={index} mark={mark} />
        ))}
      </svg>
      <figcaption>
        {[...new Set([oldest, newest])].map((at) => (
          <At key={at} time={at} />
        ))}
      </figcaption>
    </figure>
  );
}

/** The mark of a measurement: a dot inside the range, a cross outside, a tick at the bottom without a value. */
function Point({ mark: { x, y, look, measurement } }: { mark: Mark }) {
  const title = <title>{`${measurementText(measurement)}\n${fullTime(Date.parse(measurement.at))}`}</title>;
  if (look === 'inside') {
    return (
      <circle class="metric-point" cx={x} cy={y} r="2.500">
        {title}
      </circle>
    );
  }
  const path = measurement.value === undefined ? `M${x} ${y - 1}v-6` : `M${x - 3.5} ${y - 3.5}l7 7m-7 0l7 -7`;
  return (
    <path class={`metric-mark tone-bad ${look}`} d={path}>
      {title}
    </path>
  );
}

function measurementText({ value, result }: MeasurementView): string {
  return value === undefined ? RESULTS[result] : `${numberText(value)}, ${RESULTS[result]}`;
}

/** The picture as text for screen readers: value, range and times. */
function metricText({ min, max, measurements }: MetricView): string {
  const newest = measurements.at(-1)!;
  const outside = measurements.filter(({ result }) => result === 'OutOfRange').length;
  const without = measurements.filter(({ value }) => value === undefined).length;
  const range = min === undefined && max === undefined ? '' : ` (${rangeText({ min, max })})`;
  const text = ({ at }: MeasurementView) => clockText(Date.parse(at), now.value);
  return `${measurementText(newest)}${range}, at ${text(newest)}. ${measurements.length} measurements since ${text(measurements[0]!)}: ${outside} outside the range, ${without} without a value`;
}
