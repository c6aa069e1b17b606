/** How each write of a managed field is handled: docs/reference/writes.md, W1 to W5. */
import { beforeAll, describe, expect, it } from 'vitest';
import { fakeFlux } from '../../dev/actors/fakeFlux.ts';
import { type AnyObject, kustomization, ociRepository, ref, rollout, sharedCluster } from './support/cluster.ts';
import { substitutes, tagArrives, variablesArrive } from './support/versions.ts';

const { admin, developer, flux, newNamespace, publish } = sharedCluster();
const DEPLOYED_TAG = '1.1.0';
const VALUE = '/spec/postBuild/substitute/APP_VERSION';

let ns: string;
let manifest: AnyObject;
let source: AnyObject;

/** Bound objects whose manifests have 0.9.0, at version 1.1.0. */
beforeAll(async () => {
  ns = await newNamespace();
  const literal = { postBuild: { substitute: { APP_VERSION: '0.9.0', REGION: 'eu-1' } } };
  manifest = kustomization(ns, 'app', { variables: { APP_VERSION: 'app' }, spec: literal });
  source = ociRepository(ns, 'app', { rollout: 'app', spec: { ref: { tag: '0.9.0' } } });
  await developer.create(rollout(ns, 'app'));
  await publish(ns, 'app', DEPLOYED_TAG);
  await variablesExist();
});

async function variablesExist() {
  await developer.clientSideApply(manifest);
  await developer.clientSideApply(source);
  await tagArrives(admin, ns, 'app', DEPLOYED_TAG);
  await fakeFlux({ flux }).fetch(ns, 'app');
  await variablesArrive(admin, ns, 'app', { APP_VERSION: DEPLOYED_TAG });
}

const app = () => ref('kustomization', ns, 'app');
const substitute = (value: unknown) => ({ spec: { postBuild: { substitute: { APP_VERSION: value } } } });
const put = (change: (object: AnyObject) => void) => developer.update(app(), change);

it('a new value for a managed field is refused by a patch by the cluster admin', async () => {
  const patched = admin.mergePatch(app(), substitute('6.6.6'));
  const way = expect.stringMatching(/app.*1\.1\.0.*rollout\.kuberik\.com\/force-deploy.*wantedVersion/s);
  await expect(patched).rejects.toMatchObject({ code: 403, message: way });
  expect(await substitutes(admin, ns, 'app')).toMatchObject({ APP_VERSION: DEPLOYED_TAG });
});

const repinned: [string, () => Promise<{ warnings: string[] }>, boolean][] = [
  ['kubectl apply of the unchanged manifest', () => developer.clientSideApply(manifest), true],
  ['kubectl apply --server-side --force-conflicts', () => developer.apply(manifest, { force: true }), true],
  ['a Git sync', () => flux.apply(manifest, { manager: 'kustomize-controller', force: true }), true],
  [
    'a Git sync with another literal',
    () =>
      flux.apply(
        { ...manifest, spec: { ...manifest.spec, ...substitute('2.2.2').spec } },
        { manager: 'kustomize-controller', force: true },
      ),
    true,
  ],
  [
    'the removal of the variable by a JSON patch',
    () => developer.jsonPatch(app(), [{ op: 'remove', path: VALUE }]),
    true,
  ],
  ['a PUT of the object as read', () => put(() => {}), false],
];

describe('a write that is no edit of the managed field passes, and the value stays', () => {
  it.each(repinned)('%s', async (_, write, warns) => {
    const { warnings } = await write();
    expect(await substitutes(admin, ns, 'app')).toMatchObject({ APP_VERSION: DEPLOYED_TAG });
    if (warns) expect(warnings.join(' ')).toContain(DEPLOYED_TAG);
    else expect(warnings).toEqual([]);
    expect(warnings.every((warning) => warning.length <= 120)).toBe(true);
  });

  it('a sync writes nothing when nothing changed: Flux sees no drift', async () => {
    const sync = () => flux.apply(manifest, { manager: 'kustomize-controller', force: true });
    await sync();
    const before = await admin.get(app());
    const dryRun = await flux.apply(manifest, { manager: 'kustomize-controller', force: true, dryRun: true });
    expect(dryRun.object.spec).toEqual(before.spec);
    expect(dryRun.object.metadata.annotations).toEqual(before.metadata.annotations);
    await sync();
    expect((await admin.get(app())).metadata.generation).toBe(before.metadata.generation);
  });
});

it('the fields that the Go controller owns can be given up: its copies of variables go, the version stays', async () => {
  const apply = (spec: object) => {
    const { apiVersion, kind, metadata } = manifest;
    const object = { apiVersion, kind, metadata: { name: metadata.name, namespace: metadata.namespace }, ...spec };
    return admin.apply(object as AnyObject, { manager: 'rollout-controller', force: true });
  };
  await apply({ spec: { postBuild: { substitute: { APP_VERSION: DEPLOYED_TAG, LEFT_GIT: 'x' } } } });
  await flux.apply(manifest, { manager: 'kustomize-controller', force: true });
  expect(await substitutes(admin, ns, 'app')).toMatchObject({ LEFT_GIT: 'x' });
  await apply({});
  const left = await substitutes(admin, ns, 'app');
  expect(left).toMatchObject({ APP_VERSION: DEPLOYED_TAG });
  expect(left).not.toHaveProperty('LEFT_GIT');
});
