import { describe, expect, it } from 'vitest';
import { countsOf } from '../../../core/rollout/deploymentMetrics.ts';

const deployments = (kind: string) => ({ name: 'rollout_hooks_deployments_total', labels: { kind }, key: 'u/1' });
const bakes = (result: string) => ({ name: 'rollout_hooks_bakes_total', labels: { result }, key: 'u/1' });

function counts(reason: string, head: object = {}) {
  const history = [{ id: 1, version: { tag: '1.0.0' }, timestamp: '', ...head }];
  return countsOf([{ reason, key: 'u/1' }], { history });
}

describe('a plan counts', () => {
  it.each([
    [
      'a deployment of its own',
      'DeploymentSucceeded',
      { triggeredBy: { kind: 'System', name: 'x' } },
      deployments('automatic'),
    ],
    ['one that somebody asked for', 'DeploymentSucceeded', { requestedBy: 'alice' }, deployments('manual')],
    [
      'one in the name of somebody',
      'DeploymentSucceeded',
      { triggeredBy: { kind: 'User', name: 'x' } },
      deployments('manual'),
    ],
    ['a rollback', 'DeploymentSucceeded', { rolledBackFrom: '1.1.0' }, deployments('rollback')],
    ['a bake that passed', 'BakeTimePassed', {}, bakes('succeeded')],
    ['a bake that failed', 'BakeTimeFailed', {}, bakes('failed')],
    ['a bake that gave way', 'BakeTimeCancelled', {}, bakes('cancelled')],
  ] as const)('%s', (_what, reason, head, count) => {
    expect(counts(reason, head)).toEqual([count]);
  });

  it('no other Event', () => expect(counts('DeploymentAdopted')).toEqual([]));
});
