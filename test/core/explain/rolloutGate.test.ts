import { expect, it } from 'vitest';
import { explainRolloutGate } from '../../../core/explain/kinds/rolloutGate.ts';
import { objectOf } from '../../support/objects.ts';

const gate = objectOf('RolloutGate', {
  metadata: { namespace: 'shop', name: 'two' },
  spec: { rolloutRef: { name: 'web' }, passing: true, approvals: { required: 2 } },
});

const withList = (allowedVersions: string[]) =>
  objectOf('Rollout', {
    metadata: { namespace: 'shop', name: 'web' },
    spec: { releasesImagePolicy: { name: 'web' } },
    status: { gates: [{ name: 'two', passing: true, allowedVersions }] },
  });

it.each([
  ['nothing', [], "RolloutGate 'two' of Rollout 'web': allows no version yet"],
  ['some', ['1.1.0', '1.2.0'], "RolloutGate 'two' of Rollout 'web': allows 1.1.0, 1.2.0"],
])('a RolloutGate whose list has %s says so where nothing waits', (_, list, text) => {
  expect(explainRolloutGate(gate, withList(list)).causes[0]?.text).toBe(text);
});
