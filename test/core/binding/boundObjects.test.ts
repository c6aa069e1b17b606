import { expect, it } from 'vitest';
import { completeBindings } from '../../../core/binding/boundObjects.ts';
import { costInReadings } from '../../support/cost.ts';
import { kustomization, rollout } from '../admission/objects.ts';

it('the objects of 64 Rollouts, with as many annotations as they may have, cost little more than to read them', () => {
  const rollouts = Array.from({ length: 64 }, (_, i) => rollout(`r-${i}`));
  const annotations = Object.fromEntries(
    Array.from({ length: 500 }, (_, i) => [`rollout.kuberik.com/substitute.V${i}.from`, 'a,b']),
  );
  const objects = Array.from({ length: 50 }, () => kustomization({ annotations }));
  // Copies: what is found of an object is kept for the object.
  expect(
    costInReadings(objects, () => completeBindings(rollouts, JSON.parse(JSON.stringify(objects)), [])),
  ).toBeLessThan(15);
});
