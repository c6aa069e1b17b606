import { expect, it } from 'vitest';
import { fakeCluster } from '../../../dev/fakes/ports.ts';
import { createGateRequirers } from '../../../server/cluster/gateRequirers.ts';
import { objectOf } from '../../support/objects.ts';

const at = (seconds: number) => Date.parse('2021-03-26T09:00:00Z') + seconds * 1000;
const binding = (name: string) => objectOf('FluxBinding', { metadata: { name, namespace: 'apps' } });

it('are listed once for all Gates in half a minute', async () => {
  const cluster = fakeCluster(Array.from({ length: 1000 }, (_, i) => binding(`app-${i}`)));
  const requirers = createGateRequirers(cluster);
  for (const seconds of [0, 10, 29]) expect((await requirers.read(at(seconds))).bindings).toHaveLength(1000);
  expect(cluster.requests).toHaveLength(2);
  await requirers.read(at(30));
  expect(cluster.requests).toHaveLength(4);
});

it('are listed again at once when the cluster did not answer', async () => {
  let fails = true;
  const cluster = fakeCluster([binding('app')], { fails: () => (fails ? 'etcd is gone' : undefined) });
  const requirers = createGateRequirers(cluster);
  await expect(requirers.read(at(0))).rejects.toThrow('etcd is gone');
  fails = false;
  expect((await requirers.read(at(1))).bindings).toHaveLength(1);
});
