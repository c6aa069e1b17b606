/** A CRD of Flux that serves an older version too: what is written by way of it is held like everything else. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type AnyObject, gate, sharedCluster } from './support/cluster.ts';
import { gated, isHeld } from './support/gates.ts';

const { admin, developer, sre, newNamespace } = sharedCluster();
const CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'kustomizations.kustomize.toolkit.fluxcd.io' },
} as const;
const OLDER = 'v1beta2';
let versions: AnyObject[];

beforeAll(async () => {
  versions = (await admin.get(CRD)).spec.versions;
  const older = { ...versions[0], name: OLDER, storage: false };
  await admin.mergePatch(CRD, { spec: { versions: [...versions, older] } });
});
afterAll(() => admin.mergePatch(CRD, { spec: { versions } }));

it('an object behind a closed Gate', async () => {
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
