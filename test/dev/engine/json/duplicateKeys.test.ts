import { describe, expect, it } from 'vitest';
import { findDuplicateKey } from '../../../../dev/engine/json/duplicateKeys.ts';

describe('duplicate keys', () => {
  it.each<[string, string | undefined]>([
    ['{"a":1,"b":2}', undefined],
    ['{"a":1,"a":2}', 'a'],
    ['{"a":{"b":1},"c":[{"b":1},{"b":2}]}', undefined],
    ['{"a":{"b":1,"x":[],"b":2}}', 'b'],
    ['[{"a":1},{"c":1,"c":1}]', 'c'],
    ['{"a":"a","b":"a"}', undefined],
    ['{"a":["b","b"]}', undefined],
    ['{"a\\"":1,"a\\\\":2,"a":3}', undefined],
    ['{"a":"{\\"a\\":1,\\"a\\":1}"}', undefined],
    ['{"\\u0061":1,"a":2}', 'a'],
    ['{}', undefined],
    ['null', undefined],
  ])('%s: %s', (text, key) => {
    expect(findDuplicateKey(text)).toBe(key);
  });
});
