/** Changes of an object while its Gate is open that try to prevent its suspension. */
import { describe, expect, it } from 'vitest';
import { objectName } from '../../core/kube/names.ts';
import { type AnyObject, gate, kustomization, rollout, sharedCluster, waitFor } from './support/cluster.ts';
import { GATES, gated, isFree, isHeld, requestGate } from './support/gates.ts';
import { conditionOf } from './support/versions.ts';

const { admin, developer, sre, newNamespace, publish } = sharedCluster();

const LONG = 'a'.repeat(245);
/** A name whose FluxBinding would have the same name as the other's. */
const TWIN = objectName('kustomization', LONG).slice('kustomization-'.length);
const bound = (ns: string, apiVersion: string): AnyObject =>
  kustomization(ns, 'app', {
    variables: { APP_VERSION: 'app' },
    annotations: { [GATES]: 'freeze' },
    spec: { sourceRef: { kind: 'OCIRepository', name: 'app', apiVersion } },
  });
const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`a${i.toString(36)}`, '']));

const rows: [title: string, objects: (ns: string) => AnyObject[]][] = [
  ['a source reference with the path of something else', (ns) => [bound(ns, 'source.toolkit.fluxcd.io/')]],
  ['a source reference that is no path', (ns) => [bound(ns, 'x y/v1')]],
  ['a source reference without a version', (ns) => [bound(ns, '')]],
  ['two names for one FluxBinding', (ns) => [LONG, TWIN].map((name) => gated('Kustomization', ns, name, 'freeze'))],
  ['five hundred annotations', (ns) => [withAnnotations(gated('GitRepository', ns, 'app', 'freeze'), many(500))]],
  [
    'half a megabyte',
    (ns) => [gated('Kustomization', ns, 'app', 'freeze', { patches: [{ patch: 'x'.repeat(520_000) }] })],
  ],
];

const withAnnotations = (object: AnyObject, annotations: Record<string, string>): AnyObject => ({
  ...object,
  metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...annotations } },
});

async function openGate(): Promise<string> {
  const ns = await newNamespace();
  await sre.create(gate(ns, 'freeze', { spec: { default: 'opened' } }));
  await publish(ns, 'app', '1.0.0');
  await developer.create(rollout(ns, 'app'));
  return ns;
}

describe.concurrent('an object is suspended all the same when its gate closes, though it has', () => {
  it.each(rows)('%s', async (_, objects) => {
    const ns = await openGate();
    for (const object of objects(ns)) await developer.create(object);
    await Promise.all(objects(ns).map((object) => isFree(admin, object)));
    await waitFor(async () => {
      const bindings = await admin.list('kuberik.com/v1alpha1', 'FluxBinding', ns);
      return bindings.length === objects(ns).length && bindings.every((binding) => conditionOf(binding, 'Approved'));
    }, 'a FluxBinding of each');
    await requestGate(sre, ns, 'freeze', 'close');
    await Promise.all(objects(ns).map((object) => isHeld(admin, object)));
  });
});

it('an object that is too large to be written on is refused', async () => {
  const ns = await openGate();
  const large = { values: { x: '<'.repeat(260_000) } };
  const refusal = { code: 403, message: expect.stringMatching(/leave room for what a closed gate writes/) };
  await expect(developer.create(gated('HelmRelease', ns, 'app', 'freeze', large))).rejects.toMatchObject(refusal);
  await developer.create(gated('HelmRelease', ns, 'app', 'freeze'));
  const growing = developer.mergePatch(gated('HelmRelease', ns, 'app') as never, { spec: large });
  await expect(growing).rejects.toMatchObject(refusal);
});
