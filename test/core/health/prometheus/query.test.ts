import { describe, expect, it } from 'vitest';
import type { Rollout } from '../../../../api/types.ts';
import { renderQuery } from '../../../../core/health/prometheus/query.ts';
import { objectOf } from '../../../support/objects.ts';

function rollout(versions: string[], name = 'web'): Rollout {
  const history = versions.map((tag) => ({ version: { tag }, timestamp: '2026-01-02T12:00:00Z' }));
  return objectOf('Rollout', `shop/${name}`, { spec: { releasesImagePolicy: {} }, status: { history } });
}
const WEB = rollout(['1.1.0', '1.0.0']);
const render = (query: string, watching: readonly Rollout[] = [WEB]) => renderQuery(query, watching);

describe('variables', () => {
  it.each([
    ['in double quotes', 'up{version="{{ version }}"}', 'up{version="1.1.0"}'],
    ['in single quotes', "up{version='{{version}}'}", "up{version='1.1.0'}"],
    ['all of them', 'up{a="{{ namespace }}/{{ name }}:{{ previousVersion }}"}', 'up{a="shop/web:1.0.0"}'],
    ['after a string with an escaped quote', 'a{b="\\"",c="{{ name }}"}', 'a{b="\\"",c="web"}'],
    ['after a string that ends with a backslash', 'a{b="\\\\",c="{{ name }}"}', 'a{b="\\\\",c="web"}'],
    ['after a raw string with a backslash', 'a{b=`\\`,c="{{ name }}"}', 'a{b=`\\`,c="web"}'],
    ['after a quote in a comment', 'a # "\n+ b{c="{{ name }}"}', 'a # "\n+ b{c="web"}'],
  ])('%s', (_, template, query) => {
    expect(render(template)).toEqual({ query });
  });

  it('of a first deployment has no previous version', () => {
    expect(render('up{version="{{ previousVersion }}"}', [rollout(['1.0.0'])])).toEqual({ query: 'up{version=""}' });
  });

  it.each([
    ['outside of quotes', 'up == {{ version }}', 'outside of quotes'],
    ['in a raw string, which has no escapes', 'up{a=`{{ version }}`}', 'outside of quotes'],
    ['in a comment', 'up # "{{ version }}"', 'outside of quotes'],
    ['after the end of a string', 'up{a="\\\\"{{ version }}"}', 'outside of quotes'],
    ['that is not known', 'up{a="{{ tag }}"}', 'the unknown variable {{ tag }}; known: {{ namespace }}'],
    ['that is a property of every object', 'up{a="{{ constructor }}"}', 'the unknown variable'],
    ['that does not end', 'up{a="{{ version"}', 'the unknown variable'],
    ['that is very long', `up{a="{{${' '.repeat(2000)}version}}"}`, 'the unknown variable'],
  ])('are refused: %s', (_, template, problem) => {
    expect(render(template)).toEqual({ problem: expect.stringContaining(problem) });
  });

  it.each([
    ['double', '"', '\\"'],
    ['single', "'", "\\'"],
  ])('a value cannot leave a string in %s quotes, nor bring one of its own', (_, quote, escaped) => {
    const version = `1${quote}} or up{a=${quote}\\`;
    expect(render(`up{v=${quote}{{ version }}${quote}}`, [rollout([version])])).toEqual({
      query: `up{v=${quote}1${escaped}} or up{a=${escaped}\\\\${quote}}`,
    });
  });

  it('a value adds no line and no variable', () => {
    expect(render('up{v="{{ version }}"}', [rollout(['a\n{{ name }}'])])).toEqual({
      query: 'up{v="a\\x0a{{ name }}"}',
    });
  });
});

describe('the Rollout that they are of', () => {
  it.each([
    ['nobody watches', [], 'no Rollout watches this check'],
    [
      'two watch',
      [WEB, rollout(['2.0.0'], 'api')],
      '2 Rollouts watch this check: give each Rollout a check of its own',
    ],
    ['it has deployed nothing', [rollout([])], "Rollout 'web' has deployed nothing yet"],
  ])('can’t be known where %s', (_, watching, problem) => {
    expect(render('up{a="{{ name }}"}', watching)).toEqual({ problem: expect.stringContaining(problem) });
  });

  it('does not matter where there are none', () => {
    expect(render('up == 1', [])).toEqual({ query: 'up == 1' });
  });
});

it('a query may be as long as the limit, and no longer', () => {
  const long = (length: number) => `up{v="{{ version }}",a="${'x'.repeat(length - 'up{v="1.1.0",a=""}'.length)}"}`;
  expect(render(long(2048))).toHaveProperty('query');
  expect(render(long(2049))).toEqual({ problem: expect.stringContaining('(limit metricQuery)') });
});
