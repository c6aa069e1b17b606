import fc from 'fast-check';
import jsonpatch from 'jsonpatch';
import { expect, it } from 'vitest';
import { patchOf } from '../../webhooks/response.ts';

/**
 * The value after a round trip through JSON, which has no -0. Without the key `__proto__`: the library that applies the
 * patch sets the prototype for it; the API server doesn't.
 */
const json = fc
  .dictionary(fc.constantFrom('a', 'b/c', 'd~e', 'metadata'), fc.jsonValue({ maxDepth: 5 }), { maxKeys: 4 })
  .map((value) => JSON.stringify(value))
  .filter((text) => !text.includes('__proto__'))
  .map((text) => JSON.parse(text));

it('makes one object of any other', () => {
  fc.assert(
    fc.property(json, json, (before, after) => {
      expect(jsonpatch.apply_patch(structuredClone(before), structuredClone(patchOf(before, after)))).toEqual(after);
    }),
  );
});

it('is empty for the same object with its keys in another order', () => {
  expect(patchOf({ a: 1, b: { c: 2, d: 3 } }, { b: { d: 3, c: 2 }, a: 1 })).toEqual([]);
});

it('names one annotation, and no deeper level than the third', () => {
  const before = { metadata: { annotations: { 'a/b': '1', c: '2' } }, spec: { values: { x: { y: { z: 1 } } } } };
  const after = { metadata: { annotations: { 'a/b': '2', c: '2' } }, spec: { values: { x: { y: { z: 2 } } } } };
  expect(patchOf(before, after)).toEqual([
    { op: 'replace', path: '/metadata/annotations/a~1b', value: '2' },
    { op: 'replace', path: '/spec/values/x', value: { y: { z: 2 } } },
  ]);
});
