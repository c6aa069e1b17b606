/**
 * Half a minute of `npm run chaos`. `CHAOS_SEED=17 npx vitest run --project long test/long/chaos.test.ts` makes the same choices.
 */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { AUDIT_RULES } from '../../dev/chaos/audit.ts';
import { type Replicas, replicasOf } from '../../dev/chaos/replicas.ts';
import { runChaos } from '../../dev/chaos/run.ts';
import { startTestCluster, type TestCluster } from '../cluster/support/testCluster.ts';

const seed = Number(process.env.CHAOS_SEED ?? (process.env.CI ? 1 : Math.floor(Math.random() * 1e6)));
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

it('nothing is lost and nothing gets past a closed gate while every process dies', async () => {
  const options = { seconds: 35, seed, teams: 4, patienceSeconds: 300, log: () => {} };
  const { findings, processes } = await runChaos(cluster, replicas, options);
  expect(findings.violations).toEqual([]);
  const misfortunes = [...processes.values()].reduce((sum, { killed, paused }) => sum + killed + paused, 0);
  expect(misfortunes).toBeGreaterThan(5);
  expect(findings.closings).toBeGreaterThan(0);
  expect(findings.deployments).toBeGreaterThan(0);
  expect(findings.outcomes.Succeeded).toBeGreaterThan(0);
});
