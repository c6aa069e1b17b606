import { RE2JS } from 're2js';
import { describe, expect, it, vi } from 'vitest';
import { LIMITS } from '../../../core/limits.ts';
import { policyRules } from '../../../core/policy/rules.ts';
import { compileExtract, type Extract } from '../../../core/policy/tagFilter.ts';
import { objectOf } from '../../support/objects.ts';

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
    expect(extractOf(filter)(tag)).toBe(expected);
  });

  it('returns nothing for a tag that doesn’t match', () => {
    expect(extractOf({ pattern: '^v', extract: '$0' })('1.0')).toBeUndefined();
  });

  it.each(['(', '(?=a)', '\\1', 'a{1001}', '(a{1000}){1000}', `${'('.repeat(1100)}`, 'a'.repeat(300), '[a-z]{1,900}'])(
    'does not evaluate %s, and says why',
    (pattern) => {
      expect(compileExtract({ pattern })).toEqual({ problem: expect.stringMatching(/\w/) });
    },
  );

  it.each([
    ['$1x', ''],
    // biome-ignore-start lint/suspicious/noTemplateCurlyInString: Go's template syntax.
    ['${1}x', '7x'],
    ['${1', '${1'],
    ['${}', '${}'],
    // biome-ignore-end lint/suspicious/noTemplateCurlyInString: Go's template syntax.
    ['$01', ''],
    ['$0', 'x7'],
    ['$$1$', '$1$'],
    ['$-$n', '$-7'],
    ['$__proto__$constructor$2', ''],
  ])('expands %s as Go does', (extract, expected) => {
    expect(extractOf({ pattern: '^x(?P<n>\\d)$', extract })('x7')).toBe(expected);
  });
});

// A backtracking matcher would need years: the limit is the timeout of a test.
describe('a pattern that makes a backtracking matcher slow', () => {
  const tags = Array.from({ length: 20 }, (_, i) => `${'a'.repeat(40 + i)}x`);

  it('is answered', () => {
    for (const tag of tags) expect(extractOf({ pattern: '^(a|a?)+$' })(tag)).toBeUndefined();
  });

  it('is compiled once, and evaluated once per tag', () => {
    const filter = { pattern: '^(a+)+b$' };
    expect(compileExtract({ ...filter })).toBe(compileExtract(filter));
  });

  it.each([
    ['a pattern', { pattern: 'a'.repeat(LIMITS.pattern + 1) }],
    ['a template', { pattern: 'a', extract: '$0'.repeat(LIMITS.pattern) }],
  ])('%s beyond the limit is named', (_, filter) => {
    expect(compileExtract(filter)).toMatchObject({ problem: expect.stringContaining(`${LIMITS.pattern} characters`) });
  });

  it('with more instructions times groups than the limit is named, where the template takes groups', () => {
    const pattern = `^${'(a*)'.repeat(60)}$`;
    expect(compileExtract({ pattern, extract: '$1' })).toMatchObject({
      problem: expect.stringContaining(`more than ${LIMITS.patternWork}`),
    });
    expect(extractOf({ pattern })('aaa')).toBe('aaa');
  });

  it.each([
    [
      'all of a semantic version',
      String.raw`^v?(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-([0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*))?(?:\+([0-9A-Za-z.-]+))?$`,
    ],
    ['branch, commit and time', '^(?P<branch>[a-zA-Z0-9-_]+)-(?P<sha>[a-f0-9]{7,40})-(?P<ts>[0-9]{10})$'],
  ])('a pattern for %s is within that limit', (_, pattern) => {
    expect(compileExtract({ pattern, extract: '$1' })).toBeInstanceOf(Function);
  });

  it('a pattern that takes a second for 1000 long tags is beyond it', () => {
    expect(compileExtract({ pattern: '(?:a?){200}()$', extract: '$1' })).toMatchObject({
      problem: expect.stringContaining('instructions times its groups'),
    });
  });

  it.each([
    ['one list', [0]],
    ['two Rollouts with other tags', [0, 10_000]],
  ])(
    'is evaluated once for each tag of as many releases as a Rollout may have, %s, decision after decision',
    (name, starts) => {
      const evaluations = vi.spyOn(RE2JS.prototype, 'exec');
      const count = LIMITS.availableReleases + LIMITS.history;
      const lists = starts.map((start) => Array.from({ length: count }, (_, i) => `v${start + i}`));
      for (let decision = 0; decision < 3; decision++) {
        for (const list of lists) for (const tag of list) extractOf({ pattern: `^v(.*)$|${name}`, extract: '$1' })(tag);
      }
      expect(evaluations).toHaveBeenCalledTimes(count * lists.length);
      evaluations.mockRestore();
    },
  );

  it('is evaluated once for each tag in a sync, if more Rollouts share it and their syncs take turns', () => {
    const evaluations = vi.spyOn(RE2JS.prototype, 'exec');
    const filterTags = { pattern: '^v(.*)$|turns', extract: '$1' };
    const syncs = [0, 10_000, 20_000].map((start) => ({
      policy: objectOf('ImagePolicy', 'apps/app', { spec: { filterTags, policy: { numerical: {} } } }),
      tags: Array.from({ length: LIMITS.availableReleases }, (_, i) => `v${start + i}`),
    }));
    for (let decision = 0; decision < 3; decision++) {
      for (const { policy, tags } of syncs) for (const tag of tags) policyRules(policy).rejection(tag);
    }
    expect(evaluations).toHaveBeenCalledTimes(3 * LIMITS.availableReleases);
    evaluations.mockRestore();
  });

  it('costs no groups where no template takes them', () => {
    const evaluations = vi.spyOn(RE2JS.prototype, 'exec');
    expect(extractOf({ pattern: '^(a*)(b*)$' })('aabb')).toBe('aabb');
    expect(extractOf({ pattern: '^(a*)(b*)$' })('c')).toBeUndefined();
    expect(evaluations).not.toHaveBeenCalled();
    evaluations.mockRestore();
  });

  it('a tag that is too long doesn’t match, nor one whose result is too long', () => {
    expect(extractOf({ pattern: 'a' })('a'.repeat(129))).toBeUndefined();
    expect(extractOf({ pattern: '.+', extract: '$0'.repeat(100) })('a'.repeat(128))).toBeUndefined();
  });
});

function extractOf(filter: Parameters<typeof compileExtract>[0]): Extract {
  const extract = compileExtract(filter);
  if ('problem' in extract) throw new Error(extract.problem);
  return extract;
}
