/** CEL as manifests/ uses it, compared with cel-go. */
import { describe, expect, it } from 'vitest';
import { compile } from '../../../dev/sim/apiServer/cel.ts';

const scope = { o: { spec: { a: 1, list: [1, 2] }, metadata: { labels: { x: 'y' } } }, none: null };

describe('CEL', () => {
  it.each([
    ['1 + 2 * 3 == 7 && !false', true],
    ["o.spec.?a.orValue(0) == 1 ? 'yes' : 'no'", 'yes'],
    ['o.?status.?history.orValue([]).size() == 0', true],
    ["o.metadata.?labels[?'x'].orValue('') + '@'", 'y@'],
    ["o.metadata.?annotations[?'x'].hasValue()", false],
    ['o.?spec == o.?spec && o.?status == o.?other', true],
    ['has(o.spec.b) || has(o.spec.a)', true],
    ['o.spec.list.exists(i, i == 2) && o.spec.list.all(i, i > 0)', true],
    ['o.spec.list.map(i, i + 1).filter(i, i > 2).sum()', 3],
    ["'x' in o.metadata.labels && !(3 in o.spec.list)", true],
    ['[o, none].exists(i, i != null && has(i.metadata.labels))', true],
    ['has([o.spec][0].a) && !has([o.spec][0].b)', true],
    ['o.spec.list[0] + 1', 2],
    ["'a.b'.startsWith('a') && 'ab'.matches('^[a-z]+$') && 'ab'.contains('b')", true],
    ["size(bytes('%s'.format([o.spec.list]))) == 5 && size('ab') + o.spec.a == 3", true],
    ["{'k': 1}.all(k, k == 'k')", true],
  ])('%s', (source, value) => expect(compile(source)(scope)).toEqual(value));

  it('forgives an error that does not decide', () => {
    expect(compile('o.missing == 1 || true')(scope)).toBe(true);
    expect(compile('false && o.missing == 1')(scope)).toBe(false);
    expect(() => compile('o.missing == 1 || false')(scope)).toThrow('No such key');
  });

  it.each(['1 +', 'a b', "unknown('x')", '@'])('refuses %s', (source) => expect(() => compile(source)).toThrow());
});
