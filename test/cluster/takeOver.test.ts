import { describe, expect, it } from 'vitest';
import { kustomization, ref, rollout, rolloutGate, sharedCluster, staysTrue, waitFor } from './support/cluster.ts';
import { conditionOf, history, substitutes, variablesArrive } from './support/versions.ts';

const { admin, developer, newNamespace, publish } = sharedCluster();

describe('a Rollout that takes over what runs', () => {
  it('begins with it, changes nothing, and holds what follows behind a RolloutGate', async () => {
    const ns = await newNamespace();
    await publish(ns, 'app', '2.0.0');
    const running = kustomization(ns, 'app', {});
    await developer.create({
      ...running,
      spec: { ...running.spec, postBuild: { substitute: { APP_VERSION: '1.0.0' } } },
    });
    const generation = async () => (await admin.get(ref('kustomization', ns, 'app'))).metadata.generation;
    const before = await generation();
    await admin.create(rolloutGate(ns, 'take-over', 'app', { passing: false }));
    await developer.create(rollout(ns, 'app', { spec: { initialVersion: '1.0.0', gateFirstDeployment: false } }));
    await developer.mergePatch(ref('kustomization', ns, 'app'), {
      metadata: { annotations: { 'rollout.kuberik.com/substitute.APP_VERSION.from': 'app' } },
    });
    await waitFor(async () => {
      const { metadata } = await admin.get(ref('kustomization', ns, 'app'));
      return metadata.annotations?.['rollout.kuberik.com/deployed']?.startsWith('app=1/1.0.0/');
    }, 'the deployment to be carried');
    await waitFor(async () => {
      const found = await admin.get(ref('rollout', ns, 'app'));
      return found.status.pendingVersion === '2.0.0' && conditionOf(found, 'WaitingForRolloutGates')?.status === 'True';
    }, '2.0.0 to wait');
    await staysTrue(async () => (await substitutes(admin, ns, 'app')).APP_VERSION === '1.0.0', '1.0.0', 1000);
    expect(await generation()).toBe(before);
    await admin.mergePatch(ref('rolloutGate', ns, 'take-over'), { spec: { passing: true } });
    await variablesArrive(admin, ns, 'app', { APP_VERSION: '2.0.0' });
    expect(await history(admin, ns, 'app')).toEqual([
      [2, '2.0.0'],
      [1, '1.0.0'],
    ]);
  });
});
