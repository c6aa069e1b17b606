/**
 * Metrics of the process that sends audit events.
 * It has no metric in common with the server, so no alert can confuse the two processes.
 */
import { Counter, collectDefaultMetrics, Gauge, Registry } from '@prometheus-io/client';

export function createAuditMetrics(waiting: () => number) {
  const register = new Registry();
  collectDefaultMetrics({ register });
  const registers = [register];
  const events = new Counter({
    name: 'rollout_hooks_audit_events_total',
    help: 'Audit events: taken by the sink (sent), failed attempts, which are repeated (failed), and events that the sink refuses (dropped)',
    labelNames: ['result'],
    registers,
  });
  for (const result of ['sent', 'failed', 'dropped']) events.inc({ result }, 0);
  const gaps = new Counter({
    name: 'rollout_hooks_audit_gaps_total',
    help: 'Interruptions of a watch, and one for each kind after a start; each is also sent as an event',
    registers,
  });
  new Gauge({
    name: 'rollout_hooks_audit_waiting_events',
    help: 'Audit events in the queue',
    registers,
    collect() {
      this.set(waiting());
    },
  });
  return {
    event: (result: 'sent' | 'failed' | 'dropped') => events.inc({ result }),
    gap: () => gaps.inc(),
    text: () => register.metrics(),
    contentType: register.contentType,
  };
}
