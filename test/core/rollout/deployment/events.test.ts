import { expect, it } from 'vitest';
import type { HistoryEntry } from '../../../../api/types.ts';
import { deploymentEvent } from '../../../../core/rollout/deployment/deploymentMessages.ts';

const entry = (id: number, lastRetryTimestamp?: string): HistoryEntry => ({
  id,
  version: { tag: `1.${id}.0` },
  timestamp: '2026-01-02T12:00:00Z',
  ...(lastRetryTimestamp && { lastRetryTimestamp }),
});

it('Events of one second are ordered as they happened: by deployment, retry and step', () => {
  const happened: [HistoryEntry, string][] = [
    [entry(9), 'DeploymentSucceeded'],
    [entry(9), 'BakeTimeDeploying'],
    [entry(9), 'BakeTimeStarted'],
    [entry(9), 'BakeTimeFailed'],
    [entry(9, '2026-01-02T12:00:00Z'), 'RetryRequested'],
    [entry(9, '2026-01-02T12:00:00Z'), 'BakeTimeStarted'],
    [entry(9, '2026-01-02T12:00:00Z'), 'BakeTimeCancelled'],
    [entry(10), 'AutomaticRollback'],
    [entry(10), 'DeploymentSucceeded'],
    [entry(10), 'BakeTimeDeploying'],
  ];
  const orders = happened.map(([head, reason]) => deploymentEvent(head, 'Normal', reason, '').order!);
  expect([...orders].sort()).toEqual(orders);
  expect(new Set(orders).size).toBe(orders.length);
  for (const order of orders) expect(order).toMatch(/^[a-z0-9]+(\.[a-z0-9]+)*$/);
});
