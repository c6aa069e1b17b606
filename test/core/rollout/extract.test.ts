import { describe, expect, it } from 'vitest';
import { compileExtract } from '../../../core/rollout/extract.ts';

describe('compileExtract', () => {
  it.each([
    [{ pattern: '^v(?P<v>.*)$', extract: '$v' }, 'v1.2.3', '1.2.3'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Go's template syntax.
    [{ pattern: '^(?P<a>[a-z]+)-(?P<b>\\d+)$', extract: '${b}.${a}' }, 'main-7', '7.main'],
    [{ pattern: '^x([0-9]+)$', extract: '$1' }, 'x42', '42'],
    [{ pattern: '^x$', extract: '$nobody' }, 'x', ''],
    [{ pattern: '^RC-(\\d+)$' }, 'RC-1', 'RC-1'],
    [{ pattern: '(?i)^rc-(\\d+)$', extract: '$1' }, 'RC-1', '1'],
    [undefined, 'anything', 'anything'],
  ])('%j of %s is %j', (filter, tag, expected) => {
    expect(compileExtract(filter)!(tag)).toBe(expected);
  });

  it('gives nothing for a tag that does not match', () => {
    expect(compileExtract({ pattern: '^v', extract: '$0' })!('1.0')).toBeUndefined();
  });

  it.each(['^(a+)+$', '^(a|aa)*$', '(?P<x>.*.*.*.*.*)', '(', 'a'.repeat(300)])('does not evaluate %s', (pattern) => {
    expect(compileExtract({ pattern })).toBeUndefined();
  });

  it('evaluates what it accepts in a moment', () => {
    const started = performance.now();
    compileExtract({ pattern: '^(.*)x(.*)y(.*)z(.*)$' })!('xyxyxyxy'.repeat(16));
    expect(performance.now() - started).toBeLessThan(500);
  });
});
