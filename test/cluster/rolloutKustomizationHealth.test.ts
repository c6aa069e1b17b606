/** A bake watched by a HealthCheck of class kustomization: what Flux and the workloads say fails or passes a version. */
import { describe, expect, it } from 'vitest';
import { kustomization, ref, sharedCluster, staysTrue, waitFor } from './support/cluster.ts';
import { healthCheck, nextSecond, SELECTS_HEALTH, type Story, storyOf } from './support/rolloutStory.ts';
import { tagArrives, variablesArrive } from './support/versions.ts';
import { deploymentOf, workload } from './support/workloads.ts';

const view = sharedCluster();
const { admin, developer, newNamespace } = view;

describe('a HealthCheck of class kustomization', () => {
  /** Looked at every five seconds, unless it may rest. */
  function checkOfKustomization(ns: string, { restsWhenHealthy = false } = {}) {
    const annotations = {
      'healthcheck.kuberik.com/kustomization': 'app',
      ...(!restsWhenHealthy && { 'healthcheck.kuberik.com/requeue-interval': '5s' }),
    };
    const check = healthCheck(ns, 'app', { spec: { class: 'kustomization' } });
    return { ...check, metadata: { ...check.metadata, annotations } };
  }

  /** Bound objects, a Deployment, and a HealthCheck of the Kustomization; 1.0.0 is applied and runs. */
  async function running(check?: { restsWhenHealthy: boolean }): Promise<Story> {
    const ns = await newNamespace();
    const story = storyOf(view, ns);
    await story.bind();
    await admin.create(checkOfKustomization(ns, check));
    await admin.create(deploymentOf(ns));
    await workload(admin, ns, 'available');
    await story.create({ bakeTime: '1s', ...SELECTS_HEALTH });
    await story.publish('1.0.0');
    await story.fetched('1.0.0');
    await story.flux.apply(ns, 'app', { inventory: [{ id: `${ns}_web_apps_Deployment`, v: 'v1' }] });
    await story.headIs('1.0.0', 'Succeeded');
    return story;
  }

  it('fails a version that never arrives because the Kustomization waits for a Deployment that is stuck', async () => {
    const story = await running();
    const { ns } = story;
    await nextSecond();
    await story.publish('1.1.0');
    await story.headIs('1.1.0', 'Deploying');
    await story.fetched('1.1.0');
    await story.flux.attempt(ns, 'app');
    await nextSecond();
    await workload(admin, ns, 'stuck');
    const head = await story.headIs('1.1.0', 'Failed');
    expect(head).not.toHaveProperty('appliedTime');
    expect(head.failedHealthChecks[0].message).toMatch(/^Unhealthy resources: /);
  });

  it('does not fail a version that Flux has not begun with because the one before it gets stuck', async () => {
    const story = await running();
    const { ns } = story;
    await nextSecond();
    await story.publish('1.1.0');
    await story.headIs('1.1.0', 'Deploying');
    await tagArrives(admin, ns, 'app', '1.1.0');
    await nextSecond();
    await workload(admin, ns, 'stuck');
    await waitFor(async () => {
      const { status } = await admin.get(ref('healthCheck', ns, 'app'));
      return status.status === 'Pending' && status.message.includes('Progress deadline exceeded');
    }, 'the old failure to be seen as such');
    await staysTrue(async () => (await story.head()).bakeStatus === 'Deploying', 'Deploying', 1000);
    await workload(admin, ns, 'available');
    await story.arrive('1.1.0');
    await story.headIs('1.1.0', 'Succeeded');
  });

  it('at rest is looked at before a version is deployed: what has failed since holds it', async () => {
    const story = await running({ restsWhenHealthy: true });
    const { ns } = story;
    await nextSecond();
    await workload(admin, ns, 'stuck');
    // Nothing tells the HealthCheck of it.
    await staysTrue(
      async () => (await admin.get(ref('healthCheck', ns, 'app'))).status.status === 'Healthy',
      'Healthy',
      2000,
    );
    await story.publish('1.1.0');
    await waitFor(async () => {
      const { status } = await admin.get(ref('rollout', ns, 'app'));
      const blocked = status.conditions.find(({ type }: { type: string }) => type === 'DeploymentBlocked');
      return blocked.reason === 'UnhealthyHealthChecks' && blocked.message.includes('Progress deadline exceeded');
    }, 'the Rollout to say what holds 1.1.0');
    await waitFor(async () => {
      const { status } = await admin.get(ref('healthCheck', ns, 'app'));
      return status.status === 'Unhealthy';
    }, 'the HealthCheck to find it too');
    expect((await story.head()).version.tag).toBe('1.0.0');
  });

  it('lets the bake start when the new version runs, and fails it when a Deployment gets stuck', async () => {
    const ns = await newNamespace();
    const story = storyOf(view, ns);
    await story.bind();
    await admin.create(checkOfKustomization(ns));
    await admin.create(deploymentOf(ns));
    await workload(admin, ns, 'progressing');
    await story.create({ bakeTime: '2s', ...SELECTS_HEALTH });
    await story.publish('1.0.0');
    await story.fetched('1.0.0');
    const inventory = [{ id: `${ns}_web_apps_Deployment`, v: 'v1' }];
    await story.flux.apply(ns, 'app', { inventory });
    await story.headIs('1.0.0', { bakeStatus: 'Deploying', appliedTime: expect.any(String) });
    await waitFor(async () => {
      const { status } = await admin.get(ref('healthCheck', ns, 'app'));
      return status.status === 'Pending' && status.message.startsWith(`Pending resources: ${ns}/web (`);
    }, 'the Deployment to be seen');
    await workload(admin, ns, 'available');
    await story.headIs('1.0.0', 'Succeeded');

    await nextSecond();
    await story.publish('1.1.0');
    await story.headIs('1.1.0', 'Deploying');
    await story.fetched('1.1.0');
    // The old workload is as healthy as ever: it says nothing of 1.1.0.
    await staysTrue(async () => (await story.head()).bakeStatus === 'Deploying', 'Deploying', 2000);
    await admin.mergePatch(deploymentOf(ns), { spec: { paused: false, minReadySeconds: 1 } });
    await story.arrive('1.1.0');
    await story.headIs('1.1.0', { bakeStatus: 'Deploying', appliedTime: expect.any(String) });
    await nextSecond();
    await workload(admin, ns, 'stuck');
    const head = await story.headIs('1.1.0', 'Failed');
    expect(head.failedHealthChecks).toEqual([
      { name: 'app', namespace: ns, message: `Unhealthy resources: ${ns}/web (Progress deadline exceeded)` },
    ]);
  });

  it('of a Kustomization that fails to build fails the deployment', async () => {
    const ns = await newNamespace();
    const story = storyOf(view, ns);
    await developer.create(
      kustomization(ns, 'app', {
        variables: { APP_VERSION: 'app' },
        spec: { sourceRef: { kind: 'GitRepository', name: 'none' } },
      }),
    );
    await admin.create(checkOfKustomization(ns));
    await story.create({ bakeTime: '2s', ...SELECTS_HEALTH });
    await story.publish('1.0.0');
    await story.headIs('1.0.0', 'Deploying');
    await variablesArrive(admin, ns, 'app', { APP_VERSION: '1.0.0' });
    await nextSecond();
    await story.flux.fail(ns, 'app', 'BuildFailed', 'kustomize build failed: no such file');
    const head = await story.headIs('1.0.0', 'Failed');
    expect(head.failedHealthChecks[0].message).toContain('kustomize build failed: no such file');
  });
});
