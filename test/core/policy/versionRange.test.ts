/** Held to what Flux's own library answers: dev/tools/semver makes the table. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compareVersions, parseVersion } from '../../../core/policy/semanticVersion.ts';
import { parseRange } from '../../../core/policy/versionRange.ts';

interface Table {
  order: string[][];
  noVersions: string[];
  ranges: { range: string; selects?: string }[];
}

const read = (file: string) => JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8'));
const { order, noVersions, ranges } = read('semver-table.json') as Table;
const strict = (read('semver-cases.json') as { versions: string[] }).versions.filter(
  (tag) => parseVersion(tag)?.strict,
);

describe('a tag is a version', () => {
  it.each(order.flat())('%j', (tag) => expect(parseVersion(tag)?.strict).toBe(true));
  it.each(noVersions)('not %j', (tag) => expect(parseVersion(tag)?.strict ?? false).toBe(false));
});

describe('versions come in the order of the library', () => {
  const places = order.flatMap((group, place) => group.map((tag) => ({ tag, place })));
  it.each(places)('$tag', ({ tag, place }) => {
    const version = parseVersion(tag)!;
    const wrong = places.filter(
      (other) => Math.sign(compareVersions(version, parseVersion(other.tag)!)) !== Math.sign(place - other.place),
    );
    expect(wrong).toEqual([]);
  });
});

describe('a range selects what it selects in the library', () => {
  it.each(ranges)('%j', ({ range, selects }) => {
    const test = parseRange(range);
    expect(test && strict.filter((tag) => test(parseVersion(tag)!)).join(' ')).toBe(selects);
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
