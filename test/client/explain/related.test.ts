import { expect, it } from 'vitest';
import { relatedGates } from '../../../client/explain/related.ts';
import { objectOf } from '../../support/objects.ts';

it('the Gates around a Rollout: named, of bound objects, and reported, each once', () => {
  const rollout = objectOf('Rollout', {
    metadata: { namespace: 'shop', name: 'web' },
    spec: { releasesImagePolicy: { name: 'web' }, gates: [{ name: 'named' }] },
    status: {
      gates: [
        { name: 'qa', passing: false },
        { kind: 'Gate', name: 'shop/named', passing: false },
        { kind: 'Gate', name: 'flux-system/selects', passing: false },
      ],
    },
  });
  const binding = objectOf('FluxBinding', {
    metadata: { namespace: 'shop', name: 'kustomization-web' },
    spec: {
      target: { apiVersion: 'v1', kind: 'Kustomization', name: 'web', uid: '' },
      gates: [{ namespace: 'ops', gate: 'bound' }],
    },
  });
  expect(relatedGates(rollout, [binding]).refs).toEqual([
    { namespace: 'shop', name: 'named' },
    { namespace: 'ops', name: 'bound' },
    { namespace: 'flux-system', name: 'selects' },
  ]);
});
