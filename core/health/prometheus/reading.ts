/** The numbers in Prometheus' answer to an instant query: labels and texts of the answer are dropped. */
import type { Reading } from '../../../api/ports.ts';
import { childOf } from '../../kube/json.ts';
import { LIMITS } from '../../limits.ts';

const NOT_AN_ANSWER = 'the answer is not that of a Prometheus: see spec.address of the MetricProvider';

/**
 * The numbers of a response, or its problem.
 * @param body the JSON of a response to /api/v1/query; it may hold anything
 */
export function readingOf(body: unknown): Reading {
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
