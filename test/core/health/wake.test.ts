import { describe, expect, it } from 'vitest';
import type { RolloutSpec } from '../../../api/types.ts';
import { association } from '../../../core/health/association.ts';
import { wakingRules, watchesLabel } from '../../../core/health/wake.ts';
import { matchesSelector } from '../../../core/kube/selector.ts';
import { healthCheck, rollout } from '../../hooks/healthCheck/fixture.ts';

const watching = (healthCheckSelector?: RolloutSpec['healthCheckSelector']) =>
  rollout(undefined, healthCheckSelector ? { healthCheckSelector } : {});
const check = (labels: Record<string, string>) => healthCheck({ metadata: { name: 'hc', namespace: 'demo', labels } });
const CROWD = 20;

/** Whether a change of the Rollout wakes the check, once the Rollout has its label. */
function wakes(object: ReturnType<typeof rollout>, labels: Record<string, string>): boolean {
  const own = Object.entries(watchesLabel(object)).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return wakingRules(check(labels), CROWD).some(({ labelSelector }) =>
    matchesSelector(labelSelector, Object.fromEntries(own)),
  );
}

describe('in a namespace of many a HealthCheck is woken', () => {
  const SHOP = { app: 'shop', tier: 'web' };
  it.each([
    ['by a Rollout whose selector finds it', { matchLabels: { app: 'shop' } }, true],
    ['by one that asks for two pairs', { matchLabels: { tier: 'web', app: 'shop' } }, true],
    [
      'by one with an expression beside them',
      { selector: { matchLabels: { app: 'shop' }, matchExpressions: [{ key: 'tier', operator: 'Exists' }] } },
      true,
    ],
    ['by one with expressions alone', { selector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } }, true],
    ['by one that selects all', { selector: {} }, true],
    ['by one without a selector: it may reset what nobody watches', undefined, true],
    ['not by one that asks for another value', { matchLabels: { app: 'bank' } }, false],
    ['not by one that asks for another key', { matchLabels: { shop: 'app' } }, false],
  ] as [string, RolloutSpec['healthCheckSelector'], boolean][])('%s', (_, selector, expected) => {
    expect(wakes(watching(selector), SHOP)).toBe(expected);
  });

  it('by all that are associated with it, whatever the labels', () => {
    const values = ['1', '2'];
    const sets = ['a', 'b', 'c'].flatMap((a) =>
      values.flatMap((v) => ['a', 'b', 'c'].flatMap((b) => values.map((w) => ({ [a]: v, [b]: w })))),
    );
    for (const matchLabels of sets) {
      for (const labels of sets) {
        const by = watching({ matchLabels });
        if (association(by, check(labels), undefined) === 'watched') expect(wakes(by, labels)).toBe(true);
      }
    }
  });

  it('which has no labels, by those without one', () => {
    expect(wakingRules(healthCheck(), CROWD)).toHaveLength(1);
    expect(wakes(watching({ selector: {} }), {})).toBe(true);
    expect(wakes(watching({ matchLabels: { app: 'shop' } }), {})).toBe(false);
  });
});

it('in a namespace of few, and where it has very many labels, by all of them', () => {
  const all = [{ apiVersion: 'kuberik.com/v1alpha1', resource: 'rollouts', namespace: 'demo' }];
  expect(wakingRules(check({ app: 'shop' }), CROWD - 1)).toEqual(all);
  const many = Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`k${i}`, 'v']));
  expect(wakingRules(check(many), CROWD)).toEqual(all);
});
