import { describe, expect, it } from 'vitest';
import type { LabelSelector } from '../../../api/kubernetes.ts';
import { compileSelector } from '../../../dev/engine/selector.ts';

const on = (key: string, operator: string, values?: string[]): LabelSelector => ({
  matchExpressions: [{ key, operator, values }],
});

describe('label selector', () => {
  it.each<[LabelSelector | undefined, Record<string, string> | undefined, boolean]>([
    [undefined, undefined, true],
    [{}, { a: '1' }, true],
    [{ matchLabels: { a: '1' } }, { a: '1', b: '2' }, true],
    [{ matchLabels: { a: '1' } }, { a: '2' }, false],
    [{ matchLabels: { a: '1' } }, undefined, false],
    [on('a', 'In', ['1', '2']), { a: '2' }, true],
    [on('a', 'NotIn', ['1']), { a: '1' }, false],
    [on('a', 'NotIn', ['1']), {}, true],
    [on('a', 'Exists'), { a: '' }, true],
    [on('a', 'Exists'), {}, false],
    [on('a', 'DoesNotExist'), {}, true],
    [on('a', 'DoesNotExist'), { a: '' }, false],
  ])('%j on %j: %s', (selector, labels, matches) => {
    expect(compileSelector(selector).matches(labels)).toBe(matches);
  });

  it.each<[LabelSelector, RegExp]>([
    [on('a', 'Like', ['1']), /"Like" is not one of/],
    [on('a', 'In'), /In of a needs values/],
    [on('a', 'Exists', ['1']), /takes no values/],
    [{ matchLabels: { 'not a key': '1' } }, /"not a key" is not a label key/],
    [{ matchLabels: { a: 'not a value' } }, /"not a value" is not a value/],
    [{ matchLabels: { a: 'x'.repeat(64) } }, /is not a value/],
  ])('%j is refused', (selector, message) => {
    expect(() => compileSelector(selector)).toThrow(message);
  });

  it.each<[LabelSelector, string | undefined]>([
    [{ matchLabels: { a: '1' } }, 'a=1'],
    [on('a', 'Exists'), 'a'],
    [on('a', 'In', ['1', '2']), 'a'],
    [{ ...on('a', 'Exists'), matchLabels: { b: '2' } }, 'b=2'],
    [on('a', 'NotIn', ['1']), undefined],
    [on('a', 'DoesNotExist'), undefined],
  ])('every match of %j has %s', (selector, anchor) => {
    expect(compileSelector(selector).anchor).toBe(anchor);
  });
});
