/** Explaining many Rollouts is linear in their number and in related objects: how often it reads these is counted. */
import { expect, it } from 'vitest';
import type { Gate, HealthCheck, Rollout, RolloutGate } from '../../../api/types.ts';
import { NO_RELATED } from '../../../client/explain/related.ts';
import { explainRollouts } from '../../../client/explain/rollout/explainRollout.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');

/** Rollouts with related objects, ten in each namespace, which call `onRead` when their metadata is read. */
function fleet(many: number, onRead: () => void) {
  const each = <T>(make: (metadata: { namespace: string; name: string; uid: string; labels: object }) => object): T[] =>
    Array.from({ length: many }, (_, i) => {
      const metadata = {
        namespace: `team-${Math.floor(i / 10)}`,
        name: `app-${i}`,
        uid: `u${i}`,
        labels: { app: `app-${i}` },
      };
      const get = () => {
        onRead();
        return metadata;
      };
      return Object.defineProperty(make(metadata), 'metadata', { get, enumerable: true });
    }) as T[];
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
  const readsOfEach = (many: number) => {
    let reads = 0;
    const { rollouts, around } = fleet(many, () => reads++);
    expect(explainRollouts(rollouts, around, NOW).every(({ steps }) => steps.length === 4)).toBe(true);
    return reads / many;
  };
  expect(readsOfEach(1000)).toBeLessThan(1.1 * readsOfEach(100));
});
