/** The steps of docs/install.md with kubectl, on a new cluster. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { type AnyObject, waitFor } from '../../cluster/support/cluster.ts';
import { type NewCluster, startNewCluster } from './newCluster.ts';
import { newReader, type Reader } from './reader.ts';
import { expectToWork } from './works.ts';

const REGISTRY = 'registry.example.com';
const ROLLOUTS = {
  apiVersion: 'metacontroller.k8s.io/v1alpha1',
  kind: 'CompositeController',
  metadata: { name: 'rollouts' },
};
let there: NewCluster;
let reader: Reader;

const NO_FINDINGS = /\nNo findings\.\n$/;

async function begin(): Promise<void> {
  there = await startNewCluster();
  reader = await newReader(there.cluster.kubeconfigOf('admin'), REGISTRY);
}
afterEach(() => there?.dispose());

const imageOf = async ({ admin }: NewCluster) =>
  (
    await admin.get({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'rollout-hooks', namespace: 'rollout-hooks' },
    })
  ).spec.template.spec.containers[0].image;

it('next to an existing Metacontroller; then with a component by which the hooks answer only that', async () => {
  await begin();
  await reader.run('kubectl apply --server-side -k rollout-hooks/manifests/metacontroller/bundled');
  await reader.run('kubectl wait --for condition=Established crd/compositecontrollers.metacontroller.k8s.io');
  await reader.follow('Before');
  expect((await reader.follow('With kubectl')).at(-1)).toMatch(NO_FINDINGS);
  expect(await imageOf(there)).toBe(`${REGISTRY}/rollout-hooks:0.1.0`);
  await expectToWork(there);

  const { spec } = await there.admin.get<AnyObject>(ROLLOUTS);
  const withoutToken = async () => (await fetch(spec.hooks.sync.webhook.url, { method: 'POST', body: '{}' })).status;
  expect(await withoutToken()).not.toBe(401);
  await reader.follow('Authenticate Metacontroller');
  await reader.follow('Choices');
  await reader.run('kubectl apply --server-side -k .');
  await waitFor(async () => (await withoutToken()) === 401, 'the hooks to ask for a token', 60_000);
  await expectToWork(there);
});

it('Metacontroller included, and again, which changes nothing', async () => {
  await begin();
  expect((await reader.follow('With kubectl, Metacontroller included')).at(-1)).toMatch(NO_FINDINGS);
  await expectToWork(there);
  const before = await imageOf(there);
  await reader.run('kubectl apply --server-side -k .');
  expect(await imageOf(there)).toBe(before);
  // docs/logs.md, Another level: the level of the running process changes.
  const log = () => readFileSync(join(there.cluster.dir, 'rollout-hooks.log'), 'utf8');
  const starts = () => log().split('"msg":"serving"').length;
  const started = starts();
  const turned = (times: number) =>
    waitFor(() => log().split('"what":"log level"').length === times + 1, 'the level to change in both threads');
  await reader.run('kubectl -n rollout-hooks create configmap rollout-hooks-log --from-literal=level=debug');
  await turned(2);
  await expectToWork(there);
  await waitFor(() => log().includes('"level":"debug"'), 'a line of level debug');
  await reader.run('kubectl -n rollout-hooks delete configmap rollout-hooks-log');
  await turned(4);
  expect(starts()).toBe(started);
  expect(await reader.run('kubectl rollouts doctor')).toMatch(NO_FINDINGS);
});
