import { describe, expect, it } from 'vitest';
import { goJson, jsonEqual } from '../../../../dev/engine/json/json.ts';

describe('deep equality', () => {
  it.each<[unknown, unknown, boolean]>([
    [{ a: 1, b: [1, { c: null }] }, { b: [1, { c: null }], a: 1 }, true],
    [{ a: null }, {}, false],
    [{}, { a: null }, false],
    [{ labels: {} }, {}, false],
    [undefined, {}, false],
    [[1, 2], [2, 1], false],
    [[], {}, false],
    [{ a: 1 }, { b: 1 }, false],
    ['1', 1, false],
  ])('%j and %j: %s', (a, b, equal) => {
    expect(jsonEqual(a, b)).toBe(equal);
  });
});

describe('JSON as Go writes it', () => {
  it('sorts keys and escapes <, > and &', () => {
    expect(goJson({ b: '<a> & b', a: [{ d: 1, c: null }] })).toBe(
      '{"a":[{"c":null,"d":1}],"b":"\\u003ca\\u003e \\u0026 b"}',
    );
  });
});
