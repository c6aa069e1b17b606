/** Objects before the first step, with the names in the Go controller's test suite. */

import { NAMESPACE, type ScenarioCluster } from './scenarioCluster.ts';
import { object, STEPS } from './steps.ts';

const SELECTED = { healthCheckSelector: { selector: { matchLabels: { app: 'test-app' } } } };

async function base(cluster: ScenarioCluster, spec: Record<string, unknown> = {}): Promise<void> {
  await cluster.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE, labels: {} } });
  const policy = object('image.toolkit.fluxcd.io/v1', 'ImagePolicy', 'test-image-policy', {
    imageRepositoryRef: { name: 'test-image-repo' },
    policy: { semver: { range: '>=0.1.0' } },
  });
  await cluster.put({ ...policy, status: {} });
  const releasesImagePolicy = { name: 'test-image-policy' };
  await cluster.put(object('kuberik.com/v1alpha1', 'Rollout', 'test-resource', { releasesImagePolicy, ...spec }));
}

async function healthCheck(cluster: ScenarioCluster): Promise<void> {
  await STEPS.health!(cluster, { labels: { app: 'test-app' } });
}

export const FIXTURES: Record<string, (cluster: ScenarioCluster) => Promise<void>> = {
  /** A Rollout and its ImagePolicy. */
  F0: (cluster) => base(cluster),
  /** With a bake of five minutes and one HealthCheck without reports. */
  FB: async (cluster) => {
    await base(cluster, { bakeTime: '5m', ...SELECTED });
    await healthCheck(cluster);
  },
  /** With the HealthCheck, no bakeTime. */
  FH: async (cluster) => {
    await base(cluster, SELECTED);
    await healthCheck(cluster);
  },
};
