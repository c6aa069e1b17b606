import { describe, expect, it } from 'vitest';
import { goJsonBytes } from '../../../core/kube/json.ts';

/** The text of Go's json.Marshal. */
const asGo = (value: unknown) =>
  JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

describe('the bytes of a value as Go writes it', () => {
  it.each<[unknown]>([
    [null],
    [true],
    [-1.5],
    [''],
    ['plain'],
    ['a<b>&c'],
    ['\u2028\u2029'],
    ['"quoted" \\ and\nmore\u0001'],
    ['ä€😀'],
    [[]],
    [{}],
    [[1, 2, [3]]],
    [{ a: 1, 'b<': [{ c: 'd' }, null], e: {} }],
    [{ gone: undefined, there: 1 }],
    [[undefined]],
  ])('%j', (value) => {
    expect(goJsonBytes(value)).toBe(Buffer.byteLength(asGo(value)));
  });

  it('is counted in linear time, however deep and however much is escaped', () => {
    let deep: unknown = '<'.repeat(1_000_000);
    for (let i = 0; i < 100_000; i++) deep = [deep];
    expect(goJsonBytes(deep)).toBe(6_000_002 + 200_000);
  });
});
