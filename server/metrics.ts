/** Prometheus metrics of this process, at `/metrics` of the hooks' port. */
import { Counter, collectDefaultMetrics, Histogram, Registry } from '@prometheus-io/client';

export interface Metrics {
  /** Call at the start of a request; the answer records its end. */
  request(route: string): (outcome: string) => void;
  dropped(what: string): void;
  text(): Promise<string>;
  contentType: string;
}

export function createMetrics(): Metrics {
  const register = new Registry();
  collectDefaultMetrics({ register });
  const seconds = new Histogram({
    name: 'rollout_hooks_request_duration_seconds',
    help: 'Time to answer a hook or admission request, by route and outcome',
    labelNames: ['route', 'outcome'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [register],
  });
  const dropped = new Counter({
    name: 'rollout_hooks_dropped_total',
    help: 'Side effects given up, by kind (events, notifications, metadata)',
    labelNames: ['what'],
    registers: [register],
  });
  return {
    request(route) {
      const end = seconds.startTimer({ route });
      return (outcome) => end({ outcome });
    },
    dropped: (what) => dropped.inc({ what }),
    text: () => register.metrics(),
    contentType: register.contentType,
  };
}
