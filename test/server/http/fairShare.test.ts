/** Shared resources are divided fairly: no client keeps others out or loses a running request. */
import { describe, expect, it } from 'vitest';
import { createFairShare, type Part } from '../../../server/http/fairShare.ts';

const LIMIT = 8;

/** `a3` is a part of size 3 from address a; with `!` it can't be evicted. */
function share(had: string[], perAddress?: number) {
  const shared = createFairShare(LIMIT, perAddress);
  const gone: string[] = [];
  const part = (name: string): Part => ({
    address: name[0]!,
    mayGiveWay: () => !name.endsWith('!'),
    giveWay: () => void gone.push(name),
  });
  const parts = had.map((name) => {
    const each = part(name);
    expect(shared.grow(each, Number(name[1]))).toBe(true);
    return each;
  });
  return { shared, gone, parts, part, grow: (name: string) => shared.grow(part(name), Number(name[1])) };
}

describe('excess entries', () => {
  it.each<[what: string, had: string[], grows: string, fits: boolean, gone: string[]]>([
    ['nothing gives way where there is room', ['a3', 'b3'], 'c2', true, []],
    ['the address that has most', ['b2', 'a3', 'a3'], 'c1', true, ['a3']],
    ['the oldest of it', ['a1', 'a5', 'b2'], 'c1', true, ['a1']],
    ['as many as it takes', ['a1', 'a1', 'a4', 'b2'], 'c2', true, ['a1', 'a1']],
    ['the oldest of its own where it has most', ['a1', 'a5', 'b2'], 'a1', true, ['a1']],
    ['one that has less never does', ['a6!', 'b2'], 'a1', false, []],
    ['nor one that has less than it would get', ['a6!', 'b2'], 'c3', false, []],
    ['the next address where the first cannot', ['a4!', 'b3', 'd1'], 'c1', true, ['b3']],
    ['none where none may', ['a4!', 'b4!'], 'c1', false, []],
    ['what is larger than the limit takes nothing', ['a8!'], 'c9', false, []],
  ])('%s', (_what, had, grows, fits, expected) => {
    const { grow, gone } = share(had);
    expect([grow(grows), gone]).toEqual([fits, expected]);
  });

  it.each<[what: string, had: string[], grows: string, fits: boolean, gone: string[]]>([
    ['the oldest of the same address', ['b1', 'a1', 'a2'], 'a1', true, ['a1']],
    ['only of the same', ['b3', 'a3!'], 'a1', false, []],
  ])('into the part of one address: %s', (_what, had, grows, fits, expected) => {
    const { grow, gone } = share(had, 3);
    expect([grow(grows), gone]).toEqual([fits, expected]);
  });
});

it('a renewed entry is the youngest', () => {
  const { shared, parts, grow, gone } = share(['a3', 'a5']);
  shared.renew(parts[0]!);
  expect([grow('b1'), gone]).toEqual([true, ['a5']]);
});

it('a removed entry frees its place once', () => {
  const { shared, parts, grow, gone } = share(['a8!']);
  shared.remove(parts[0]!);
  shared.remove(parts[0]!);
  expect([grow('b8'), grow('c9'), gone]).toEqual([true, false, []]);
});

it('a part grows in place', () => {
  const { shared, part, grow, gone } = share(['a4!']);
  const growing = part('b');
  expect([shared.grow(growing, 2), shared.grow(growing, 2), grow('c1'), gone]).toEqual([true, true, true, ['b']]);
});
