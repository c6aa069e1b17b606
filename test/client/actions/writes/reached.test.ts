/** Whether the write of an action has taken effect, decided by the object. */
import { describe, expect, it } from 'vitest';
import { continueProgress } from '../../../../client/actions/writes/budgetWrites.ts';
import { reconcileProgress } from '../../../../client/actions/writes/fluxObjectWrites.ts';
import { kustomization } from '../../../core/admission/objects.ts';
import { objectOf } from '../../../support/objects.ts';

describe('a Flux object that was resumed', () => {
  const at = (status: object | undefined, spec: object = {}) =>
    reconcileProgress(
      kustomization({ generation: 3, spec: { ...spec }, ...(status && { status: status as never }) }),
      0,
    );
  const ready = (status: string, message: string) => [{ type: 'Ready', status, message }];

  it.each([
    ['under way', 'Flux has not reconciled it yet', undefined, {}],
    [
      'under way',
      'Kustomization generation is 3, but latest observed generation is 2',
      { observedGeneration: 2, conditions: ready('True', 'Applied') },
      {},
    ],
    ['under way', 'build failed', { observedGeneration: 3, conditions: ready('False', 'build failed') }, {}],
    [
      'failed',
      'no such path',
      { observedGeneration: 3, conditions: [{ type: 'Stalled', status: 'True', message: 'no such path' }] },
      {},
    ],
    ['reached', 'reconciled', { observedGeneration: 3, conditions: ready('True', 'Applied') }, {}],
    ['failed', 'it is suspended again', { observedGeneration: 3 }, { suspend: true }],
  ] as const)('%s: %s', (is, text, status, spec) => {
    expect(at(status, spec)).toEqual({ is, text });
  });
});

describe('a version that a budget is to go on with', () => {
  const REQUEST = {
    'rollout.kuberik.com/continue': '1.2.0',
    'rollout.kuberik.com/continue-request': '{"id":"r","by":"sre","at":"2026-03-04T10:00:00Z"}',
  };
  const budget = (handledRequest: string, blocked: boolean) =>
    objectOf('RolloutBudget', {
      metadata: { namespace: 'shop', name: 'fleet', annotations: REQUEST },
      spec: {} as never,
      status: { handledRequest, versions: [{ version: '1.2.0', image: 'app', failed: 1, blocked }] } as never,
    });

  it.each([
    ['under way', 'it has not handled the request for 1.2.0 yet', budget('older', true), '1.2.0'],
    ['under way', 'it still blocks 1.2.0', budget('r', true), '1.2.0'],
    ['under way', 'it still blocks app:1.2.0', budget('r', true), 'app:1.2.0'],
    ['reached', '1.2.0 continues', budget('r', false), '1.2.0'],
  ] as const)('%s: %s', (is, text, object, wanted) => {
    expect(continueProgress(object, wanted)).toEqual({ is, text });
  });
});
