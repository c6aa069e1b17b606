/** A rolling restart of the replicas while 200 writes a second are judged by them. */
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { REPLICAS, replicasOf } from '../../dev/chaos/replicas.ts';
import { type ClusterView, gate, kustomization, ref, viewCluster, waitFor } from '../cluster/support/cluster.ts';
import { startTestCluster, type TestCluster } from '../cluster/support/testCluster.ts';

const PER_SECOND = 200;
/** The API server takes no more of one client at once. */
const AT_ONCE = 40;
const BETWEEN = 200;

// As the Deployment's preStop: until every node has withdrawn the Pod, it goes on answering.
const replicas = replicasOf(REPLICAS, { SHUTDOWN_DELAY_SECONDS: '5' });
let cluster: TestCluster;
let view: ClusterView;

beforeAll(async () => {
  cluster = await startTestCluster({ serveHooks: replicas.serve });
  view = viewCluster(cluster);
});
afterAll(async () => {
  await cluster?.dispose();
  await replicas.close();
});

it('a rolling restart of three replicas fails none of 200 writes a second', async () => {
  const ns = await view.newNamespace();
  await view.sre.create(gate(ns, 'open', { spec: { default: 'opened' } }));
  const marked = { annotations: { 'gate.fluxcd.io/gates': 'open' } };
  await view.developer.create(kustomization(ns, 'app', marked));
  const failures: string[] = [];
  const running = new Set<Promise<void>>();
  let answered = 0;
  let ended = false;

  // Dry runs: admission is asked for them as for any other write, and etcd is not what is measured here.
  async function write(i: number): Promise<void> {
    try {
      const patch = { spec: { path: `./${i}` } };
      await view.developer.mergePatch(ref('kustomization', ns, 'app'), patch, { dryRun: true });
    } catch (error) {
      failures.push((error as Error).message);
    }
    answered++;
  }

  const began = performance.now();
  const pace = (async () => {
    for (let sent = 0; !ended; sent++) {
      const ahead = (sent * 1000) / PER_SECOND - (performance.now() - began);
      if (ahead > 0) await wait(ahead);
      while (running.size >= AT_ONCE) await Promise.race(running);
      const one = write(sent).finally(() => running.delete(one));
      running.add(one);
    }
  })();

  const moreAnswers = async () => {
    const enough = answered + BETWEEN;
    await waitFor(() => answered >= enough, `${BETWEEN} more answers`, 60_000);
  };
  for (const name of REPLICAS) {
    await moreAnswers();
    const old = cluster.child(name)!;
    old.kill('SIGTERM');
    expect(await old.exited).toMatchObject({ code: 0 });
    await moreAnswers();
    await replicas.startAgain(name);
    await waitFor(() => replicas.isReady(name), `${name} to be ready`);
  }
  await moreAnswers();
  const seconds = (performance.now() - began) / 1000;
  ended = true;
  await pace;
  await Promise.all(running);
  process.stderr.write(`${answered} writes in ${seconds.toFixed(0)} s, ${(answered / seconds).toFixed(0)} a second\n`);
  expect(failures).toEqual([]);
});
