/** Which releases are kept. RH1 to RH12 are cases of the Go controller's test suite. */
import { describe, expect, it } from 'vitest';
import type { HistoryEntry } from '../../../../api/types.ts';
import { retained } from '../../../../core/rollout/release/retention.ts';

const NOW = Date.parse('2025-01-01T12:00:00Z');
const DAY = 24 * 3600 * 1000;

const release = (tag: string, daysAgo: number | undefined) =>
  daysAgo === undefined ? { tag } : { tag, created: new Date(NOW - daysAgo * DAY).toISOString() };
const deployed = (...tags: string[]): HistoryEntry[] =>
  tags.map((tag) => ({ version: { tag }, timestamp: '2025-01-01T00:00:00Z' }));

const RELEASES = [release('0.1.0', 10), release('0.2.0', 8), release('0.3.0', 2), release('0.4.0', 0)];
const OLD = ['0.1.0', '0.2.0', '0.3.0', '0.4.0'].map((tag) => release(tag, 20));
const HISTORY = deployed('0.4.0', '0.3.0');

describe('retained', () => {
  it.each([
    ['RH1 keeps what is recent or deployed', RELEASES, HISTORY, 2, ['0.3.0', '0.4.0']],
    [
      'RH2 keeps back to the oldest that is deployed',
      RELEASES,
      deployed('0.4.0', '0.3.0', '0.2.0'),
      2,
      ['0.2.0', '0.3.0', '0.4.0'],
    ],
    ['RH3 keeps minCount', RELEASES, HISTORY, 10, ['0.1.0', '0.2.0', '0.3.0', '0.4.0']],
    ['RH4 keeps nothing where nothing is known', [], HISTORY, 2, []],
    [
      'RH5 a release without a date is never old',
      [release('0.1.0', undefined), ...RELEASES.slice(1)],
      HISTORY,
      2,
      ['0.3.0', '0.4.0'],
    ],
    ['RH7 keeps what is deployed, however old', OLD, HISTORY, 0, ['0.3.0', '0.4.0']],
    ['RH7 keeps nothing old without a history', OLD, [], 0, []],
    ['RH9 keeps the newest for minCount', OLD, [], 1, ['0.4.0']],
    [
      'RH11 keeps all after the newest that is old',
      [RELEASES[0]!, release('0.2.0', undefined), ...RELEASES.slice(2)],
      [],
      0,
      ['0.2.0', '0.3.0', '0.4.0'],
    ],
    ['RH8 keeps all when none is old', RELEASES.slice(2), [], 0, ['0.3.0', '0.4.0']],
    ['RH6 takes no notice of deployed tags it does not know', RELEASES, deployed('9.9.9'), 0, ['0.3.0', '0.4.0']],
    [
      'RH10 a tag that was deployed twice counts once',
      RELEASES,
      deployed('0.2.0', '0.2.0', '0.1.0'),
      0,
      ['0.1.0', '0.2.0', '0.3.0', '0.4.0'],
    ],
    [
      'RH12 keeps what is recent beyond minCount and history',
      [RELEASES[0]!, release('0.2.0', 6), ...RELEASES.slice(2)],
      [],
      1,
      ['0.2.0', '0.3.0', '0.4.0'],
    ],
    [
      'keeps back to the first occurrence of a deployed tag',
      [...OLD, release('0.2.0', 20)],
      deployed('0.2.0'),
      0,
      ['0.2.0', '0.3.0', '0.4.0', '0.2.0'],
    ],
  ])('%s', (_title, available, history, minCount, expected) => {
    expect(retained(available, history, { days: 7, minCount }, NOW).map(({ tag }) => tag)).toEqual(expected);
  });
});
