/** Explaining thousands of Rollouts takes time linear in their number and in related objects. */
import { expect, it } from 'vitest';
import type { Gate, HealthCheck, Rollout, RolloutGate } from '../../../api/types.ts';
import { NO_RELATED } from '../../../client/explain/related.ts';
import { explainRollouts } from '../../../client/explain/rollout/explainRollout.ts';
import { costInReadings } from '../../support/cost.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');

function fleet(many: number) {
  const each = <T>(make: (metadata: { namespace: string; name: string; uid: string; labels: object }) => object): T[] =>
    Array.from({ length: many }, (_, i) =>
      make({ namespace: `team-${i % 100}`, name: `app-${i}`, uid: `u${i}`, labels: { app: `app-${i}` } }),
    ) as T[];
  const rollouts = each<Rollout>((metadata) => ({
    metadata,
    spec: {
      releasesImagePolicy: {},
      gates: [{ name: metadata.name }],
      healthCheckSelector: { matchLabels: metadata.labels },
    },
    status: {
      pendingVersion: '2.0.0',
      history: [{ id: 1, version: { tag: '1.0.0' }, timestamp: '2026-03-01T11:00:00Z', bakeStatus: 'Succeeded' }],
      gates: [{ name: metadata.name, passing: false, message: 'Gate is not passing' }],
    },
  }));
  const around = {
    ...NO_RELATED,
    rolloutGates: each<RolloutGate>((metadata) => ({
      metadata,
      spec: { rolloutRef: { name: metadata.name }, passing: false },
    })),
    gates: each<Gate>((metadata) => ({ metadata, spec: { default: 'closed' } })),
    healthChecks: each<HealthCheck>((metadata) => ({ metadata, spec: {}, status: { status: 'Healthy' } })),
  };
  return { rollouts, around };
}

it('ten times as many cost no more each', () => {
  const cost = (many: number) => {
    const { rollouts, around } = fleet(many);
    expect(explainRollouts(rollouts, around, NOW).every(({ steps }) => steps.length === 4)).toBe(true);
    return costInReadings([rollouts, around], () => explainRollouts(rollouts, { ...around }, NOW));
  };
  expect(cost(5000)).toBeLessThan(4 * cost(500));
});
