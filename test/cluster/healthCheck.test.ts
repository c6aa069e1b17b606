import { describe, expect, it } from 'vitest';
import { ref, rollout, sharedCluster, waitFor } from './support/cluster.ts';
import { healthCheck } from './support/rolloutStory.ts';

const { admin, developer, newNamespace, publish } = sharedCluster();

const RESET = { status: 'Pending', message: 'Health check reset due to new deployment' };

async function healthIs(namespace: string, expected: object): Promise<void> {
  await waitFor(
    async () => {
      const { status } = await admin.get(ref('healthCheck', namespace, 'app'));
      expect(status).toMatchObject(expected);
      return true;
    },
    `the health ${JSON.stringify(expected)}`,
  );
}

describe('a HealthCheck', () => {
  it('is found among many Rollouts by what their selectors ask for, created before it or after', async () => {
    const ns = await newNamespace();
    const watching = (name: string, app: string) =>
      rollout(ns, name, { spec: { healthCheckSelector: { matchLabels: { app } } } });
    for (let i = 0; i < 20; i++) await developer.create(watching(`other-${i}`, `other-${i}`));
    await developer.create(healthCheck(ns, 'app', { labels: { app: 'app' }, spec: { class: 'datadog' } }));
    await developer.create(watching('app', 'app'));
    await publish(ns, 'app', '1.0.0');
    await healthIs(ns, RESET);
    await admin.patchStatus(ref('healthCheck', ns, 'app'), { status: 'Healthy', message: 'fine' });
    await waitFor(async () => {
      const { metadata, status } = await admin.get(ref('rollout', ns, 'app'));
      return metadata.labels?.['rollout.kuberik.com/watches'] && status.history[0].bakeStatus === 'Succeeded';
    }, 'the bake to end');
    await publish(ns, 'app', '1.1.0');
    await healthIs(ns, RESET);
  });
});
