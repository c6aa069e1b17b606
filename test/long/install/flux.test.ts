/** The steps of docs/install.md for Flux. Then everything is deleted while no Pod runs, and restored from Git. */
import { afterAll, expect, it } from 'vitest';
import { type AnyObject, rollout, waitFor } from '../../cluster/support/cluster.ts';
import { installCertManager, issueCertificate, KUSTOMIZATION, objectsOf, reference, startFlux } from './flux.ts';
import { startNewCluster } from './newCluster.ts';
import { newReader } from './reader.ts';
import { expectToWork } from './works.ts';

const there = await startNewCluster();
const reader = await newReader(there.cluster.kubeconfigOf('admin'), 'registry.example.org');
const flux = startFlux(there);
afterAll(async () => {
  await flux.stop();
  await there.dispose();
});

const isThere = async ({ apiVersion, kind, metadata: { name, namespace } }: AnyObject) =>
  (await there.admin.find({ apiVersion, kind: kind!, metadata: { name, namespace } } as any)) !== undefined;

it('installs everything', async () => {
  await installCertManager(there);
  const [outputs] = await Promise.all([reader.follow('By Flux'), issueCertificate(there, reader)]);
  expect(outputs.at(-1)).toMatch(/Delivery: by Kustomization flux-system\/rollout-hooks, [\s\S]*\nNo findings\.\n$/);
  await expectToWork(there);
});

it('doctor finds problems that can’t be repaired, since it calls admission', async () => {
  const annotate = (value: string | null) =>
    there.admin.mergePatch(reference('rollout-hooks'), {
      metadata: { annotations: { 'rollout.kuberik.com/note': value } },
    });
  await annotate('anything');
  await expect(reader.run('kubectl rollouts doctor')).rejects.toThrow(
    'Kustomization flux-system/rollout-hooks applies this installation and has the annotation rollout.kuberik.com/note',
  );
  await annotate(null);
});

it('repairs and upgrades it while the webhook is down', async () => {
  const { admin, node, newNamespace } = there;
  const ns = await newNamespace();
  const refused = () => expect(admin.create(rollout(ns, 'app'))).rejects.toThrow('failed calling webhook');
  await node.hold();
  await refused();

  const parts = ['metacontroller', 'rollout-hooks'];
  const objects = (await Promise.all(parts.map(async (name) => objectsOf(await admin.get(reference(name)))))).flat();
  // Deleting the CRDs would delete all their objects, and without webhooks nothing would be refused.
  const kept = /^(CustomResourceDefinition|Namespace|.*WebhookConfiguration)$/;
  const broken = objects.filter(({ kind = '' }) => !kept.test(kind));
  expect(broken.length).toBeGreaterThan(50);
  for (const object of broken) await admin.remove(object as any);
  for (const object of broken)
    await waitFor(async () => !(await isThere(object)), `${object.metadata.name} to be gone`);

  const images = [{ name: 'rollout-hooks', newName: 'registry.example.org/rollout-hooks', newTag: '0.1.1' }];
  await admin.mergePatch(reference('rollout-hooks'), { spec: { images } });
  // The other Kustomization is also gone, and is restored.
  const { spec } = await admin.get(reference('metacontroller'));
  await admin.remove(reference('metacontroller'));
  await admin.create({ ...reference('metacontroller'), apiVersion: KUSTOMIZATION, spec });
  for (const object of objects) await waitFor(() => isThere(object), `${object.kind} ${object.metadata.name}`, 120_000);
  await refused();

  node.release();
  await reader.run('kubectl -n flux-system wait kustomization/rollout-hooks --for condition=Ready --timeout 2m');
  const server = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'rollout-hooks', namespace: 'rollout-hooks' },
  };
  expect((await admin.get(server)).spec.template.spec.containers[0].image).toBe(
    'registry.example.org/rollout-hooks:0.1.1',
  );
  expect(await reader.run('kubectl rollouts doctor')).toMatch(/\nNo findings\.\n$/);
  await expectToWork(there);
});
