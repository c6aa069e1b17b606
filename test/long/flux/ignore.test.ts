/** docs/adopt.md, step 4, on the real kustomize-controller: `spec.ignore` while admission is away. */
import { expect, it } from 'vitest';
import {
  type AnyObject,
  gate,
  kustomization,
  ociRepository,
  ref,
  rollout,
  waitFor,
} from '../../cluster/support/cluster.ts';
import { isHeld } from '../../cluster/support/gates.ts';
import { realFluxSetup } from './realFluxSetup.ts';

const setup = realFluxSetup();

const IGNORE = [
  {
    paths: ['/spec/postBuild/substitute/APP_VERSION', '/spec/suspend'],
    target: { group: 'kustomize.toolkit.fluxcd.io', kind: 'Kustomization' },
  },
];

/** The Git content at this tag: objects that name a Rollout, with an outdated version. */
async function push(tag: string, names: string[]): Promise<void> {
  const files = names.map((name) => {
    const object = kustomization(setup.ns, name, {
      variables: { APP_VERSION: 'app' },
      annotations: { 'gate.fluxcd.io/gates': 'freeze' },
      spec: {
        interval: '1m',
        path: `./${tag}`,
        prune: true,
        sourceRef: { kind: 'OCIRepository', name: 'nowhere' },
        postBuild: { substitute: { APP_VERSION: '0.0.1' } },
      },
    });
    const { namespace: _, ...metadata } = object.metadata;
    return [`${name}.yaml`, JSON.stringify({ ...object, metadata })];
  });
  await setup.push('parent', tag, Object.fromEntries(files));
}

const child = (name: string) => setup.view.admin.get(ref('kustomization', setup.ns, name));
const version = async (name: string) => (await child(name)).spec.postBuild.substitute.APP_VERSION;

it('the parent keeps the deployed version and suspended objects, and applies the rest; new objects have Git’s spec', async () => {
  const { ns, source, view } = setup;
  await view.sre.create(gate(ns, 'freeze', { spec: { default: 'opened' } }));
  await view.publish(ns, 'app', '1.0.0');
  await view.developer.create(rollout(ns, 'app'));
  await push('1.0.0', ['child']);
  const sourceOf = (tag: string) => ({ spec: { ...source('parent'), ref: { tag } } });
  await view.admin.create(ociRepository(ns, 'parent', sourceOf('1.0.0')));
  const spec = { interval: '1m', targetNamespace: ns, ignore: IGNORE };
  await view.admin.create(kustomization(ns, 'parent', { spec }));
  const parentApplied = (tag: string) =>
    waitFor(
      async () => {
        const { status } = await view.admin.get(ref('kustomization', ns, 'parent'));
        expect(status.lastAppliedRevision).toContain(`${tag}@`);
        return true;
      },
      `the parent to have applied ${tag}`,
      180_000,
    );
  await parentApplied('1.0.0');
  await waitFor(async () => (await version('child')) === '1.0.0', 'the version that is deployed');
  await view.sre.mergePatch(ref('gate', ns, 'freeze'), { spec: { default: 'closed' } });
  await isHeld(view.admin, (await child('child')) as AnyObject);

  for (const kind of ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'])
    await view.admin.remove({
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind,
      metadata: { name: 'rollout-hooks' },
    } as AnyObject);
  await push('2.0.0', ['child', 'later']);
  await view.admin.mergePatch(ref('ociRepository', ns, 'parent'), sourceOf('2.0.0'));
  await parentApplied('2.0.0');
  expect((await child('child')).spec).toMatchObject({
    path: './2.0.0',
    suspend: true,
    postBuild: { substitute: { APP_VERSION: '1.0.0' } },
  });
  expect((await child('later')).spec.suspend).toBeFalsy();
  expect(await version('later')).toBe('0.0.1');
});
