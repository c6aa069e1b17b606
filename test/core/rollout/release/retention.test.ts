/** Which releases are kept. RH1 to RH12 are cases of the Go controller's test suite. */
import { describe, expect, it } from 'vitest';
import type { HistoryEntry } from '../../../../api/types.ts';
import { retainedReleases } from '../../../../core/rollout/release/retention.ts';

const NOW = Date.parse('2025-01-01T12:00:00Z');
const DAY = 24 * 3600 * 1000;

/** Releases 0.1.0, 0.2.0 and so on, with their ages in days. */
const aged = (...days: (number | undefined)[]) =>
  days.map((each, i) => ({
    tag: `0.${i + 1}.0`,
    ...(each !== undefined && { created: new Date(NOW - each * DAY).toISOString() }),
  }));
const RELEASES = aged(10, 8, 2, 0);
const OLD = aged(20, 20, 20, 20);
const NOTHING: string[] = [];
const NEWEST = ['0.4.0', '0.3.0'];

describe('retainedReleases', () => {
  it.each([
    ['RH1 keeps what is recent or deployed', RELEASES, NEWEST, 2, '0.3.0 0.4.0'],
    ['RH2 keeps back to the oldest that is deployed', RELEASES, [...NEWEST, '0.2.0'], 2, '0.2.0 0.3.0 0.4.0'],
    ['RH3 keeps minReleases', RELEASES, NEWEST, 10, '0.1.0 0.2.0 0.3.0 0.4.0'],
    ['RH4 keeps nothing where nothing is known', [], NEWEST, 2, ''],
    ['RH5 a release without a date is never old', aged(undefined, 8, 2, 0), NEWEST, 2, '0.3.0 0.4.0'],
    ['RH7 keeps what is deployed, however old', OLD, NEWEST, 0, '0.3.0 0.4.0'],
    ['RH7 keeps nothing old without a history', OLD, NOTHING, 0, ''],
    ['RH9 keeps the newest for minReleases', OLD, NOTHING, 1, '0.4.0'],
    ['RH11 keeps all after the newest that is old', aged(10, undefined, 2, 0), NOTHING, 0, '0.2.0 0.3.0 0.4.0'],
    ['RH8 keeps all when none is old', RELEASES.slice(2), NOTHING, 0, '0.3.0 0.4.0'],
    ['RH6 takes no notice of deployed tags it does not know', RELEASES, ['9.9.9'], 0, '0.3.0 0.4.0'],
    ['RH10 a tag deployed twice counts once', RELEASES, ['0.2.0', '0.2.0', '0.1.0'], 0, '0.1.0 0.2.0 0.3.0 0.4.0'],
    ['RH12 keeps what is recent beyond minReleases and history', aged(10, 6, 2, 0), NOTHING, 1, '0.2.0 0.3.0 0.4.0'],
    ['keeps back to the first occurrence of a tag', [...OLD, OLD[1]!], ['0.2.0'], 0, '0.2.0 0.3.0 0.4.0 0.2.0'],
  ])('%s', (_title, available, deployed, minReleases, expected) => {
    const history = deployed.map((tag): HistoryEntry => ({ version: { tag }, timestamp: '2025-01-01T00:00:00Z' }));
    expect(
      retainedReleases(available, history, { retentionDays: 7, minReleases }, NOW)
        .map(({ tag }) => tag)
        .join(' '),
    ).toBe(expected);
  });
});
