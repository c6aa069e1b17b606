/** A request from a Git sync takes effect once and is removed. */
import { expect, it } from 'vitest';
import { objectOf } from '../support/objects.ts';
import { sharedCluster, waitFor } from './support/cluster.ts';
import { scenarioOf } from './support/rolloutScenario.ts';
import { columnsOf, history } from './support/versions.ts';

const view = sharedCluster();

it('an annotation that is applied from Git with its manifest acts once; kubectl shows the outcome', async () => {
  const scenario = scenarioOf(view, await view.newNamespace());
  await scenario.publish('1.0.0');
  await scenario.create();
  await scenario.headIs('1.0.0', 'Succeeded');
  const manifest = objectOf('Rollout', {
    metadata: {
      name: 'app',
      namespace: scenario.ns,
      annotations: { 'rollout.kuberik.com/deploy-message': 'from Git' },
    },
    spec: { releasesImagePolicy: { name: 'app' }, wantedVersion: '1.1.0' },
  });
  const sync = async () => {
    await view.developer.apply(manifest, { manager: 'kustomize-controller', force: true });
    await waitFor(async () => (await scenario.asked()).length === 0, 'the annotations to go');
  };
  await sync();
  expect(await scenario.headIs('1.1.0', 'Succeeded')).toMatchObject({ message: 'from Git' });
  await sync();
  expect(await history(view.admin, scenario.ns, 'app')).toHaveLength(2);
  expect(await columnsOf(view.admin, scenario.ns)).toMatchObject({
    Name: 'app',
    Version: '1.1.0',
    Message: 'from Git',
    BakeStatus: 'Succeeded',
    Gates: 'True',
    Available: 1,
    Ready: 'True',
    Status: 'Release deployed successfully. Bake completed successfully',
    Pinned: '1.1.0',
  });
});
