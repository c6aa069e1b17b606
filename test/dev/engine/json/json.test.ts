import { describe, expect, it } from 'vitest';
import { goJson } from '../../../../dev/engine/json/json.ts';

describe('JSON as Go writes it', () => {
  it('sorts keys and escapes <, > and &', () => {
    expect(goJson({ b: '<a> & b', a: [{ d: 1, c: null }] })).toBe(
      '{"a":[{"c":null,"d":1}],"b":"\\u003ca\\u003e \\u0026 b"}',
    );
  });
});
