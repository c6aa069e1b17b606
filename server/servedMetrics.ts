/** Prometheus metrics of this process, at `/metrics` of the hooks' port. */
import { readFileSync } from 'node:fs';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from '@prometheus-io/client';
import type { EpochMs } from '../api/kubernetes.ts';
import { COUNTERS, type CounterName, DURATIONS, type DurationName } from '../api/metrics.ts';
import type { Metrics } from '../api/ports.ts';
import { Lru } from './lru.ts';

/** The number of recent occurrences that aren't counted again. */
const MAX_COUNTED_KEYS = 2000;

export interface ServedMetrics extends Metrics {
  /** Starts timing a request. The returned function stops, and records the time. */
  request(route: string): (outcome: string) => void;
  /** Seconds by which this clock is ahead of the API server's. */
  clockAhead(seconds: number): void;
  /** When the certificate in use expires. */
  certificateExpires(at: EpochMs): void;
  text(): Promise<string>;
  contentType: string;
}

export function createMetrics(): ServedMetrics {
  const register = new Registry();
  collectDefaultMetrics({ register });
  const build = new Gauge({
    name: 'rollout_hooks_build_info',
    help: 'Always 1, with the version of the replica',
    labelNames: ['version'],
    registers: [register],
  });
  build.set({ version: readVersion() }, 1);
  const seconds = new Histogram({
    name: 'rollout_hooks_request_duration_seconds',
    help: 'Time to answer a request of Metacontroller (/hooks/) or the API server (/admission/), by route and outcome',
    labelNames: ['route', 'outcome'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [register],
  });
  const clock = new Gauge({
    name: 'rollout_hooks_clock_ahead_seconds',
    help: "Seconds by which the replica's clock is ahead of the API server's; negative if it is behind. By more than a minute, the replica is not ready",
    registers: [register],
  });
  const expiry = new Gauge({
    name: 'rollout_hooks_certificate_expiry_timestamp_seconds',
    help: "When the admission webhook's certificate expires, in Unix seconds; NaN without one",
    registers: [register],
  });
  expiry.set(Number.NaN);
  const names = Object.keys(COUNTERS) as CounterName[];
  const counters = new Map(names.map((name) => [name, createCounter(name, register)]));
  const durationNames = Object.keys(DURATIONS) as DurationName[];
  const durations = new Map(durationNames.map((name) => [name, createDuration(name, register)]));
  const seen = new Lru<true>(MAX_COUNTED_KEYS);
  const isRepeated = (name: string, key: string | undefined): boolean => {
    if (key === undefined) return false;
    const occurrence = `${name} ${key}`;
    if (seen.get(occurrence)) return true;
    seen.set(occurrence, true);
    return false;
  };
  return {
    request(route) {
      const end = seconds.startTimer({ route });
      return (outcome) => end({ outcome });
    },
    clockAhead: (ahead) => clock.set(ahead),
    certificateExpires: (at) => expiry.set(at / 1000),
    count({ name, labels, times = 1, key }) {
      if (!isRepeated(name, key)) counters.get(name)!.inc({ ...labels }, times);
    },
    observe({ name, seconds: took, key }) {
      if (!isRepeated(name, key)) durations.get(name)!.observe(took);
    },
    text: () => register.metrics(),
    contentType: register.contentType,
  };
}

function readVersion(): string {
  const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}

/** A counter with every series at 0: Prometheus detects no increase in a series that first appears as 1. */
function createCounter(name: CounterName, register: Registry): Counter<string> {
  const { help, labels } = COUNTERS[name];
  const counter = new Counter<string>({ name, help, labelNames: Object.keys(labels), registers: [register] });
  for (const values of combinations(Object.entries(labels))) counter.inc(values, 0);
  return counter;
}

function createDuration(name: DurationName, register: Registry): Histogram<string> {
  const { help, buckets } = DURATIONS[name];
  return new Histogram({ name, help, buckets: [...buckets], registers: [register] });
}

function combinations([first, ...rest]: [label: string, values: readonly string[]][]): Record<string, string>[] {
  if (!first) return [{}];
  const [label, values] = first;
  return values.flatMap((value) => combinations(rest).map((others) => ({ [label]: value, ...others })));
}
