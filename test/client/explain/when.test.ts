import { describe, expect, it } from 'vitest';
import { ageText, fullTime, relativeText, whenText, withReadableTimes } from '../../../client/explain/when.ts';

const NOW = Date.parse('2026-11-22T12:00:00Z');
const at = (text: string) => Date.parse(text);

describe('an age reads as kubectl prints it', () => {
  it.each([
    [0, '0s'],
    [119_999, '119s'],
    [120_000, '2m'],
    [200_000, '3m20s'],
    [11 * 60_000 + 30_000, '11m'],
    [4 * 3_600_000 + 12 * 60_000, '4h12m'],
    [20 * 3_600_000, '20h'],
    [50 * 3_600_000, '2d2h'],
    [20 * 86_400_000, '20d'],
    [800 * 86_400_000, '2y70d'],
  ])('%d ms: %s', (ms, text) => {
    expect(ageText(ms)).toBe(text);
  });
});

describe('a time reads as short as it is clear', () => {
  it.each([
    ['2026-11-22T12:00:09Z', 'UTC', '12:00:09'],
    ['2026-11-22T20:34:27Z', 'UTC', '20:34'],
    ['2026-11-23T08:00:00Z', 'UTC', 'Mon 08:00'],
    ['2026-12-24T08:00:00Z', 'UTC', '24 Dec 2026 08:00'],
  ])('%s in %s: %s', (time, zone, text) => {
    expect(whenText(at(time), NOW, zone)).toBe(text);
  });

  it('ahead and behind', () => {
    expect(relativeText(NOW + 3 * 3_600_000 + 52 * 60_000, NOW)).toBe('in 3h52m');
    expect(relativeText(NOW - 2 * 86_400_000, NOW)).toBe('2d ago');
  });

  it('in a sentence, where nothing else is touched', () => {
    const sentence = 'Gate scheduled for opening at 2026-11-23T08:00:00Z, version 2026-11-23';
    expect(withReadableTimes(sentence, NOW, 'UTC')).toBe('Gate scheduled for opening at Mon 08:00, version 2026-11-23');
  });
});

it('a text that is no time does not end the page', () => {
  expect(fullTime(Date.parse('2026-11-27T10:00:00+99:99'))).toBe('an unknown time');
});
