/** Compared with Flux's library, whose results are in a table of dev/tools/semver. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compareVersions, parseVersion } from '../../../core/policy/semanticVersion.ts';
import { parseRange } from '../../../core/policy/versionRange.ts';

interface Table {
  /** Oldest first, in rows of `1.0.0 v1.0.0 < 1.0.1`: equal versions are separated by blanks. */
  order: string[];
  noVersions: string[];
  /** The versions in each range, separated by blanks; null for an invalid range. */
  ranges: Record<string, string | null>;
}

const table = readFileSync(join(import.meta.dirname, 'semver-table.json'), 'utf8');
const { order: rows, noVersions, ranges } = JSON.parse(table) as Table;
const order = rows.flatMap((row) => row.split(' < '));
const versions = order.flatMap((equal) => equal.split(' '));

describe('a tag is a version', () => {
  it.each(versions)('%j', (tag) => expect(parseVersion(tag)?.strict).toBe(true));
  it.each(noVersions)('not %j', (tag) => expect(parseVersion(tag)?.strict ?? false).toBe(false));
});

describe('versions are sorted as by the library', () => {
  const places = order.flatMap((equal, place) => equal.split(' ').map((tag) => ({ tag, place })));
  it.each(places)('$tag', ({ tag, place }) => {
    const version = parseVersion(tag)!;
    const wrong = places.filter(
      (other) => Math.sign(compareVersions(version, parseVersion(other.tag)!)) !== Math.sign(place - other.place),
    );
    expect(wrong).toEqual([]);
  });
});

describe('a range selects the same versions as in the library', () => {
  it.each(Object.entries(ranges))('%j', (range, selects) => {
    const test = parseRange(range);
    expect(test ? versions.filter((tag) => test(parseVersion(tag)!)).join(' ') : null).toBe(selects);
  });
});

describe('a hostile range', () => {
  it.each([
    ['many blanks', `${'1   '.repeat(127)}!`],
    ['many commas', `${'1,'.repeat(255)}!`],
    ['many words', `1-${'a.'.repeat(250)}!`],
    ['many hyphens', '1 - '.repeat(128)],
    ['longer than the library takes', '1'.repeat(10_000)],
  ])('%s is refused, and at once', (_, range) => {
    expect(parseRange(range)).toBeUndefined();
  });
});
