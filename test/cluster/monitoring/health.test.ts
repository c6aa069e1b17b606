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

const provider = (name: string, team: string): AnyObject =>
  objectOf('MetricProvider', {
    metadata: { name },
    spec: { address: `http://${prometheus.host}`, namespaceSelector: { matchLabels: { team } } },
  }) as AnyObject;

/**
 * A Rollout with a bake of two seconds on a HealthCheck, and a MetricProvider named as its namespace, for namespaces of
 * that team.
 */
async function watched(team: string): Promise<RolloutScenario> {
  const scenario = scenarioOf(view, await newNamespace({ team: 'ours' }));
  await admin.create(provider(scenario.ns, team));
  await scenario.create({ ...SELECTS_HEALTH, bakeTime: '2s' });
  return scenario;
}

const check = (ns: string, fields: object): AnyObject => {
  const prometheus = { provider: ns, query: VALUE_OF_VERSION, thresholdRange: { max: 5 }, interval: '10s', ...fields };
  return healthCheck(ns, { class: 'prometheus', prometheus });
};

describe.runIf(hasPrometheus)(withPrometheus('a HealthCheck of class prometheus'), () => {
  beforeAll(async () => {
    prometheus = await startPrometheus([]);
  }, 600_000);
  afterAll(() => prometheus?.stop());

  it('lets a version succeed with a value inside the range, and fails one with a value outside', async () => {
    const scenario = await watched('ours');
    await developer.create(check(scenario.ns, { failureLimit: 1 }));
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

  it.each([
    ['another class', { class: 'kustomization' }, 'prometheus needs class: prometheus'],
    ['no bound', { prometheus: { thresholdRange: {} } }, 'needs min, max or both'],
    ['bounds the wrong way round', { prometheus: { thresholdRange: { min: 2, max: 1 } } }, 'min must not be above max'],
  ])('is refused with %s', async (_, fields: { class?: string; prometheus?: object }, message) => {
    const object = check('default', fields.prometheus ?? {});
    if (fields.class) object.spec.class = fields.class;
    await expect(developer.create(object)).rejects.toThrow(message);
  });

  it('sends credentials by https only', async () => {
    const { spec, ...rest } = provider('insecure', 'a');
    const insecure = { ...rest, spec: { ...spec, secretRef: { name: 'a' } } } as AnyObject;
    await expect(admin.create(insecure)).rejects.toThrow('credentials are sent over https only');
  });
});
