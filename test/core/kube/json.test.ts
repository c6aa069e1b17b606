import { expect, it } from 'vitest';
import { sameJson, toWellFormedJson } from '../../../core/kube/json.ts';

/** The API server takes JSON of 10,000 levels. */
const deep = (leaf: string) => JSON.parse(`${'{"a":['.repeat(5000)}"${leaf}"${']}'.repeat(5000)}`);

it('JSON deeper than the stack is compared: otherwise a deeply nested object couldn’t be suspended', () => {
  expect(sameJson(deep('x'), deep('x'))).toBe(true);
  expect(sameJson(deep('x'), deep('y'))).toBe(false);
});

it.each([
  [{ a: 1, b: [2] }, { b: [2], a: 1 }, true],
  [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
  [{ a: 1, b: undefined }, { a: 1 }, true],
  [{ a: undefined }, { b: undefined }, true],
  [{ a: null }, {}, false],
  [{ a: [] }, { a: {} }, false],
  [[], [undefined], false],
  [{ 0: 'a' }, ['a'], false],
  [{ a: null }, { a: {} }, false],
  [[1, 2], [2, 1], false],
  [undefined, {}, false],
])('%j and %j: %s', (a, b, same) => {
  expect(sameJson(a, b)).toBe(same);
});

it('texts are made as Go stores them, however deep', () => {
  const half = '\ud83d';
  expect(toWellFormedJson({ a: [half, 1, null, { b: `x${half}` }], c: undefined })).toEqual({
    a: ['\ufffd', 1, null, { b: 'x\ufffd' }],
  });
  expect(toWellFormedJson('\u{1f600}')).toBe('\u{1f600}');
  expect(toWellFormedJson(JSON.parse('{"__proto__":{"a":1}}'))).toEqual(JSON.parse('{"__proto__":{"a":1}}'));
  expect(sameJson(toWellFormedJson(deep('x')), deep('x'))).toBe(true);
});
