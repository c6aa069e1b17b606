/** Measurements are drawn inside the picture, whatever the numbers are, with gaps for missing values. */
import { expect, it } from 'vitest';
import type { MeasurementView, MetricView } from '../../../client/explain/application.ts';
import { metricPicture, PICTURE } from '../../../ui/application/metricPicture.ts';

const at = (minute: number) => `2026-01-01T10:${String(minute).padStart(2, '0')}:00Z`;
const inside = (minute: number, value: number): MeasurementView => ({ at: at(minute), result: 'InRange', value });
const outside = (minute: number, value: number): MeasurementView => ({ at: at(minute), result: 'OutOfRange', value });
const unknown = (minute: number): MeasurementView => ({ at: at(minute), result: 'Unknown' });

it('draws values from left to right, the greatest on top, and the bound between them', () => {
  const { lines, marks, bounds } = metricPicture({
    max: 5,
    measurements: [inside(0, 1), inside(5, 3), outside(10, 9)],
  });
  expect(lines).toEqual(['8,66 120,54 232,18']);
  expect(marks.map(({ look }) => look)).toEqual(['inside', 'inside', 'outside']);
  expect(bounds).toEqual([{ y: 42, labelY: 38, text: '5' }]);
});

it('interrupts the line without a value, and marks the time at the bottom', () => {
  const measurements = [inside(0, 1), inside(1, 2), unknown(2), inside(3, 1), unknown(4), inside(5, 1), inside(6, 2)];
  const { lines, marks } = metricPicture({ min: 0, max: 4, measurements });
  expect(lines.map((line) => line.split(' ').length)).toEqual([2, 2]);
  expect(marks.filter(({ look }) => look === 'gap').map(({ y }) => y)).toEqual([PICTURE.height, PICTURE.height]);
});

it('marks a result outside the range without a value', () => {
  const measurements: MeasurementView[] = [{ at: at(0), result: 'OutOfRange' }];
  expect(metricPicture({ max: 1, measurements }).marks).toMatchObject([{ look: 'outside', y: PICTURE.height }]);
});

it.each<[string, MetricView]>([
  ['one measurement', { max: 5, measurements: [inside(0, 1)] }],
  ['one value, that of the bound', { max: 1, measurements: [inside(0, 1), inside(1, 1)] }],
  ['no value', { min: 1, measurements: [unknown(0), unknown(1)] }],
  ['no bound', { measurements: [inside(0, 1), inside(1, 2)] }],
  ['no bound and no value', { measurements: [unknown(0)] }],
  ['one time', { max: 5, measurements: [inside(0, 1), inside(0, 9)] }],
  ['the largest numbers', { min: -1e100, max: 1e100, measurements: [inside(0, 1), outside(1, -1e100)] }],
  ['the smallest numbers', { min: 0, max: 5e-324, measurements: [inside(0, 0), inside(1, 5e-324)] }],
  ['years', { max: 5, measurements: [{ ...inside(0, 1), at: '0000-01-01T00:00:00Z' }, inside(1, 2)] }],
])('stays inside the picture: %s', (_, metric) => {
  const { marks, bounds } = metricPicture(metric);
  expect(marks).toHaveLength(metric.measurements.length);
  for (const { x, y } of marks) {
    expect(x).toSatisfy((each: number) => each >= 0 && each <= PICTURE.width);
    expect(y).toSatisfy((each: number) => each >= 0 && each <= PICTURE.height);
  }
  for (const { y, labelY } of bounds) {
    expect(y).toSatisfy((each: number) => each > 0 && each < PICTURE.height);
    expect(labelY).toSatisfy((each: number) => each > 0 && each < PICTURE.height);
  }
});
