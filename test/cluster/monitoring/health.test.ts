/**
 * HealthChecks of class prometheus on a real Prometheus: a version whose value is inside the range, and one whose value
 * is not.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasPrometheus, type Prometheus, startPrometheus } from '../../../dev/local/monitoring/prometheus.ts';
import { objectOf } from '../../support/objects.ts';
import { withPrometheus } from '../../support/prometheus.ts';
import { type AnyObject, ref, sharedCluster } from '../support/cluster.ts';
import { healthCheck, type RolloutScenario, SELECTS_HEALTH, scenarioOf } from '../support/rolloutScenario.ts';

const view = sharedCluster();
const { admin, developer, newNamespace } = view;

let prometheus: Prometheus;

/** 3 for 1.0.0, 9 for 1.1.0. */
const VALUE_OF_VERSION = `
  (label_replace(vector(3), "version", "1.0.0", "", "") or label_replace(vector(9), "version", "1.1.0", "", ""))
    * on (version) label_replace(vector(1), "version", "{{ version }}", "", "")`;

/** A Rollout with a bake of two seconds on a HealthCheck that queries Prometheus, in a namespace that may. */
async function watched(): Promise<RolloutScenario> {
  const scenario = scenarioOf(view, await newNamespace({ team: 'ours' }));
  const { ns } = scenario;
  await admin.create(
    objectOf('MetricProvider', {
      metadata: { name: ns },
      spec: { address: `http://${prometheus.host}`, namespaceSelector: { matchLabels: { team: 'ours' } } },
    }) as AnyObject,
  );
  await scenario.create({ ...SELECTS_HEALTH, bakeTime: '2s' });
  const query = { provider: ns, query: VALUE_OF_VERSION, thresholdRange: { max: 5 }, interval: '10s', failureLimit: 1 };
  await developer.create(healthCheck(ns, { class: 'prometheus', prometheus: query }));
  return scenario;
}

describe.runIf(hasPrometheus)(withPrometheus('a HealthCheck of class prometheus'), () => {
  beforeAll(async () => {
    prometheus = await startPrometheus([]);
  }, 600_000);
  afterAll(() => prometheus?.stop());

  it('lets a version succeed with a value inside the range, and fails one with a value outside', async () => {
    const scenario = await watched();
    await scenario.publish('1.0.0');
    await scenario.headIs('1.0.0', 'Succeeded');
    const { status } = await admin.get(ref('healthCheck', scenario.ns, 'app'));
    expect(status).toMatchObject({ status: 'Healthy', message: '3 is inside the range (at most 5)' });
    expect(status.prometheus.measurements[0]).toMatchObject({ result: 'InRange', value: '3' });

    await scenario.publish('1.1.0');
    await scenario.headIs('1.1.0', 'Failed');
    const { failedHealthChecks } = await scenario.head();
    expect(failedHealthChecks).toEqual([
      { name: 'app', namespace: scenario.ns, message: '9 is outside the range (at most 5)' },
    ]);
  });
});
