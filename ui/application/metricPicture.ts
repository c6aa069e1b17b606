/** The geometry of measurements: a line with gaps, the bounds of the range, a mark for each measurement. */
import type { MeasurementView, MetricView } from '../../client/explain/application.ts';

export const PICTURE = { width: 240, height: 92 };
/** The margins: half a mark at the sides, the label of a bound above, the ticks of gaps below. */
const MARGIN = { x: 8, top: 18, bottom: 26 };

export interface Mark {
  x: number;
  y: number;
  /** `gap`: there is no value. `outside`: the measurement was outside the range at its time. */
  look: 'inside' | 'outside' | 'gap';
  measurement: MeasurementView;
}

interface MetricPicture {
  /** The points of each run of values without a gap. */
  lines: string[];
  marks: Mark[];
  bounds: { y: number; labelY: number; text: string }[];
}

export function metricPicture({ min, max, measurements }: MetricView): MetricPicture {
  const bounds = [
    ...(max === undefined ? [] : [{ value: max, label: -4 }]),
    ...(min === undefined ? [] : [{ value: min, label: 13 }]),
  ];
  const values = [...measurements.flatMap(({ value }) => value ?? []), ...bounds.map(({ value }) => value)];
  const x = scale(
    measurements.map(({ at }) => Date.parse(at)),
    MARGIN.x,
    PICTURE.width - MARGIN.x,
  );
  const y = scale(values, PICTURE.height - MARGIN.bottom, MARGIN.top);
  const marks = measurements.map((measurement): Mark => {
    const { at, value, result } = measurement;
    return {
      x: x(Date.parse(at)),
      y: value === undefined ? PICTURE.height : y(value),
      look: result === 'OutOfRange' ? 'outside' : value === undefined ? 'gap' : 'inside',
      measurement,
    };
  });
  return {
    lines: valueRuns(marks).map((run) => run.map((mark) => `${mark.x},${mark.y}`).join(' ')),
    marks,
    bounds: bounds.map(({ value, label }) => ({ y: y(value), labelY: y(value) + label, text: numberText(value) })),
  };
}

/** The runs of two or more values without a gap. */
function valueRuns(marks: readonly Mark[]): Mark[][] {
  const found: Mark[][] = [[]];
  for (const mark of marks) {
    if (mark.measurement.value === undefined) found.push([]);
    else found.at(-1)!.push(mark);
  }
  return found.filter(({ length }) => length > 1);
}

/** A function that scales numbers to positions, rounded to tenths. A single number is in the middle. */
function scale(numbers: readonly number[], from: number, to: number): (value: number) => number {
  const [least, greatest] = [Math.min(...numbers), Math.max(...numbers)];
  return (value) => {
    const share = greatest > least ? (value - least) / (greatest - least) : 0.5;
    return Math.round((from + share * (to - from)) * 10) / 10;
  };
}

/** A value with six digits, as in messages of the HealthCheck. */
export function numberText(value: number): string {
  return String(Number(value.toPrecision(6)));
}
