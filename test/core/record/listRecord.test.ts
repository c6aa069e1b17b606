/** The record of who added a version to a list of a RolloutGate, and when an entry ends. */
import { describe, expect, it } from 'vitest';
import {
  formatListed,
  type ListEntry,
  listedOn,
  nextListEntries,
  parseListed,
} from '../../../core/record/listRecord.ts';

const NOW = Date.parse('2026-03-01T12:00:00.900Z');
const spec = (more: object = {}) => ({ rolloutRef: { name: 'app' }, passing: true, ...more });
const bob = { by: 'bob', reason: 'QA-88', now: NOW };
const noted = (now: object, old: object | undefined, before: ListEntry[] = [], write: typeof bob | null = bob) =>
  nextListEntries(spec(now), old && spec(old), before, write ?? undefined);
const BOB = { by: 'bob', at: Date.parse('2026-03-01T12:00:00Z'), reason: 'QA-88' };

describe('a write', () => {
  it.each<[string, object, object | undefined, ListEntry[]]>([
    [
      'that adds to lists, of each version',
      { allowedVersions: ['1.0.0', '1.1.0'], rejectedVersions: ['1.0.1'] },
      { allowedVersions: ['1.0.0'] },
      [
        { field: 'allowedVersions', version: '1.1.0', ...BOB },
        { field: 'rejectedVersions', version: '1.0.1', ...BOB },
      ],
    ],
    ['that closes', { passing: false }, {}, [{ field: 'passing', ...BOB }]],
    ['that creates a closed one', { passing: false }, undefined, [{ field: 'passing', ...BOB }]],
    ['that changes neither', { allowedVersions: ['1.0.0'] }, { allowedVersions: ['1.0.0'], passing: true }, []],
  ])('%s is noted', (_, now, old, record) => {
    expect(noted(now, old)).toEqual(record);
  });

  it('ends outdated entries, and keeps the others', () => {
    const alice = { by: 'alice', at: 0 };
    const before: ListEntry[] = [
      { field: 'allowedVersions', version: '1.0.0', ...alice },
      { field: 'allowedVersions', version: '1.1.0', ...alice },
      { field: 'passing', ...alice },
    ];
    expect(
      noted({ allowedVersions: ['1.1.0'], passing: false }, { allowedVersions: ['1.0.0', '1.1.0'] }, before),
    ).toEqual([
      { field: 'allowedVersions', version: '1.1.0', ...alice },
      { field: 'passing', ...BOB },
    ]);
    expect(noted({}, { passing: false }, before.slice(2), null)).toEqual([]);
  });

  it('of the largest size can be read, and leaves room for the record of approvals', () => {
    const allowedVersions = Array.from({ length: 40 }, (_, i) => `${i}`.padEnd(128, 'x'));
    const record = noted({ allowedVersions }, {}, [], { by: '语'.repeat(300), reason: '语'.repeat(300), now: NOW });
    const text = formatListed(record)!;
    expect(Buffer.byteLength(text)).toBeLessThan(65_536);
    expect(parseListed(text)).toEqual(record);
  });
});

it('is read as it was written, and other text counts as none', () => {
  const record = noted({ allowedVersions: ['1.1.0'], passing: false }, {});
  expect(parseListed(formatListed(record))).toEqual(record);
  expect(listedOn(record, 'allowedVersions', '1.1.0')).toMatchObject({ by: 'bob' });
  expect(listedOn(record, 'rejectedVersions', '1.1.0')).toBeUndefined();
  for (const text of [undefined, '', 'x', '{}', '[null, 7, {"field":"x"}]', `["${'x'.repeat(200_000)}"]`])
    expect(parseListed(text)).toEqual([]);
  expect(formatListed([])).toBeUndefined();
});
