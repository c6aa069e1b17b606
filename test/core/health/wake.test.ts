import { describe, expect, it } from 'vitest';
import type { RolloutSpec } from '../../../api/types.ts';
import { association, watchesLabel, watchingRolloutRules } from '../../../core/health/association.ts';
import { labelAll } from '../../../core/kube/annotate.ts';
import { matchesSelector } from '../../../core/kube/selector.ts';
import { healthCheck, rollout } from '../../hooks/healthCheck/fixture.ts';

const watching = (healthCheckSelector?: RolloutSpec['healthCheckSelector']) =>
  rollout(undefined, healthCheckSelector ? { healthCheckSelector } : {});
const check = (labels: Record<string, string>) => healthCheck({ metadata: { name: 'hc', namespace: 'demo', labels } });
/** The labels of the webhook. */
const labelled = (object: ReturnType<typeof rollout>) => labelAll(object, watchesLabel(object));
const crowdOf = (...objects: ReturnType<typeof rollout>[]) => [
  ...objects.map(labelled),
  ...Array.from({ length: 20 - objects.length }, () => labelled(watching())),
];

/** Whether a change of the Rollout wakes the check, whose related objects were chosen with `others` present. */
function wakes(object: ReturnType<typeof rollout>, labels: Record<string, string>, others = crowdOf()): boolean {
  return watchingRolloutRules(check(labels), others).some(({ labelSelector }) =>
    matchesSelector(labelSelector, labelled(object).metadata.labels ?? {}),
  );
}

describe('in a namespace of many a HealthCheck is woken', () => {
  const SHOP = { app: 'shop', tier: 'web' };
  it.each([
    ['by a Rollout whose selector finds it', { matchLabels: { app: 'shop' } }, true],
    ['by one with expressions alone', { selector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] } }, true],
    ['by one without a selector: it resets what nobody watches', undefined, true],
    ['not by one that asks for another value', { matchLabels: { app: 'bank' } }, false],
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

  it('that a Rollout watches, not by those that watch nothing', () => {
    const watched = crowdOf(watching({ matchLabels: { app: 'shop' } }));
    expect(wakes(watching(), SHOP, watched)).toBe(false);
    expect(wakes(watching({ selector: {} }), SHOP, watched)).toBe(true);
    expect(wakes(watching({ matchLabels: { app: 'shop' } }), SHOP, watched)).toBe(true);
    expect(wakes(watching(), { app: 'bank' }, watched)).toBe(true);
  });
});

it('in a namespace of few, and where it has very many labels, by all of them', () => {
  const all = [{ apiVersion: 'kuberik.com/v1alpha1', resource: 'rollouts', namespace: 'demo' }];
  expect(watchingRolloutRules(check({ app: 'shop' }), crowdOf().slice(1))).toEqual(all);
  const many = Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`k${i}`, 'v']));
  expect(watchingRolloutRules(check(many), crowdOf())).toEqual(all);
});
