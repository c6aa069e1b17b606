/** A CRD of Flux that serves an older version too: what is written by way of it is held like everything else. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ClusterView, gate, viewCluster } from '../cluster/support/cluster.ts';
import { gated, isHeld } from '../cluster/support/gates.ts';
import { startTestCluster, type TestCluster } from '../cluster/support/testCluster.ts';

const CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'kustomizations.kustomize.toolkit.fluxcd.io' },
} as const;
const OLDER = 'v1beta2';
let cluster: TestCluster;
let view: ClusterView;

// In a cluster of its own: the API server initializes the storage of a kind anew, and answers nothing about it meanwhile.
beforeAll(async () => {
  cluster = await startTestCluster();
  view = viewCluster(cluster);
  const { versions } = (await view.admin.get(CRD)).spec;
  const older = { ...versions[0], name: OLDER, storage: false };
  await view.admin.mergePatch(CRD, { spec: { versions: [...versions, older] } });
}, 120_000);
afterAll(() => cluster?.dispose());

it('an object behind a closed Gate', async () => {
  const { admin, developer, sre, newNamespace } = view;
  const ns = await newNamespace();
  const app = gated('Kustomization', ns, 'app', 'freeze');
  await sre.create(gate(ns, 'freeze'));
  await developer.create(app);
  await isHeld(admin, app);
  const older = { ...app, apiVersion: `kustomize.toolkit.fluxcd.io/${OLDER}` } as never;
  for (const spec of [{ suspend: false }, { path: './evil' }]) {
    await expect(developer.mergePatch(older, { spec })).rejects.toThrow(`${ns}/freeze`);
  }
  await expect(developer.remove(older)).rejects.toThrow(`${ns}/freeze`);
});
