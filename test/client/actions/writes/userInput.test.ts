import { describe, expect, it } from 'vitest';
import {
  parseDays,
  parseHours,
  parseKinds,
  parseSelector,
  parseSpan,
  parseWhen,
} from '../../../../client/actions/userInput.ts';

/** A Wednesday, 11:00 in Berlin. */
const NOW = Date.parse('2026-11-25T10:00:00Z');

describe('a time', () => {
  it.each([
    ['2026-12-24T08:00:00Z', '2026-12-24T08:00:00Z'],
    ['2026-12-24 08:00', '2026-12-24T07:00:00Z'],
    ['2026-12-24', '2026-12-23T23:00:00Z'],
    ['18:00', '2026-11-25T17:00:00Z'],
    ['9:30', '2026-11-26T08:30:00Z'],
    ['Mon 08:00', '2026-11-30T07:00:00Z'],
    ['monday', '2026-11-29T23:00:00Z'],
    ['Wed 10:00', '2026-12-02T09:00:00Z'],
    ['Wed 12:00', '2026-11-25T11:00:00Z'],
    ['Tue 08:00', '2026-12-01T07:00:00Z'],
    ['Thursday', '2026-11-25T23:00:00Z'],
    ['24 Dec', '2026-12-23T23:00:00Z'],
    ['Dec 24 08:00', '2026-12-24T07:00:00Z'],
    ['october 1 08:00', '2027-10-01T06:00:00Z'],
    ['24 Dec 2027 08:00', '2027-12-24T07:00:00Z'],
    ['December 24, 2020', '2020-12-23T23:00:00Z'],
    ['tomorrow 09:00', '2026-11-26T08:00:00Z'],
    ['today 23:59', '2026-11-25T22:59:00Z'],
    // The clock jumps from 02:00 to 03:00: 02:30 is the moment of the jump.
    ['2027-03-28 02:30', '2027-03-28T01:00:00Z'],
  ])('%s', (text, expected) => {
    expect(new Date(parseWhen(text, NOW, 'Europe/Berlin') ?? 0).toISOString().replace('.000', '')).toBe(expected);
  });

  it.each([
    '',
    'soon',
    '25:00',
    'Mon 8',
    'Mo 08:00',
    '2026-02-30',
    'Mon Tue 08:00',
    '08:00 Mon',
    '30 Feb',
    'Dec',
    'Dec 24 25',
    '24 De',
  ])('is not: %s', (text) => {
    expect(parseWhen(text, NOW, 'Europe/Berlin')).toBeUndefined();
  });
});

describe('the end of a planned span', () => {
  /** Friday, 4 December, 18:00 in Berlin: a Monday comes before it. */
  const BEGIN = Date.parse('2026-12-04T17:00:00Z');

  it.each([
    ['Mon 08:00', '2026-12-07T07:00:00Z'],
    ['20:00', '2026-12-04T19:00:00Z'],
    ['08:00', '2026-12-05T07:00:00Z'],
    ['1 Dec', '2027-11-30T23:00:00Z'],
    ['2026-12-05', '2026-12-04T23:00:00Z'],
    // A day of the user, not the day after the beginning.
    ['tomorrow 18:00', '2026-11-26T17:00:00Z'],
  ])('%s is the first one after its beginning', (text, expected) => {
    expect(parseWhen(text, NOW, 'Europe/Berlin', BEGIN)).toBe(Date.parse(expected));
  });

  it('is never before its beginning: 29 Feb of a leap year that is over', () => {
    expect(parseWhen('29 Feb', Date.parse('2028-03-01T12:00:00Z'), 'UTC')).toBeUndefined();
  });
});

describe('a span', () => {
  it.each([
    ['30m', 30],
    ['24h', 1440],
    ['2d', 2880],
    ['1w', 10_080],
    ['1h30m', 90],
  ])('%s', (text, minutes) => {
    expect(parseSpan(text)).toBe(minutes * 60_000);
  });

  it.each(['', '0s', '0d', '24', 'a day', '-1h', '99999d'])('is not: %s', (text) => {
    expect(parseSpan(text)).toBeUndefined();
  });
});

describe('days and hours', () => {
  it.each([
    ['Friday', ['Friday']],
    ['sat,Fri', ['Friday', 'Saturday']],
    ['weekend', ['Saturday', 'Sunday']],
    ['Fridays', ['Friday']],
    ['weekdays', ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday']],
    ['Fr', undefined],
    ['constructor', undefined],
    ['', undefined],
  ])('%s', (text, days) => {
    expect(parseDays(text)).toEqual(days);
  });

  it.each([
    ['16:00-8:00', { start: '16:00', end: '08:00' }],
    ['16:00', undefined],
    ['16:00-25:00', undefined],
  ])('%s', (text, hours) => {
    expect(parseHours(text)).toEqual(hours);
  });
});

describe('kinds', () => {
  it.each([
    ['rollout,helmreleases', ['Rollout', 'HelmRelease']],
    ['Kustomization', ['Kustomization']],
    ['Deployment', undefined],
  ])('%s', (text, kinds) => {
    expect(parseKinds(text)).toEqual(kinds);
  });
});

describe('a selector', () => {
  it.each([
    [
      'team=shop,tier!=test',
      { matchLabels: { team: 'shop' }, matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['test'] }] },
    ],
    [
      'zone in (a, b),!legacy,canary',
      {
        matchExpressions: [
          { key: 'zone', operator: 'In', values: ['a', 'b'] },
          { key: 'legacy', operator: 'DoesNotExist' },
          { key: 'canary', operator: 'Exists' },
        ],
      },
    ],
    ['', {}],
    ['a b', undefined],
    ['=x', undefined],
  ])('%s', (text, selector) => {
    expect(parseSelector(text)).toEqual(selector);
  });
});
