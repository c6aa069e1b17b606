import { describe, expect, it } from 'vitest';
import { readingOf } from '../../../../core/health/prometheus/reading.ts';

const answer = (resultType: string, result: unknown) => ({ status: 'success', data: { resultType, result } });
const series = (...values: string[]) => values.map((value) => ({ metric: { secret: 'label' }, value: [1, value] }));
const problem = (text: string) => ({ problem: expect.stringContaining(text) });

it.each([
  ['a vector', answer('vector', series('0.5', '2', '1e-05')), { values: [0.5, 2, 0.00001] }],
  ['an empty one', answer('vector', []), { values: [] }],
  ['a scalar', answer('scalar', [1, '3']), { values: [3] }],
  ['what is no number', answer('vector', series('NaN', '+Inf', '-Inf')), { values: [NaN, Infinity, -Infinity] }],
  ['as many series as the limit', answer('vector', series(...Array(100).fill('1'))), { values: Array(100).fill(1) }],
  ['more', answer('vector', series(...Array(101).fill('1'))), problem('more than 100 series (limit metricSeries)')],
  ['a range', answer('matrix', [{ values: [[1, '1']] }]), problem('a scalar or an instant vector')],
  ['a string', answer('string', [1, 'a']), problem('a scalar or an instant vector')],
  ['a native histogram', answer('vector', [{ histogram: [1, {}] }]), problem('histogram_quantile')],
  ['no text as a value', answer('vector', [{ value: [1, 1] }, {}, null]), problem('without a number')],
  ['an empty text as a value', answer('vector', series('')), problem('without a number')],
  ['a word as a value', answer('vector', series('many')), problem('without a number')],
  ['an error', { status: 'error', data: answer('vector', series('1')).data }, problem('spec.address')],
  ['another API', { status: 'success', data: { result: {} } }, problem('spec.address')],
  ['nothing', null, problem('spec.address')],
  ['a list', [], problem('spec.address')],
])('of %s', (_, body, reading) => {
  expect(readingOf(body)).toEqual(reading);
});

describe('an answer that may lack series', () => {
  const STORE = 'receive series from Addr: store-0:10901: rpc error: code = Unavailable';
  const INFO = 'PromQL info: metric might not be a counter, name does not end in _total: "requests"';
  const warns = (text: string) => ({ problem: `the answer may be incomplete: the provider warns "${text}"` });
  const empty = answer('vector', []);

  it.each([
    ['a warning of a store', { ...empty, warnings: [STORE] }, warns(STORE)],
    ['a warning about the query', { ...empty, warnings: ['PromQL warning: a mix'] }, warns('PromQL warning: a mix')],
    ['a warning besides numbers', { ...answer('vector', series('1')), warnings: [STORE] }, warns(STORE)],
    ['a warning besides infos', { ...empty, warnings: [INFO, STORE, 'another'] }, warns(STORE)],
    ['a mark', { ...empty, isPartial: true }, problem('the provider reports it as partial')],
    [
      'a hostile text',
      { ...empty, warnings: [`\u001b[2J\u202e\n${'x'.repeat(5000)}`] },
      warns(`[2J ${'x'.repeat(194)}`),
    ],
    ['no text', { ...empty, warnings: [{ toString: 1 }] }, problem('the provider warns')],
    [
      'more series than the limit, which the provider warns of too',
      { ...answer('vector', series(...Array(101).fill('1'))), warnings: ['truncated'] },
      problem('metricSeries'),
    ],
  ])('is no reading: %s', (_, body, reading) => {
    expect(readingOf(body)).toEqual(reading);
  });

  it.each([
    ['infos', { infos: [INFO] }],
    ['infos among the warnings', { warnings: [INFO, INFO] }],
    ['no warnings', { warnings: [], isPartial: false }],
    ['null', { warnings: null }],
  ])('is not one with %s', (_, more) => {
    expect(readingOf({ ...empty, ...more })).toEqual({ values: [] });
  });
});

it('holds neither labels nor other texts', () => {
  for (const body of [answer('vector', series('1')), answer('vector', series('secret')), { status: 'secret' }]) {
    expect(JSON.stringify(readingOf(body))).not.toContain('secret');
  }
});
