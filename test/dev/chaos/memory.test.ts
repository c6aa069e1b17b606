/** Which memory is flat. */
import { expect, it } from 'vitest';
import { checkMemory, type Sample } from '../../../dev/chaos/memory.ts';

/** Samples of one process, one a minute. */
const life = (pid: number, from: number, minutes: number, mib: (minute: number) => number): Sample[] =>
  Array.from({ length: minutes + 1 }, (_, i) => ({ ms: (from + i) * 60_000, name: 'hooks', pid, mib: mib(i) }));

const constant = () => 300;
/** A garbage collector's teeth. */
const teeth = (minute: number) => 300 + 40 * (minute % 7);
const slow = (minute: number) => 300 + minute / 3;
const leak = (minute: number) => 300 + minute;
/** Samples of a driver over hours, whose peaks rise by more than a tenth in some hours. */
const uneven = (minute: number) => 170 + [0, 18, -8, 12, -6, 30, 2, -10, 8][minute % 9]! + minute / 3;
/** Grows in its first quarter of an hour, then stays constant. */
const begins = (minute: number) => Math.min(300, 100 + 20 * minute);
const small = (minute: number) => 20 + minute / 10;

it.each<[string, Sample[], string, number]>([
  ['what stays as it is is flat', life(1, 0, 75, constant), 'flat', 60],
  ['so are the teeth of a garbage collector', life(1, 0, 75, teeth), 'flat', 60],
  ['so is what its teeth might have made', life(1, 0, 47, uneven), 'flat', 32],
  ['a tenth more in an hour is flat', life(1, 0, 75, slow), 'flat', 60],
  ['more than that grows', life(1, 0, 75, leak), 'grows', 60],
  ['10 MiB more in an hour are flat, however small it is', life(1, 0, 75, small), 'flat', 60],
  ['the beginning does not count', life(1, 0, 60, begins), 'flat', 45],
  ['a life of less than three quarters of an hour says nothing', life(1, 0, 40, leak), 'too short', 25],
  ['a restart begins anew', [...life(1, 0, 50, constant), ...life(2, 51, 50, constant)], 'flat', 35],
  [
    'of several processes the longest-lived is checked',
    [...life(1, 0, 75, leak), ...life(2, 76, 20, constant)],
    'grows',
    60,
  ],
])('%s', (_, samples, trend, minutes) => {
  expect(checkMemory(samples, ['hooks'])).toMatchObject([{ name: 'hooks', trend, minutes }]);
});

it('reports the growth, and doesn’t check other processes', () => {
  expect(checkMemory(life(1, 0, 75, leak), [])).toMatchObject([
    { first: 315, last: 375, mibPerHour: expect.closeTo(60), trend: 'not checked' },
  ]);
});
