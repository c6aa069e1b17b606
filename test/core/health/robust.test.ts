import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Kustomization } from '../../../api/flux.ts';
import { statusAfter } from '../../../core/health/healthStatus.ts';
import { ownHealth, verdictWith } from '../../../core/health/kustomization.ts';
import { kstatusOf } from '../../../core/kstatus/kstatus.ts';
import { objectOf } from '../../support/objects.ts';
import { healthContext } from './kustomizationFixture.ts';

const NOW = Date.parse('2026-01-02T12:00:00Z');

/** Random text, sometimes with a meaning. */
const word = fc.oneof(
  fc.constantFrom(
    'True',
    'False',
    'Unknown',
    'Ready',
    'Stalled',
    'Reconciling',
    'BuildFailed',
    '2026-01-02T11:00:00Z',
    '2030-01-01T00:00:00Z',
  ),
  fc.string(),
);
const condition = fc.record(
  { type: word, status: word, reason: word, message: word, lastTransitionTime: word, observedGeneration: fc.integer() },
  { requiredKeys: [] },
);
const status = fc.oneof(
  fc.anything(),
  fc.record(
    {
      observedGeneration: fc.oneof(fc.integer({ min: -1, max: 3 }), word),
      conditions: fc.oneof(fc.array(condition), fc.anything()),
      phase: word,
      replicas: fc.anything(),
      inventory: fc.oneof(fc.record({ entries: fc.anything() }), fc.constant(undefined)),
      lastAppliedRevision: word,
    },
    { requiredKeys: [] },
  ),
);
const kinds = [
  'apps/v1 Deployment',
  'apps/v1 StatefulSet',
  'apps/v1 DaemonSet',
  'apps/v1 ReplicaSet',
  'batch/v1 Job',
  'v1 Pod',
  'v1 Service',
  'v1 PersistentVolumeClaim',
  'apiextensions.k8s.io/v1 CustomResourceDefinition',
  'example.com/v1 Widget',
];

describe('whatever an object holds', () => {
  it('kstatus returns a result', () => {
    fc.assert(
      fc.property(fc.constantFrom(...kinds), fc.anything(), status, (kind, spec, ofObject) => {
        const [apiVersion = '', name = ''] = kind.split(' ');
        const object = { apiVersion, kind: name, metadata: { name: 'x', generation: 1 }, spec, status: ofObject };
        const { status: kstatus, message } = kstatusOf(object, NOW);
        expect(['Current', 'InProgress', 'Failed', 'Terminating', 'Unknown']).toContain(kstatus);
        expect(typeof message).toBe('string');
      }),
    );
  });

  it('the health of a Kustomization is computed, and a second sync changes nothing', () => {
    fc.assert(
      fc.property(
        status,
        status,
        fc.record({ status: word, lastErrorTime: word, lastChangeTime: word }, { requiredKeys: [] }),
        (of, ofSource, before) => {
          const metadata = { name: 'web', namespace: 'demo', generation: 2 };
          const kustomization = objectOf('Kustomization', { metadata, status: of as never }) as Kustomization;
          const source = objectOf('OCIRepository', { metadata, status: ofSource as never });
          const evaluate = (now: number) => {
            const context = healthContext({ now, cutoff: NOW - 60_000, gracePeriod: 0 });
            const own = ownHealth({ kustomization, source, rollouts: [] }, context);
            return 'health' in own ? own : verdictWith([], own, context);
          };
          const once = statusAfter(before, evaluate(NOW), NOW);
          expect(statusAfter(once, evaluate(NOW + 30_000), NOW + 30_000)).toEqual(once);
        },
      ),
    );
  });
});
