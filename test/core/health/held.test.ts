/**
 * A closed Gate suspends a Kustomization that has applied the version: its objects' health is still that of the
 * version.
 */
import { describe, it } from 'vitest';
import { expectVerdict, HEALTHY } from './kustomizationFixture.ts';

/** As kustomize-controller 1.9 leaves it: `finalizeStatus` moves observedGeneration, Ready keeps that of before. */
const HELD = {
  annotations: { 'gate.fluxcd.io/suspended': 'unset', 'gate.fluxcd.io/state': 'closed: team-a/freeze' },
  spec: { suspend: true },
  observed: 2,
  ready: { status: 'True', observedGeneration: 1 },
};

describe('a Kustomization that a Gate holds after it has applied the version', () => {
  it('is Healthy: a freeze keeps no bake from starting or ending, and a bypass for one version can bake', () => {
    expectVerdict({ name: 'held', kustomization: HELD, expected: HEALTHY });
  });
});
