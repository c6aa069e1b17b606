/** Messages of Ready during a bake, which are the Go controller's. R83 to R91 are cases of its test suite. */
import { describe, expect, it } from 'vitest';
import type { HealthCheck, HistoryEntry } from '../../../../api/types.ts';
import { bakeSummary } from '../../../../core/rollout/deployment/deploymentMessages.ts';
import { unhealthyMessage } from '../../../../core/rollout/deployment/healthChecks.ts';
import { planRollout } from '../../../../core/rollout/plan.ts';
import { withCommands } from '../../../../core/text/commands.ts';
import { NOW, observed } from '../observedFixture.ts';

const entry = (bakeStatus?: string, bakeStatusMessage?: string): HistoryEntry => ({
  version: { tag: '1.0.0' },
  timestamp: '2026-03-01T12:00:00Z',
  ...(bakeStatus && { bakeStatus }),
  ...(bakeStatusMessage && { bakeStatusMessage }),
});

describe('bakeSummary', () => {
  it.each<[string, HistoryEntry | undefined, string]>([
    ['R83', undefined, 'No deployment history'],
    ['R84', entry(), 'No bake status'],
    ['R86', entry('Succeeded'), 'Bake completed successfully'],
    ['R87', entry('Failed', 'Health check failed'), 'Bake failed: Health check failed'],
    ['R88', entry('Failed'), 'Bake failed'],
    [
      'R89',
      entry('Cancelled', 'Bake cancelled due to new deployment.'),
      'Bake cancelled: Bake cancelled due to new deployment.',
    ],
    ['R85', entry('InProgress'), 'Baking in progress, monitoring for errors'],
    ['R90', entry('Cancelled'), 'Bake cancelled'],
    ['R91', entry('UnknownStatus'), 'Unknown bake status: UnknownStatus'],
  ])('%s', (_id, head, expected) => {
    expect(bakeSummary(head)).toBe(expected);
  });
});

it('the message of an Unhealthy check is cut without a part of a command', () => {
  const message = withCommands('x'.repeat(4080), ['To open Gate shop/freeze', 'kubectl annotate gate freeze']);
  const check: HealthCheck = {
    apiVersion: 'kuberik.com/v1alpha1',
    kind: 'HealthCheck',
    metadata: { namespace: 'shop', name: 'web' },
    spec: {},
    status: { status: 'Unhealthy', message },
  };
  expect(unhealthyMessage(check)).toMatch(/: x{4080}$/);
});

it('Ready has its message again in the sync that finds a problem to be over', () => {
  const started: HistoryEntry = { ...entry('InProgress'), bakeStartTime: '2026-03-01T12:00:00Z' };
  const head: HistoryEntry = { ...started, origin: ['Automatic', 'GateBypass'] };
  const problem = { type: 'Ready', status: 'False' as const, reason: 'RolloutFailed', lastTransitionTime: '' };
  const conditions = [{ ...problem, message: "ImagePolicy 'app' not found" }];
  const stored = observed({ bakeTime: '5m' }, { history: [head], conditions, availableReleases: [{ tag: '1.0.0' }] });
  const { status } = planRollout(stored, NOW);
  expect(status.conditions?.find(({ type }) => type === 'Ready')?.message).toBe(
    'Release deployed successfully with gate bypass. Baking in progress, monitoring for errors',
  );
  expect(planRollout({ ...stored, rollout: { ...stored.rollout, status } }, NOW).status).toBe(status);
});
