import { expect, it } from 'vitest';
import { goDurationMs } from '../../../../dev/engine/runtime/clock.ts';

it.each([
  [0.3, 300],
  [3600, 3_600_000],
  [9_223_372_036, 9_223_372_036_000],
])('%d s are %d ms', (seconds, ms) => {
  expect(goDurationMs(seconds)).toBe(ms);
});

it.each([9_223_372_037, 9_999_999 * 3600, 1e300])('%d s are less than nothing', (seconds) => {
  expect(goDurationMs(seconds)).toBeLessThan(0);
});
