/**
 * What a bake can watch, together, on a real Prometheus: where a workload, a Canary, a query and a Job are all good the
 * version succeeds, and each of them fails the next one, which is taken back.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasPrometheus, type Prometheus, startPrometheus } from '../../../dev/local/monitoring/prometheus.ts';
import { objectOf } from '../../support/objects.ts';
import { withPrometheus } from '../../support/prometheus.ts';
import { type AnyObject, sharedCluster, waitFor } from '../support/cluster.ts';
import {
  healthCheck,
  nextSecond,
  type RolloutScenario,
  SELECTS_HEALTH,
  scenarioOf,
} from '../support/rolloutScenario.ts';
import { deploymentOf, jobsOf, newJob, podEnds, workload } from '../support/workloads.ts';

const view = sharedCluster();
const { admin, newNamespace } = view;
let prometheus: Prometheus;

const CANARY_KIND = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'canaries.flagger.app' },
  spec: {
    group: 'flagger.app',
    scope: 'Namespaced',
    names: { kind: 'Canary', plural: 'canaries', singular: 'canary', listKind: 'CanaryList' },
    versions: [
      {
        name: 'v1beta1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
};
const canaryOf = (ns: string): AnyObject => ({
  apiVersion: 'flagger.app/v1beta1',
  kind: 'Canary',
  metadata: { namespace: ns, name: 'web' },
  spec: { analysis: { interval: '1s' } },
});
/** The metric is 9 for this version, and 3 for others. */
const query = (bad: string) =>
  `9 * count(label_replace(vector(1), "v", "{{ version }}", "", "") and on (v) label_replace(vector(1), "v", "${bad}", "", "")) or vector(3)`;
const inventory = (ns: string) => [
  { id: `${ns}_web_apps_Deployment`, v: 'v1' },
  { id: `${ns}_web_flagger.app_Canary`, v: 'v1beta1' },
];

const canaryIs = (ns: string, phase: string) =>
  admin.patchStatus(canaryOf(ns) as never, {
    phase,
    canaryWeight: 50,
    failedChecks: 2,
    lastTransitionTime: new Date().toISOString(),
  });

/** The Rollout, its bound objects, and four HealthChecks. */
async function watched(breaks: Breaks): Promise<RolloutScenario> {
  const ns = await newNamespace();
  const scenario = scenarioOf(view, ns);
  await scenario.bind();
  await admin.create(deploymentOf(ns));
  await admin.create(canaryOf(ns));
  const provider = { address: `http://${prometheus.host}`, namespaceSelector: {} };
  await admin.create(objectOf('MetricProvider', { metadata: { name: ns }, spec: provider }) as AnyObject);
  const objects = healthCheck(ns, 'objects', {
    spec: { class: 'kustomization' },
    annotations: {
      'healthcheck.kuberik.com/kustomization': 'app',
      'healthcheck.kuberik.com/requeue-interval': '5s',
      'healthcheck.kuberik.com/grace-period': '2s',
    },
  });
  const bad = breaks === 'query' ? '1.1.0' : 'none';
  const metric = { provider: ns, query: query(bad), thresholdRange: { max: 5 }, interval: '10s', failureLimit: 1 };
  const container = { name: 'test', image: 'test:1' };
  const job = {
    template: { spec: { backoffLimit: 0, template: { spec: { restartPolicy: 'Never', containers: [container] } } } },
  };
  await admin.create(objects);
  await admin.create(healthCheck(ns, 'errors', { spec: { class: 'prometheus', prometheus: metric } }));
  await admin.create(healthCheck(ns, 'smoke', { spec: { class: 'job', job } }));
  // Longer than the interval of the checks: on a busy machine a bake of 5 s ends before a check sees that anything
  // fails.
  await scenario.create({ bakeTime: '15s', deployTimeout: '5m', onFailure: 'Rollback', ...SELECTS_HEALTH });
  return scenario;
}

/** Flux applies the version, with good health in every respect but the query of a bad version. */
async function arrives({ ns, ...scenario }: RolloutScenario, version: string, exitCode = 0): Promise<void> {
  const before = (await jobsOf(admin, ns)).map(({ metadata }) => metadata.name!);
  await scenario.fetched(version);
  await scenario.flux.apply(ns, 'app', { inventory: inventory(ns) });
  await workload(admin, ns, 'available');
  await nextSecond();
  await canaryIs(ns, 'Succeeded');
  await podEnds(admin, ns, await newJob(admin, ns, before), exitCode);
}

type Breaks = 'workload' | 'canary' | 'query' | 'job';
const failures: [Breaks, ((scenario: RolloutScenario) => Promise<unknown>) | undefined, RegExp][] = [
  ['workload', ({ ns }) => workload(admin, ns, 'progressing'), /^Unhealthy resources: .*\/web/],
  ['canary', ({ ns }) => canaryIs(ns, 'Failed'), /Canary Failed, weight 50 %, 2 failed checks/],
  ['query', undefined, /^9 is outside the range \(at most 5\)$/],
  ['job', undefined, /exit code 1/],
];

describe.runIf(hasPrometheus)(withPrometheus('a bake that watches a workload, a Canary, a query and a Job'), () => {
  beforeAll(async () => {
    prometheus = await startPrometheus([]);
    await admin.apply(CANARY_KIND as never);
  }, 600_000);
  afterAll(() => prometheus?.stop());

  it.each(failures)(
    'succeeds while all are good, and fails by the %s',
    async (breaks, happens, message) => {
      const scenario = await watched(breaks);
      await scenario.publish('1.0.0');
      await arrives(scenario, '1.0.0');
      await scenario.headIs('1.0.0', 'Succeeded');

      await scenario.publish('1.1.0');
      await scenario.headIs('1.1.0', 'Deploying');
      await arrives(scenario, '1.1.0', breaks === 'job' ? 1 : 0);
      if (happens) {
        await scenario.headIs('1.1.0', 'InProgress');
        await happens(scenario);
      }
      const back = await scenario.headIs('1.0.0', { bakeStatus: 'Deploying', rolledBackFrom: '1.1.0' });
      const [, failed] = (await scenario.statusOf()).history;
      expect(failed).toMatchObject({ version: { tag: '1.1.0' }, bakeStatus: 'Failed' });
      expect(failed.failedHealthChecks[0].message).toMatch(message);

      await arrives(scenario, '1.0.0');
      await scenario.headIs('1.0.0', { bakeStatus: 'Succeeded', id: back.id });
      await waitFor(async () => (await scenario.statusOf()).currentVersion === '1.0.0', 'the version that runs');
    },
    180_000,
  );
});
