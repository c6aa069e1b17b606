import { describe, expect, it } from 'vitest';
import type { LabelSelector } from '../../../api/kubernetes.ts';
import { matchesSelector, SelectorError, toSelectorString } from '../../../core/kube/selector.ts';
import { costInReadings } from '../../support/cost.ts';

const labels = { app: 'web', tier: 'front', empty: '' };
const expression = (key: string, operator: string, values?: string[]): LabelSelector => ({
  matchExpressions: [{ key, operator, ...(values && { values }) }],
});

const exists = (key: string) => expression(key, 'Exists').matchExpressions!;
const isAbsent = (key: string) => expression(key, 'DoesNotExist').matchExpressions!;
const isIn = (key: string, ...values: string[]) => expression(key, 'In', values).matchExpressions!;
const notIn = (key: string, ...values: string[]) => expression(key, 'NotIn', values).matchExpressions!;

describe('a selector matches as in apimachinery', () => {
  it.each<[LabelSelector | undefined, boolean, string]>([
    [undefined, true, ''],
    [{}, true, ''],
    [{ matchLabels: { app: 'web' } }, true, 'app=web'],
    [{ matchLabels: { app: 'web', tier: 'back' } }, false, 'app=web,tier=back'],
    [{ matchLabels: { empty: '' } }, true, 'empty='],
    [{ matchLabels: { absent: '' } }, false, 'absent='],
    [expression('app', 'In', ['web', 'api']), true, 'app in (api,web)'],
    [expression('absent', 'In', ['web']), false, 'absent in (web)'],
    [expression('app', 'NotIn', ['web']), false, 'app notin (web)'],
    [expression('absent', 'NotIn', ['web']), true, 'absent notin (web)'],
    [expression('empty', 'Exists'), true, 'empty'],
    [expression('empty', 'DoesNotExist'), false, '!empty'],
    [expression('constructor', 'Exists'), false, 'constructor'],
    [{ matchLabels: { app: 'web' }, ...expression('tier', 'DoesNotExist') }, false, 'app=web,!tier'],
    [{ matchLabels: { app: 'web' }, ...expression('app', 'In', ['api']) }, false, 'app=web,app in (api)'],
    [{ matchExpressions: [...exists('app'), ...isIn('app', 'api', 'web')] }, true, 'app,app in (api,web)'],
    [{ matchExpressions: [...isIn('app', 'web'), ...exists('app')] }, true, 'app in (web),app'],
    [{ matchExpressions: [...isIn('app', 'web', 'x'), ...isIn('app', 'x')] }, false, 'app in (web,x),app in (x)'],
    [{ matchExpressions: [...notIn('app', 'web'), ...notIn('app', 'api')] }, false, 'app notin (web),app notin (api)'],
    [{ matchExpressions: [...isAbsent('app'), ...notIn('app', 'api')] }, false, '!app,app notin (api)'],
    [{ matchExpressions: [...notIn('app', 'api'), ...isAbsent('app')] }, false, 'app notin (api),!app'],
    [{ matchExpressions: [...notIn('app', 'api'), ...isIn('app', 'web')] }, true, 'app notin (api),app in (web)'],
  ])('%j', (selector, matches, text) => {
    expect(matchesSelector(selector, labels)).toBe(matches);
    expect(toSelectorString(selector)).toBe(text);
    const withMany = { ...selector, matchExpressions: [...(selector?.matchExpressions ?? []), ...manyKeys] };
    expect(matchesSelector(withMany, labels), 'with many more keys').toBe(matches);
  });

  const manyKeys = Array.from({ length: 1000 }, (_, i) => notIn(`key-${i}`, 'x')).flat();

  it.each([
    ['with thousands of labels', { count: 10_000, selector: { matchLabels: { app: 'web' } } }],
    ['with thousands of conditions', { count: 10, selector: { matchExpressions: manyKeys } }],
  ])('%s at little cost', (_, { count, selector }) => {
    const many = Object.fromEntries(Array.from({ length: count }, (_, i) => [`label-${i}`, '']));
    const selectors = Array.from({ length: 200 }, () => ({ ...selector }));
    for (const each of selectors) matchesSelector(each, {});
    const match = () => selectors.map((each) => matchesSelector(each, many));
    expect(costInReadings([many, selector], match)).toBeLessThan(2);
  });
});

describe('a selector that does not compile is refused even where it would not matter', () => {
  it.each<[LabelSelector, string]>([
    [expression('app', 'Equals', ['web']), 'matchExpressions[0].operator'],
    [expression('app', 'In'), 'matchExpressions[0].values'],
    [expression('app', 'Exists', ['web']), 'matchExpressions[0].values'],
    [expression('app', 'In', ['a b']), 'matchExpressions[0].values[0]'],
    [expression('-app', 'Exists'), 'matchExpressions[0].key'],
    [expression('a/b/c', 'Exists'), 'matchExpressions[0].key'],
    [{ matchLabels: { 'Upper.Case/app': 'web' } }, 'matchLabels'],
    [{ matchLabels: { app: 'x'.repeat(64) } }, 'matchLabels[app]'],
  ])('%j', (selector, field) => {
    const error = (() => {
      try {
        matchesSelector(selector, {});
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(error).toBeInstanceOf(SelectorError);
    expect(error).toMatchObject({ field });
  });
});
