/** Tags with a looser form than Flux's library takes; versionRange.test.ts has the order of the others. */
import { expect, it } from 'vitest';
import { compareVersions, parseVersion } from '../../../core/policy/semanticVersion.ts';

it.each([
  ['1.2', '1.2.1', 'a missing patch is 0'],
  ['1', '1.0.1', 'a missing minor is 0'],
  ['2024.01.02', '2024.1.3', 'leading zeros do not count'],
])('%s < %s: %s', (lower, higher) => {
  expect(compareVersions(parseVersion(lower)!, parseVersion(higher)!)).toBeLessThan(0);
  expect(compareVersions(parseVersion(higher)!, parseVersion(lower)!)).toBeGreaterThan(0);
});

it.each(['', 'latest', '1.2.3.4', 'V1.0.0', '1.0.0-', '1.0.0-a..b', 'main-1', ' 1.0.0'])('%j is no version', (text) => {
  expect(parseVersion(text)).toBeUndefined();
});
