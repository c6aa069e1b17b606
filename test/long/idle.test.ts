/** Nothing is written in a cluster without changes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { applicationFleet } from '../../dev/bench/fleets/applications.ts';
import { costOf, untilSettled } from '../../dev/bench/measure.ts';
import { ownCluster } from '../cluster/support/ownCluster.ts';

const QUIET_MS = 60_000;
const WRITES = ['create', 'update', 'patch', 'delete', 'deletecollection'];

const { cluster } = await ownCluster();

it('with 100 settled Rollouts and Kustomizations no write reaches the API server from us in 60 s, and nothing is logged', async () => {
  const fleet = await applicationFleet(cluster, {});
  await fleet.growTo({ rollouts: 100 });
  await untilSettled(cluster);
  const log = () => readFileSync(join(cluster.dir, 'hooks.log'), 'utf8');
  const before = log();
  const { requests } = await costOf(cluster, () => wait(QUIET_MS));
  // Leader election and reviews write none of our objects.
  const isOfObjects = (resource: string) => resource !== 'leases' && !resource.endsWith('reviews');
  expect(requests.filter(({ verb, resource }) => WRITES.includes(verb) && isOfObjects(resource))).toEqual([]);
  expect(log()).toBe(before);
  fleet.close();
});
