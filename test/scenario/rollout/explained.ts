/** The explanation of a scenario's Rollout with its commands, and its invariants. */
import { expect } from 'vitest';
import type { FluxBinding, Gate, HealthCheck, Rollout, RolloutGate } from '../../../api/types.ts';
import { commandViewsOf } from '../../../client/actions/lines.ts';
import { rolloutActions } from '../../../client/actions/rolloutActions.ts';
import type { Application, CommandView } from '../../../client/explain/application.ts';
import { explainRollout } from '../../../client/explain/rollout/explainRollout.ts';
import { findCondition } from '../../../core/kube/conditions.ts';
import { commandInside } from '../../support/commands.ts';
import type { ScenarioCluster } from './scenarioCluster.ts';

export function explained(cluster: ScenarioCluster): Application & { commands: CommandView[] } {
  const around = {
    gates: cluster.all<Gate>('Gate'),
    rolloutGates: cluster.all<RolloutGate>('RolloutGate'),
    bindings: cluster.all<FluxBinding>('FluxBinding'),
    objects: [],
    healthChecks: cluster.all<HealthCheck>('HealthCheck'),
    rollouts: cluster.all<Rollout>('Rollout'),
    unread: [],
  };
  const app = explainRollout(cluster.rollout, around, cluster.now);
  const actions = rolloutActions(cluster.rollout, app, around, cluster.now);
  return { ...app, commands: commandViewsOf(actions, cluster.now) };
}

/** Fields whose lines are complete commands. */
const COMMANDS = ['command', 'kubectl'];

function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, below]) => (COMMANDS.includes(key) ? [] : textsOf(below)));
}

/** Whatever waits, is rolling out or has failed has a cause, and a next step. No text has a command in a sentence. */
export function saysWhy(cluster: ScenarioCluster): void {
  const { conditions, blockers = [] } = cluster.rollout.status ?? {};
  const hasFailed = findCondition(conditions, 'Ready')?.reason === 'RolloutFailed';
  if (hasFailed) expect(blockers, 'the problem in Ready is no blocker').not.toEqual([]);
  const app = explained(cluster);
  expect(JSON.parse(JSON.stringify(app)), 'plain JSON').toEqual(app);
  expect(textsOf([cluster.rollout.status, app]).filter((text) => commandInside(text) !== undefined)).toEqual([]);
  const ids = app.steps.map(({ id }) => id);
  expect(new Set(ids).size, `step ids are unique: ${ids}`).toBe(ids.length);
  if (app.state === 'done') return;
  expect(app.causes, `${app.headline}: no cause`).not.toEqual([]);
  const goesOn = app.waiting !== undefined || app.state === 'deploying' || app.state === 'baking';
  if (goesOn) expect(app.next, `${app.headline}: nothing next`).toBeDefined();
  for (const { rights, step } of app.commands) {
    expect(rights.every(({ namespace, name }) => namespace && name) && rights.length > 0).toBe(true);
    if (step !== undefined) expect(ids).toContain(step);
  }
}
