/** What is there before the first step, under the names that the Go controller's test suite has for it. */
import { object, STEPS } from './steps.ts';
import { NAMESPACE, type World } from './world.ts';

const SELECTED = { healthCheckSelector: { selector: { matchLabels: { app: 'test-app' } } } };

async function base(world: World, spec: Record<string, unknown> = {}): Promise<void> {
  await world.put({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE, labels: {} } });
  const policy = object('image.toolkit.fluxcd.io/v1', 'ImagePolicy', 'test-image-policy', {
    imageRepositoryRef: { name: 'test-image-repo' },
    policy: { semver: { range: '>=0.1.0' } },
  });
  await world.put({ ...policy, status: {} });
  const releasesImagePolicy = { name: 'test-image-policy' };
  await world.put(object('kuberik.com/v1alpha1', 'Rollout', 'test-resource', { releasesImagePolicy, ...spec }));
}

async function healthCheck(world: World): Promise<void> {
  await STEPS.health!(world, { labels: { app: 'test-app' } });
}

export const FIXTURES: Record<string, (world: World) => Promise<void>> = {
  /** A Rollout and its ImagePolicy. */
  F0: (world) => base(world),
  /** With a bake of five minutes and one HealthCheck that has reported nothing. */
  FB: async (world) => {
    await base(world, { bakeTime: '5m', ...SELECTED });
    await healthCheck(world);
  },
  /** With the HealthCheck, no bakeTime. */
  FH: async (world) => {
    await base(world, SELECTED);
    await healthCheck(world);
  },
};
