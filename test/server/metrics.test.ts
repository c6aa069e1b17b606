import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { COUNTERS } from '../../api/metrics.ts';
import { createMetrics } from '../../server/servedMetrics.ts';

const lines = async (metrics: ReturnType<typeof createMetrics>) =>
  (await metrics.text()).split('\n').filter((line) => line.startsWith('rollout_hooks_'));

it('every series exists from the start, with 0', async () => {
  const served = await lines(createMetrics());
  for (const [name, { labels }] of Object.entries(COUNTERS)) {
    const series = served.filter((line) => line.startsWith(name));
    const combinations = Object.values(labels).reduce((product, values) => product * values.length, 1);
    expect(series, name).toHaveLength(combinations);
    expect(series.every((line) => line.endsWith(' 0'))).toBe(true);
  }
});

it('has the version of package.json', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  expect(await lines(createMetrics())).toContain(`rollout_hooks_build_info{version="${version}"} 1`);
});

it('counts, several at once too', async () => {
  const metrics = createMetrics();
  metrics.count({ name: 'rollout_hooks_bakes_total', labels: { result: 'failed' } });
  metrics.count({ name: 'rollout_hooks_bakes_total', labels: { result: 'failed' }, times: 2 });
  expect(await lines(metrics)).toContain('rollout_hooks_bakes_total{result="failed"} 3');
});

it('keeps durations in buckets from a minute to months', async () => {
  const metrics = createMetrics();
  for (const key of ['u/1', 'u/1', 'u/2']) {
    metrics.observe({ name: 'rollout_hooks_restore_time_seconds', seconds: 400, key });
  }
  const served = await lines(metrics);
  expect(served).toContain('rollout_hooks_restore_time_seconds_bucket{le="300"} 0');
  expect(served).toContain('rollout_hooks_restore_time_seconds_bucket{le="900"} 2');
  expect(served).toContain('rollout_hooks_restore_time_seconds_sum 800');
});

it('an occurrence with a key counts once, however often the sync is repeated', async () => {
  const metrics = createMetrics();
  for (const key of ['u/1', 'u/1', 'u/2']) {
    metrics.count({ name: 'rollout_hooks_deployments_total', labels: { kind: 'manual' }, key });
  }
  metrics.count({ name: 'rollout_hooks_bakes_total', labels: { result: 'failed' }, key: 'u/1' });
  const served = await lines(metrics);
  expect(served).toContain('rollout_hooks_deployments_total{kind="manual"} 2');
  expect(served).toContain('rollout_hooks_bakes_total{result="failed"} 1');
});
