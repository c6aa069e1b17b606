import { describe, expect, it } from 'vitest';
import { compareVersions, parseVersion } from '../../../core/policy/semanticVersion.ts';

describe('compareVersions', () => {
  it.each([
    ['1.9.0', '1.10.0', 'numbers are numbers'],
    ['v1.2.3', '1.2.4', 'a leading v does not count'],
    ['1.2', '1.2.1', 'a missing patch is 0'],
    ['1', '1.0.1', 'a missing minor is 0'],
    ['1.0.0-alpha', '1.0.0', 'a prerelease comes before its release'],
    ['1.0.0-alpha', '1.0.0-alpha.1', 'more identifiers come later'],
    ['1.0.0-alpha.1', '1.0.0-alpha.beta', 'numbers come before words'],
    ['1.0.0-alpha.9', '1.0.0-alpha.10', 'numeric identifiers are numbers'],
    ['1.0.0-9007199254740993', '1.0.0-9007199254740994', 'numbers longer than a double holds'],
    ['999999999999999.0.0', '1000000000000000.0.0', 'the largest that is kept as a number'],
    ['2024.01.02', '2024.1.3', 'leading zeros do not count'],
    ['1.0.0-rc.1', '1.0.0-rc.1.0', 'the longer prerelease wins when the rest is equal'],
  ])('%s < %s: %s', (lower, higher) => {
    expect(compareVersions(parseVersion(lower)!, parseVersion(higher)!)).toBeLessThan(0);
    expect(compareVersions(parseVersion(higher)!, parseVersion(lower)!)).toBeGreaterThan(0);
  });

  it.each([
    ['1.2', '1.2.0'],
    ['v1.2.0', '1.2.0'],
    ['1.2.0+a', '1.2.0+b'],
    ['0000000000000001.0.0', '1.0.0'],
  ])('%s = %s', (a, b) => {
    expect(compareVersions(parseVersion(a)!, parseVersion(b)!)).toBe(0);
  });

  it.each(['', 'latest', '1.2.3.4', 'V1.0.0', '1.0.0-', '1.0.0-a..b', 'main-1', ' 1.0.0'])(
    '%j is no version',
    (text) => {
      expect(parseVersion(text)).toBeUndefined();
    },
  );
});
