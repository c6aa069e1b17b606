/** Warnings about references to objects that don't exist. */
import { expect, it } from 'vitest';
import { decide, gatesByName, kustomization, NOW, rolloutsByName } from './objects.ts';
import { openGate } from './writes.ts';

const GATES = 'gate.fluxcd.io/gates';
const FROM = 'rollout.kuberik.com/substitute.APP.from';
const NO_GATE = "gate.fluxcd.io/gates: Gate 'shop/typo' does not exist and counts as closed: create it";
const NO_ROLLOUT = "Kustomization 'shop/web' is bound to Rollout 'typo', which does not exist";

it.each<[string, old: Record<string, string> | undefined, annotations: Record<string, string>, warnings: string[]]>([
  ['that exist', {}, { [GATES]: 'freeze' }, []],
  ['to a Gate', {}, { [GATES]: 'freeze,typo' }, [NO_GATE]],
  ['to a Gate that the stored object has', { [GATES]: 'typo' }, { [GATES]: 'typo', note: '' }, []],
  ['to a Rollout', {}, { [FROM]: 'typo' }, [NO_ROLLOUT]],
  ['to a Rollout that the stored object has', { [FROM]: 'typo' }, { [FROM]: 'typo', note: '' }, []],
  ['of a new object', undefined, { [FROM]: 'typo' }, [NO_ROLLOUT]],
])('references %s', (_, old, annotations, warnings) => {
  const outcome = decide({
    object: kustomization({ annotations }),
    ...(old && { old: kustomization({ annotations: old }) }),
    context: { rollouts: rolloutsByName(), gates: gatesByName(openGate), now: NOW },
    user: 'developer',
  });
  expect(outcome.warnings).toEqual(warnings);
});
