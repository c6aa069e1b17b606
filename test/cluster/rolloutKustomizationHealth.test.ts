/** A bake watched by a HealthCheck of class kustomization: what Flux and the workloads say fails or passes a version. */
import { describe, expect, it } from 'vitest';
import { ref, sharedCluster, staysTrue, waitFor } from './support/cluster.ts';
import { healthCheck, nextSecond, SELECTS_HEALTH, storyOf } from './support/rolloutStory.ts';
import { deploymentOf, workload } from './support/workloads.ts';

const view = sharedCluster();
const { admin, newNamespace } = view;

describe('a HealthCheck of class kustomization', () => {
  function checkOfKustomization(ns: string) {
    const annotations = {
      'healthcheck.kuberik.com/kustomization': 'app',
      'healthcheck.kuberik.com/requeue-interval': '5s',
    };
    const check = healthCheck(ns, 'app', { spec: { class: 'kustomization' } });
    return { ...check, metadata: { ...check.metadata, annotations } };
  }

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
});
