import { expect, it } from 'vitest';
import { ref, rollout, sharedCluster, waitFor } from './support/cluster.ts';
import { healthCheck } from './support/rolloutScenario.ts';

const { admin, developer, newNamespace, publish } = sharedCluster();

it('a HealthCheck is found among many Rollouts by their selectors, and reset by each deployment', async () => {
  const ns = await newNamespace();
  const watching = (name: string, app: string) =>
    rollout(ns, name, { spec: { healthCheckSelector: { matchLabels: { app } } } });
  const isReset = () =>
    waitFor(async () => {
      const { status } = await admin.get(ref('healthCheck', ns, 'app'));
      expect(status).toMatchObject({ status: 'Pending', message: 'Health check reset due to new deployment' });
      return true;
    }, 'the reset');
  for (let i = 0; i < 20; i++) await developer.create(watching(`other-${i}`, `other-${i}`));
  await developer.create(healthCheck(ns, { class: 'datadog' }));
  await developer.create(watching('app', 'app'));
  await publish(ns, 'app', '1.0.0');
  await isReset();
  await admin.patchStatus(ref('healthCheck', ns, 'app'), { status: 'Healthy', message: 'fine' });
  await waitFor(async () => {
    const { metadata, status } = await admin.get(ref('rollout', ns, 'app'));
    return metadata.labels?.['rollout.kuberik.com/watches'] && status.history[0].bakeStatus === 'Succeeded';
  }, 'the bake to end');
  await publish(ns, 'app', '1.1.0');
  await isReset();
});
