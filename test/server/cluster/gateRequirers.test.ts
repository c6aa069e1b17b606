import { expect, it } from 'vitest';
import { GOVERNED_KINDS } from '../../../api/kinds.ts';
import { fakeCluster } from '../../../dev/fakes/ports.ts';
import { createGateRequirers } from '../../../server/cluster/gateRequirers.ts';
import { objectOf } from '../../support/objects.ts';

const at = (seconds: number) => Date.parse('2021-03-26T09:00:00Z') + seconds * 1000;
const binding = (name: string) => objectOf('FluxBinding', { metadata: { name, namespace: 'apps' } });
const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'apps', labels: { env: 'production' } } };
/** One each for bindings, Rollouts and Namespaces, and for each governed kind. */
const LISTS = 3 + GOVERNED_KINDS.length;

it('are listed once for all Gates, for as long as what is that old will do', async () => {
  const cluster = fakeCluster([...Array.from({ length: 1000 }, (_, i) => binding(`app-${i}`)), namespace]);
  const requirers = createGateRequirers(cluster);
  for (const seconds of [0, 10, 29]) expect((await requirers.read(at(seconds), 30_000)).bindings).toHaveLength(1000);
  expect(cluster.requests).toHaveLength(LISTS);
  await requirers.read(at(29), 3000);
  expect(cluster.requests).toHaveLength(2 * LISTS);
  await requirers.read(at(31), 3000);
  expect(cluster.requests).toHaveLength(2 * LISTS);
});

it('come with the labels of each Namespace', async () => {
  const { namespaces } = await createGateRequirers(fakeCluster([namespace])).read(at(0), 3000);
  expect(namespaces).toEqual(new Map([['apps', { env: 'production' }]]));
});

it('are listed again at once when the cluster did not answer', async () => {
  let fails = true;
  const cluster = fakeCluster([binding('app')], { fails: () => (fails ? 'etcd is gone' : undefined) });
  const requirers = createGateRequirers(cluster);
  await expect(requirers.read(at(0), 30_000)).rejects.toThrow('etcd is gone');
  fails = false;
  expect((await requirers.read(at(1), 30_000)).bindings).toHaveLength(1);
});
