/** A bake that is over but for an object that was bound during it: `kubectl rollouts why` says what it waits for. */
import { expect, it } from 'vitest';
import { GATE_UNTIL } from '../../../api/annotations.ts';
import type { FluxBinding, Rollout } from '../../../api/types.ts';
import { NO_RELATED } from '../../../client/explain/related.ts';
import { explainRollout } from '../../../client/explain/rollout/explainRollout.ts';
import { boundLabel } from '../../../core/binding/bindingSpec.ts';
import { objectOf } from '../../support/objects.ts';

const at = (time: string) => `2026-03-01T${time}Z`;
const rollout = objectOf('Rollout', {
  metadata: { namespace: 'shop', name: 'app', uid: 'u', generation: 1 },
  spec: { releasesImagePolicy: { name: 'app' }, bakeTime: '5m', deployTimeout: '1h' },
  status: {
    history: [
      {
        id: 1,
        version: { tag: '1.0.0' },
        timestamp: at('11:59:00'),
        appliedTime: at('12:00:00'),
        bakeStatus: 'InProgress',
        bakeStartTime: at('12:00:00'),
      },
    ],
  },
} as never) as Rollout;
const late = objectOf('FluxBinding', {
  metadata: { namespace: 'shop', name: 'kustomization-late', labels: { [boundLabel('app')]: '' } },
  spec: { target: { apiVersion: 'v1', kind: 'Kustomization', name: 'late', uid: 'l' }, fields: [{ rollout: 'app' }] },
} as never) as FluxBinding;

it('the next change is no end of the bake in the past', () => {
  const { next, steps } = explainRollout(rollout, { ...NO_RELATED, bindings: [late] }, Date.parse(at('12:30:00')));
  expect(steps.find(({ kind }) => kind === 'bake')).not.toHaveProperty('until');
  expect(next?.text).toContain('late');
  expect(next?.at ?? at('13:05:00')).toBe(at('13:05:00'));
});

it.each([
  // The status of a Rollout that hasn't been evaluated since either.
  ['Waits', { until: at('12:00:00') }],
])('a RolloutGate whose schedule is overdue opens at no time that is past (%s)', (effect, stored) => {
  const { name: gateName, until } = { name: 'schedule-gate-1', until: at('12:00:00') };
  const waits = objectOf('Rollout', {
    metadata: { namespace: 'shop', name: 'app', uid: 'u', generation: 1 },
    spec: { releasesImagePolicy: { name: 'app' } },
    status: {
      observedGeneration: 1,
      pendingVersion: '1.1.0',
      history: [{ id: 1, version: { tag: '1.0.0' }, timestamp: at('11:00:00'), bakeStatus: 'Succeeded' }],
      gates: [{ name: gateName, passing: false, message: 'Gate is not passing' }],
      blockers: [
        {
          type: 'RolloutGate',
          effect,
          reason: 'RolloutGatesBlocking',
          version: '1.1.0',
          object: { kind: 'RolloutGate', namespace: 'shop', name: gateName },
          ...stored,
        },
      ],
    },
  } as never) as Rollout;
  const gate = objectOf('RolloutGate', {
    metadata: {
      namespace: 'shop',
      name: gateName,
      labels: { 'gate.kuberik.com/rollout-schedule-name': 'office-hours' },
      annotations: { [GATE_UNTIL]: until },
    },
    spec: { rolloutRef: { name: 'app' }, passing: true },
  } as never);
  const { next } = explainRollout(waits, { ...NO_RELATED, rolloutGates: [gate] as never }, Date.parse(at('12:30:00')));
  expect(next).toEqual({ text: expect.stringContaining('no automatic change') });
});
