/** Nothing is written in a cluster without changes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { kustomization, ref, rollout, viewCluster, waitFor } from '../cluster/support/cluster.ts';
import { startTestCluster, type TestCluster } from '../cluster/support/testCluster.ts';

const APPS = Array.from({ length: 100 }, (_, i) => `app-${i}`);
const QUIET_MS = 60_000;
const OURS = /^system:serviceaccount:(metacontroller:metacontroller|rollout-hooks:rollout-hooks)$/;

let cluster: TestCluster;
beforeAll(async () => {
  cluster = await startTestCluster();
});
afterAll(() => cluster?.dispose());

/** Writes of the hook server and of its driver, from the API server's audit log. */
function ourWrites(): string[] {
  return readFileSync(join(cluster.dir, 'audit.log'), 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line))
    .filter(({ user, verb, objectRef }) => {
      const write = ['create', 'update', 'patch', 'delete', 'deletecollection'].includes(verb);
      // Leader election and reviews write none of our objects.
      return (
        write && OURS.test(user.username) && objectRef.resource !== 'leases' && !objectRef.resource.endsWith('reviews')
      );
    })
    .map(({ verb, objectRef }) => `${verb} ${objectRef.resource}/${objectRef.subresource ?? ''} ${objectRef.name}`);
}

it('with 100 settled Rollouts and Kustomizations no write reaches the API server from us in 60 s, and nothing is logged', async () => {
  const { admin, newNamespace, publish } = viewCluster(cluster);
  const ns = await newNamespace();
  for (const app of APPS) {
    await admin.create(rollout(ns, app));
    await admin.create(kustomization(ns, app, { variables: { APP_VERSION: app } }));
    await publish(ns, app, '1.0.0');
  }
  await waitFor(
    async () => {
      const all = await admin.list(ref('kustomization', ns, '').apiVersion, 'Kustomization', ns);
      return all.filter(({ spec }) => spec.postBuild?.substitute?.APP_VERSION === '1.0.0').length === APPS.length;
    },
    'all 100 to be deployed',
    120_000,
  );
  let seen = -1;
  let since = performance.now();
  await waitFor(
    () => {
      const writes = ourWrites().length;
      if (writes !== seen) [seen, since] = [writes, performance.now()];
      return performance.now() - since > 5000;
    },
    '5 s without a write, the sign that everything has settled',
    120_000,
  );
  const before = ourWrites();
  const logged = readFileSync(join(cluster.dir, 'hooks.log'), 'utf8');
  const end = performance.now() + QUIET_MS;
  await waitFor(() => performance.now() > end, 'the quiet minute to pass', QUIET_MS + 30_000);
  expect(ourWrites().slice(before.length)).toEqual([]);
  expect(readFileSync(join(cluster.dir, 'hooks.log'), 'utf8').slice(logged.length)).toBe('');
});
