import { expect, it } from 'vitest';
import { createAuditMetrics } from '../../../server/audit/auditMetrics.ts';

it('every series of audit events exists from the start, and counts', async () => {
  let waiting = 0;
  const metrics = createAuditMetrics(() => waiting);
  const served = async () =>
    (await metrics.text()).split('\n').filter((line) => line.startsWith('rollout_hooks_audit'));
  const series = (failed: number, gaps: number) => [
    'rollout_hooks_audit_events_total{result="sent"} 0',
    `rollout_hooks_audit_events_total{result="failed"} ${failed}`,
    'rollout_hooks_audit_events_total{result="dropped"} 0',
    `rollout_hooks_audit_gaps_total ${gaps}`,
    `rollout_hooks_audit_waiting_events ${waiting}`,
  ];
  expect(await served()).toEqual(series(0, 0));
  metrics.event('failed');
  metrics.gap();
  waiting = 2;
  expect(await served()).toEqual(series(1, 1));
});
