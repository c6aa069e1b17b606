/**
 * Every alert and every panel of the dashboard, in a real Prometheus that scrapes a release, a rollback and a freeze.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type KubeStateMetrics, startKubeStateMetrics } from '../../../dev/local/monitoring/kubeStateMetrics.ts';
import { hasPrometheus, type Prometheus, startPrometheus } from '../../../dev/local/monitoring/prometheus.ts';
import { ALERTS, QUERIES } from '../../manifests/components/monitoring/monitoring.ts';
import { objectOf } from '../../support/objects.ts';
import { withPrometheus } from '../../support/prometheus.ts';
import { type AnyObject, gate, ref, sharedCluster, waitFor } from '../support/cluster.ts';
import { gated, requestGate } from '../support/gates.ts';
import { type RolloutScenario, SELECTS_HEALTH, scenarioOf } from '../support/rolloutScenario.ts';

const view = sharedCluster();
const { admin, sre, newNamespace } = view;

let exporter: KubeStateMetrics | undefined;
let prometheus: Prometheus;

/** The address at which Metacontroller reaches the hooks, which serve `/metrics` too: `127.0.0.1:port`. */
async function hooksHost(): Promise<string> {
  const apiVersion = 'metacontroller.k8s.io/v1alpha1';
  const controller = await admin.get({ apiVersion, kind: 'CompositeController', metadata: { name: 'rollouts' } });
  return new URL(controller.spec.hooks.sync.webhook.url).host;
}

/** Three versions: one Succeeded, one that failed and was rolled back, and one that waits for a Gate and a budget. */
async function tell(scenario: RolloutScenario): Promise<void> {
  const { ns } = scenario;
  await admin.create(gate(ns, 'freeze', { spec: { default: 'opened', window: '2h' } }));
  await admin.create(
    objectOf('RolloutBudget', {
      metadata: { namespace: ns, name: 'few' },
      spec: { selector: {}, maxConcurrent: 1 },
    }) as AnyObject,
  );
  await admin.create(gated('Kustomization', ns, 'web', 'freeze'));
  await scenario.watch();
  await scenario.create({ ...SELECTS_HEALTH, bakeTime: '1s', onFailure: 'Rollback', gates: [{ name: 'freeze' }] });
  await scenario.publish('1.0.0');
  await scenario.headIs('1.0.0', 'Deploying');
  await scenario.healthReset();
  await scenario.report('Healthy');
  await scenario.headIs('1.0.0', 'Succeeded');
}

async function goOn(scenario: RolloutScenario): Promise<void> {
  const { ns } = scenario;
  await scenario.publish('1.1.0');
  await scenario.headIs('1.1.0', 'Deploying');
  await scenario.healthReset();
  await scenario.report('Unhealthy', 'out of memory');
  await scenario.headIs('1.0.0', 'Deploying');
  await scenario.healthReset();
  await scenario.report('Healthy');
  await scenario.headIs('1.0.0', 'Succeeded');
  await requestGate(sre, ns, 'freeze', 'close');
  const path = { spec: { path: './other' } };
  await expect(admin.mergePatch(ref('kustomization', ns, 'web'), path)).rejects.toThrow('is closed');
  await scenario.publish('1.2.0');
  await scenario.conditionIs('DeploymentBlocked', { status: 'True', reason: 'GateClosed' });
}

const answers = (expr: string) => waitFor(async () => (await prometheus.query(expr))[0], `an answer to ${expr}`);

describe.runIf(hasPrometheus)(withPrometheus('a real Prometheus'), () => {
  beforeAll(async () => {
    exporter = await startKubeStateMetrics(admin, await newNamespace());
    prometheus = await startPrometheus([
      { job: 'rollout-hooks', host: await hooksHost() },
      { job: 'kube-state-metrics', host: exporter.host, honorLabels: true },
    ]);
    const scenario = scenarioOf(view, await newNamespace());
    await tell(scenario);
    // An increase needs a value before it.
    await answers('rollout_hooks_bakes_total');
    await goOn(scenario);
    await answers(`kuberik_gate_open{namespace="${scenario.ns}"} == 0`);
    await answers(`kuberik_rollout_pending_info{namespace="${scenario.ns}",tag="1.2.0"}`);
  }, 900_000);
  afterAll(() => Promise.all([exporter?.stop(), prometheus?.stop()]));

  it.each(QUERIES.map(({ title, expr }) => [title, expr]))('answers the panel %s', async (_, expr) => {
    await answers(expr);
    expect(await prometheus.remarks(expr)).toEqual([]);
  });

  it.each(ALERTS.map(({ alert, expr }) => [alert, expr]))('understands the alert %s', async (_, expr) => {
    await prometheus.query(expr);
    expect(await prometheus.remarks(expr)).toEqual([]);
  });

  it.each([
    ['a failure', 'increase(rollout_hooks_bakes_total{result="failed"}[10m]) > 0'],
    ['a rollback', 'increase(rollout_hooks_deployments_total{kind="rollback"}[10m]) > 0'],
    ['the time to restore', 'increase(rollout_hooks_restore_time_seconds_count[10m]) > 0'],
    ['the time of delivery', 'rollout_hooks_delivery_time_seconds_count > 0'],
    ['a denial', 'increase(rollout_hooks_admission_denials_total{reason="gate_closed"}[10m]) > 0'],
    ['reads for admission', 'increase(rollout_hooks_api_requests_total{caller="admission"}[10m]) > 0'],
  ])('has seen %s', async (_, expr) => {
    await answers(expr);
  });
});
