import { describe, expect, it } from 'vitest';
import { mergeThreeWay } from '../../../../dev/engine/children/merge.ts';
import type { JsonObject } from '../../../../dev/engine/json/json.ts';

interface Case {
  name: string;
  observed: JsonObject;
  lastApplied?: JsonObject;
  desired: JsonObject;
  merged: JsonObject;
}

const cases: Case[] = [
  { name: 'sets what is wanted', observed: { a: 1 }, desired: { a: 2, b: 3 }, merged: { a: 2, b: 3 } },
  { name: "keeps others' fields", observed: { a: 1, theirs: 2 }, desired: { a: 1 }, merged: { a: 1, theirs: 2 } },
  {
    name: 'removes what was applied and is wanted no more',
    observed: { a: 1, b: { c: 1, theirs: 2 } },
    lastApplied: { a: 1, b: { c: 1 } },
    desired: { b: {} },
    merged: { b: { theirs: 2 } },
  },
  { name: 'null stays null', observed: { a: 1 }, desired: { a: null }, merged: { a: null } },
  { name: 'an empty map that is not there is a change', observed: {}, desired: { labels: {} }, merged: { labels: {} } },
  { name: 'an empty list empties a list of texts', observed: { a: ['x'] }, desired: { a: [] }, merged: { a: [] } },
  {
    name: 'a list with names is merged: observed first, new ones at the end',
    observed: { a: [{ name: 'theirs' }, { name: 'x', v: 1, theirs: 2 }, { name: 'old' }] },
    lastApplied: { a: [{ name: 'x', v: 1 }, { name: 'old' }] },
    desired: { a: [{ name: 'new' }, { name: 'x', v: 3 }] },
    merged: { a: [{ name: 'theirs' }, { name: 'x', v: 3, theirs: 2 }, { name: 'new' }] },
  },
  {
    name: 'port is taken for the key before name',
    observed: { a: [{ port: 80, name: 'b' }] },
    desired: {
      a: [
        { port: 80, name: 'c' },
        { port: 443, name: 'b' },
      ],
    },
    merged: {
      a: [
        { port: 80, name: 'c' },
        { port: 443, name: 'b' },
      ],
    },
  },
  {
    name: 'a list where one item has no key is replaced',
    observed: { a: [{ name: 'x' }, { other: 1 }] },
    desired: { a: [{ name: 'y' }] },
    merged: { a: [{ name: 'y' }] },
  },
];

describe('three-way merge', () => {
  it.each(cases)('$name', ({ observed, lastApplied = {}, desired, merged }) => {
    const before = structuredClone(observed);
    expect(mergeThreeWay(observed, lastApplied, desired)).toEqual(merged);
    expect(observed).toEqual(before);
  });
});
