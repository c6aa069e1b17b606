/** docs/install.md with kubectl, as it is written, on a cluster that has nothing yet. */
import { afterEach, expect, it } from 'vitest';
import { type NewCluster, startNewCluster } from './newCluster.ts';
import { newReader, type Reader } from './reader.ts';
import { expectToWork } from './works.ts';

const REGISTRY = 'registry.example.com';
let there: NewCluster;
let reader: Reader;

async function begin(): Promise<void> {
  there = await startNewCluster();
  reader = await newReader(there.cluster.kubeconfigOf('admin'), REGISTRY);
}
afterEach(async () => {
  reader?.dispose();
  await there?.dispose();
});

const imageOf = async ({ admin }: NewCluster) =>
  (
    await admin.get({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'rollout-hooks', namespace: 'rollout-hooks' },
    })
  ).spec.template.spec.containers[0].image;

it('beside a Metacontroller that is there', async () => {
  await begin();
  await reader.run('kubectl apply --server-side -k rollout-hooks/manifests/metacontroller/bundled');
  await reader.run('kubectl wait --for condition=Established crd/compositecontrollers.metacontroller.k8s.io');
  await reader.follow('Before');
  const doctor = (await reader.follow('With kubectl')).at(-1);
  expect(doctor).toMatch(/\nNo findings\.\n$/);
  expect(await imageOf(there)).toBe(`${REGISTRY}/rollout-hooks:0.1.0`);
  await expectToWork(there);
});

it('Metacontroller included, and once more, which changes nothing', async () => {
  await begin();
  const doctor = (await reader.follow('With kubectl, Metacontroller included')).at(-1);
  expect(doctor).toMatch(/\nNo findings\.\n$/);
  await expectToWork(there);
  const before = await imageOf(there);
  await reader.run('kubectl apply --server-side -k .');
  expect(await imageOf(there)).toBe(before);
  expect(doctor).toContain(await reader.run('kubectl rollouts doctor'));
});
