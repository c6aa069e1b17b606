import { describe, expect, it } from 'vitest';
import { objectOf } from '../support/objects.ts';
import { type AnyObject, kustomization, ref, rollout, sharedCluster, waitFor } from './support/cluster.ts';

const { admin, developer, newNamespace, publish } = sharedCluster();

/** A HealthCheck of class kustomization about the Kustomization `app`, with an interval of five seconds. */
const healthCheck = (namespace: string): AnyObject =>
  objectOf('HealthCheck', {
    metadata: {
      name: 'app',
      namespace,
      annotations: {
        'healthcheck.kuberik.com/kustomization': 'app',
        'healthcheck.kuberik.com/requeue-interval': '5s',
      },
    },
    spec: { class: 'kustomization' },
  });

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

/** Writes the status of kustomize-controller after it has applied `services` Services. */
async function applied(namespace: string, services: number): Promise<void> {
  const { metadata } = await admin.get(ref('kustomization', namespace, 'app'));
  const entries = Array.from({ length: services }, (_, i) => ({ id: `${namespace}_s${i}__Service`, v: 'v1' }));
  await admin.patchStatus(ref('kustomization', namespace, 'app'), {
    observedGeneration: metadata.generation,
    conditions: [
      {
        type: 'Ready',
        status: 'True',
        reason: 'ReconciliationSucceeded',
        message: 'applied',
        lastTransitionTime: '2026-01-02T12:00:00Z',
        observedGeneration: metadata.generation,
      },
    ],
    inventory: {
      entries: [
        ...entries,
        { id: `${namespace}_web_apps_Deployment`, v: 'v1' },
        { id: `${namespace}_s__Secret`, v: 'v1' },
      ],
    },
  });
}

const deployment = (namespace: string): AnyObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'web' }] } },
  },
});

/** Writes the status that the Deployment controller, which doesn't run here, would write. */
async function deploymentSays(namespace: string, type: string, status: string, reason: string): Promise<void> {
  const web = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', namespace } };
  const one = { replicas: 1, updatedReplicas: 1, availableReplicas: 1, readyReplicas: 1, observedGeneration: 1 };
  const progressing = { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable', message: '' };
  const others = type === 'Progressing' ? [] : [progressing];
  await admin.patchStatus(web, { ...one, conditions: [...others, { type, status, reason, message: '' }] });
}

describe('a HealthCheck of class kustomization', () => {
  it('follows the Kustomization and its inventory', async () => {
    const ns = await newNamespace();
    await developer.create(healthCheck(ns));
    await healthIs(ns, { status: 'Unhealthy', message: expect.stringContaining('not found') });
    await developer.create(kustomization(ns, 'app'));
    await healthIs(ns, { status: 'Pending', message: expect.stringMatching(/^Kustomization pending: /) });

    await admin.create(deployment(ns));
    for (let i = 0; i < 9; i++) {
      const metadata = { name: `s${i}`, namespace: ns };
      await admin.create({ apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port: 80 }] } });
    }
    await applied(ns, 9);
    await healthIs(ns, { status: 'Pending', message: `Pending resources: ${ns}/web (Replicas: 0/1)` });
    await deploymentSays(ns, 'Available', 'True', 'MinimumReplicasAvailable');
    await healthIs(ns, { status: 'Healthy', message: 'Kustomization and all managed resources are healthy' });
    await deploymentSays(ns, 'Progressing', 'False', 'ProgressDeadlineExceeded');
    await healthIs(ns, { status: 'Unhealthy', message: `Unhealthy resources: ${ns}/web (Progress deadline exceeded)` });
  });

  it('is found among many Rollouts by their selectors, whether created before or after', async () => {
    const ns = await newNamespace();
    const watching = (name: string, app: string) =>
      rollout(ns, name, { spec: { healthCheckSelector: { matchLabels: { app } } } });
    for (let i = 0; i < 20; i++) await developer.create(watching(`other-${i}`, `other-${i}`));
    const check = healthCheck(ns);
    await developer.create({
      ...check,
      metadata: { ...check.metadata, labels: { app: 'app' } },
      spec: { class: 'datadog' },
    });
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
