/** The numbers in Prometheus' answer to an instant query. Of labels and texts only a warning is kept. */
import type { Reading } from '../../../api/ports.ts';
import { childOf } from '../../kube/json.ts';
import { LIMITS } from '../../limits.ts';
import { boundedLine } from '../../text/oneLine.ts';

const NOT_AN_ANSWER = 'the answer is not from a Prometheus: check spec.address of the MetricProvider';

/** Characters of a warning. */
const MAX_WARNING = 200;

/**
 * The numbers of a response, or its problem. An answer that may lack series is no reading: it would count as empty, or
 * as inside the range.
 * @param body the JSON of a response to /api/v1/query; it may hold anything
 */
export function readingOf(body: unknown): Reading {
  const reading = numbersOf(body);
  const why = 'problem' in reading ? undefined : incompleteness(body);
  return why === undefined ? reading : { problem: `the answer may be incomplete: ${why}` };
}

/** Why an answer may lack series: Thanos, for example, warns of a store that doesn't answer. */
function incompleteness(body: unknown): string | undefined {
  const warnings = childOf(body, 'warnings');
  const first = Array.isArray(warnings) ? warnings.find((warning) => !isInfo(warning)) : undefined;
  if (typeof first === 'string') return `the provider warns "${boundedLine(first, MAX_WARNING)}"`;
  if (first !== undefined) return 'the provider warns';
  return childOf(body, 'isPartial') === true ? 'the provider reports it as partial' : undefined;
}

/**
 * Whether a warning is only an info annotation, such as a counter whose name doesn't end in `_total`. Thanos and
 * Prometheus before 2.54 list infos among the warnings, where nothing but Prometheus' prefix distinguishes them.
 */
function isInfo(warning: unknown): boolean {
  return typeof warning === 'string' && warning.startsWith('PromQL info: ');
}

/** The numbers of a response, whatever it lacks. */
function numbersOf(body: unknown): Reading {
  const data = childOf(body, 'data');
  const [resultType, result] = [childOf(data, 'resultType'), childOf(data, 'result')];
  if (childOf(body, 'status') !== 'success' || !Array.isArray(result)) return { problem: NOT_AN_ANSWER };
  if (resultType === 'scalar') return numbers([result]);
  if (resultType === 'vector') return numbers(result.map((series) => childOf(series, 'value')));
  return { problem: 'the query must return a scalar or an instant vector: wrap a range in a function such as rate(…)' };
}

/**
 * The numbers of the samples.
 * @param samples `[time, value]` each
 */
function numbers(samples: readonly unknown[]): Reading {
  if (samples.length > LIMITS.metricSeries) {
    const todo = 'aggregate in the query, for example with sum or max';
    return { problem: `the result has more than ${LIMITS.metricSeries} series (limit metricSeries): ${todo}` };
  }
  const values = samples.map((sample) => (Array.isArray(sample) ? numberOf(sample[1]) : undefined));
  if (values.every((value) => value !== undefined)) return { values };
  // A native histogram has no value.
  return { problem: 'the result has a series without a number: take one from a histogram with histogram_quantile(…)' };
}

function numberOf(text: unknown): number | undefined {
  if (text === 'NaN') return Number.NaN;
  if (text === '+Inf' || text === 'Inf') return Number.POSITIVE_INFINITY;
  if (text === '-Inf') return Number.NEGATIVE_INFINITY;
  if (typeof text !== 'string' || text.trim() === '') return undefined;
  const value = Number(text);
  return Number.isNaN(value) ? undefined : value;
}
