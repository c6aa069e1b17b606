/**
 * Half a minute of `npm run chaos`, and a minute of it with `--prometheus` where that is there (CONTRIBUTING.md).
 * `CHAOS_SEED=17 npx vitest run --project long test/long/chaos.test.ts` makes the same choices.
 */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { AUDIT_RULES } from '../../dev/chaos/audit.ts';
import { type Replicas, replicasOf } from '../../dev/chaos/replicas.ts';
import { runChaos } from '../../dev/chaos/run.ts';
import { hasPrometheus } from '../../dev/local/monitoring/prometheus.ts';
import { startTestCluster, type TestCluster } from '../cluster/support/testCluster.ts';
import { withPrometheus } from '../support/prometheus.ts';

const seed = Number(process.env.CHAOS_SEED ?? (process.env.CI ? 1 : Math.floor(Math.random() * 1e6)));
const OPTIONS = { seed, teams: 4, patienceSeconds: 300, log: () => {} };
let replicas: Replicas;
let cluster: TestCluster;

beforeEach(async () => {
  process.stderr.write(`CHAOS_SEED=${seed}\n`);
  replicas = replicasOf();
  cluster = await startTestCluster({ auditRules: AUDIT_RULES, serveHooks: replicas.serve });
});
afterEach(async () => {
  await cluster?.dispose();
  await replicas.close();
});

it('nothing is lost and no closed Gate is bypassed while every process dies', async () => {
  const { findings, processes } = await runChaos(cluster, replicas, { ...OPTIONS, seconds: 35 });
  expect(findings.violations).toEqual([]);
  const faults = [...processes.values()].reduce((sum, { killed, paused }) => sum + killed + paused, 0);
  expect(faults).toBeGreaterThan(5);
  expect(findings.closures).toBeGreaterThan(0);
  expect(findings.deployments).toBeGreaterThan(0);
  expect(findings.outcomes.Succeeded).toBeGreaterThan(0);
});

it.runIf(hasPrometheus)(withPrometheus('alerts are true, and fire'), async () => {
  const options = { ...OPTIONS, seconds: 60, scrapeSeconds: 1 };
  const { findings, monitoring } = await runChaos(cluster, replicas, options);
  expect(findings.violations).toEqual([]);
  expect(monitoring!.alerts.map(({ alert }) => alert)).toContain('RolloutHooksGateBypassed');
});
