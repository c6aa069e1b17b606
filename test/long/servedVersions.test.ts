/**
 * Flux CRDs that serve an older version: writes of the older version are held too, and a CRD with only the older one is
 * reported.
 */
import { beforeAll, expect, it } from 'vitest';
import { gate, waitFor } from '../cluster/support/cluster.ts';
import { gated, isFree, isHeld, requestGate } from '../cluster/support/gates.ts';
import { ownCluster } from '../cluster/support/ownCluster.ts';
import { call } from '../support/command.ts';

const CRD = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'kustomizations.kustomize.toolkit.fluxcd.io' },
} as const;
const OLDER = 'v1beta2';
// The API server initializes the kind's storage again, and answers no requests about it meanwhile.
const { cluster, view } = await ownCluster();

beforeAll(async () => {
  const { versions } = (await view.admin.get(CRD)).spec;
  const older = structuredClone({ ...versions[0], name: OLDER, storage: false });
  delete older.schema.openAPIV3Schema.properties.spec.properties.wait;
  await view.admin.mergePatch(CRD, { spec: { versions: [...versions, older] } });
}, 120_000);

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

it('is not written in an older version that would drop a field of it; it is without that field, or with an open Gate', async () => {
  const { admin, developer, sre, newNamespace } = view;
  const ns = await newNamespace();
  const app = gated('Kustomization', ns, 'app', 'freeze', { wait: true });
  await sre.create(gate(ns, 'freeze'));
  await developer.create(app);
  await isHeld(admin, app);
  const older = { ...app, apiVersion: `kustomize.toolkit.fluxcd.io/${OLDER}` } as never;
  const label = (team: string) => developer.mergePatch(older, { metadata: { labels: { team } } });
  await expect(label('a')).rejects.toThrow(
    `Kustomization '${ns}/app' cannot be written in kustomize.toolkit.fluxcd.io/${OLDER}, which drops or changes spec.wait ` +
      `(use kustomize.toolkit.fluxcd.io/v1): Gate '${ns}/freeze' is closed`,
  );
  const finalizers = ['example.com/hold'];
  await expect(developer.mergePatch(older, { metadata: { finalizers } })).rejects.toThrow('drops or changes spec.wait');
  expect((await admin.get(app)).spec.wait).toBe(true);
  await requestGate(sre, ns, 'freeze', 'open');
  await isFree(admin, app);
  await label('b');
  expect((await admin.get(app)).spec).not.toHaveProperty('wait');
});

it('a kind that is served in an older version only, by doctor', async () => {
  const crd = { ...CRD, metadata: { name: 'ocirepositories.source.toolkit.fluxcd.io' } };
  const { versions } = (await view.admin.get(crd)).spec;
  const [newer] = versions;
  const older = structuredClone({ ...newer, name: OLDER, storage: false });
  await view.admin.mergePatch(crd, { spec: { versions: [{ ...newer, served: false }, older] } });
  const env = { KUBECONFIG: cluster.kubeconfigOf('admin') };
  const text = await waitFor(async () => {
    const { out } = await call('doctor', { env });
    return out.includes('is served only as') && out.replaceAll(/\s+/g, ' ');
  }, 'doctor to find it');
  expect(text).toContain(
    'OCIRepository is served only as source.toolkit.fluxcd.io/v1beta2, but rollout-hooks reads source.toolkit.fluxcd.io/v1: ' +
      'Gates hold no object of group source.toolkit.fluxcd.io',
  );
});
