/** A quarter of a minute of `npm run soak`: all that happens in its hours, and its judgement. It runs where Prometheus is there (CONTRIBUTING.md). */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hasPrometheus } from '../../dev/local/monitoring/prometheus.ts';
import { runSoak } from '../../dev/soak/run.ts';
import { startTestCluster, type TestCluster } from '../cluster/support/testCluster.ts';

/** Its first release is rolled back, and nothing fails that would take six minutes to. */
const SEED = 59;

describe.runIf(hasPrometheus)('a short soak', () => {
  // A soak fills a cluster: one that is tried again has another.
  let cluster: TestCluster;
  beforeEach(async () => {
    cluster = await startTestCluster({ auditRules: [{ level: 'None' }] });
  });
  afterEach(() => cluster?.dispose());

  it('loses nothing', async () => {
    const { violations, releases, happenings, versions } = await runSoak(cluster, {
      minutes: 0.25,
      fleet: 20,
      seed: SEED,
      patience: 300,
      pace: { share: 0.1, scrapeSeconds: 1 },
      log: () => {},
      signal: new AbortController().signal,
    });
    expect(violations).toEqual([]);
    expect(releases.succeeded).toBeGreaterThan(20);
    expect(versions).toBeGreaterThan(100);
    const happened = new Set(happenings.map(({ what }) => what));
    expect(happened).toEqual(new Set(['restart', 'close', 'open', 'bypass', 'remove', 'restore']));
  });
});
