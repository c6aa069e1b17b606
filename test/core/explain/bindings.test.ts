/** The Flux objects on the way of a version: what their FluxBindings say may be of the version before. */
import { expect, it } from 'vitest';
import type { FluxBinding, Rollout } from '../../../api/types.ts';
import { bindingOf } from '../../../core/binding/spec.ts';
import { bindingSteps } from '../../../core/explain/rollout/deploymentSteps.ts';
import { kustomization, rollout } from '../hold/objects.ts';

/** 1.1.0 is the newest deployment, the second. */
const app: Rollout = rollout('my-app', '1.1.0', '1.0.0');

function binding(applied: number, status: 'True' | 'False' | 'Unknown', message: string): FluxBinding {
  const { spec, ...rest } = bindingOf(kustomization(), { gates: [], problems: [] }, undefined)!;
  const version = applied === 2 ? '1.1.0' : '1.0.0';
  const condition = { type: 'Ready', status, reason: 'x', message, lastTransitionTime: '2026-03-04T08:00:00Z' };
  const carried = { rollout: 'my-app', id: applied, version, uid: 'uid-my-app' };
  return { ...rest, ...(spec && { spec }), status: { applied: [carried], conditions: [condition] } };
}

it.each<[string, FluxBinding, string, string, string]>([
  ['it has the version', binding(2, 'True', 'applied'), 'passed', 'applied', '1.1.0'],
  [
    'it says so of the version before',
    binding(1, 'True', 'applied'),
    'waits',
    'waiting for Flux to apply 1.1.0',
    '1.0.0',
  ],
  ['it waits', binding(1, 'Unknown', 'waiting for Flux'), 'waits', 'waiting for Flux', '1.0.0'],
  [
    'it is held',
    binding(1, 'False', 'waiting for gate shop/freeze'),
    'blocks',
    'waiting for gate shop/freeze',
    '1.0.0',
  ],
])('%s', (_, bound, state, detail, version) => {
  expect(bindingSteps(app, [bound])).toMatchObject([{ id: 'binding/Kustomization/web', state, detail, version }]);
});
