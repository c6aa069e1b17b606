/** What people are told of the Rollout of a scenario, and what has to be true of that whatever happens. */
import { expect } from 'vitest';
import type { FluxBinding, Gate, HealthCheck, Rollout, RolloutGate } from '../../../api/types.ts';
import type { Application } from '../../../client/explain/application.ts';
import { explainRollout } from '../../../client/explain/rollout/explainRollout.ts';
import type { World } from './world.ts';

export function explained(world: World): Application {
  const around = {
    gates: world.all<Gate>('Gate'),
    rolloutGates: world.all<RolloutGate>('RolloutGate'),
    bindings: world.all<FluxBinding>('FluxBinding'),
    objects: [],
    healthChecks: world.all<HealthCheck>('HealthCheck'),
    rollouts: world.all<Rollout>('Rollout'),
    unread: [],
  };
  return explainRollout(world.rollout, around, world.now);
}

/** Nothing waits without a word: whatever waits, is on its way or has failed has a cause, and what happens next. */
export function saysWhy(world: World): void {
  const app = explained(world);
  expect(JSON.parse(JSON.stringify(app)), 'plain JSON').toEqual(app);
  const ids = app.steps.map(({ id }) => id);
  expect(new Set(ids).size, `step ids are unique: ${ids}`).toBe(ids.length);
  if (app.state === 'done') return;
  expect(app.causes, `${app.headline}: no cause`).not.toEqual([]);
  const goesOn = app.waiting !== undefined || app.state === 'deploying' || app.state === 'baking';
  if (goesOn) expect(app.next, `${app.headline}: nothing next`).toBeDefined();
  for (const { namespace, name, step } of app.remedies) {
    expect([namespace, name].every(Boolean)).toBe(true);
    if (step !== undefined) expect(ids).toContain(step);
  }
}
