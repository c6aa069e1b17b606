/**
 * The page after what happens to laptops and networks: an API server or the page's own server that falls silent for an
 * hour, and a watch that has expired.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Rollout } from '../../api/types.ts';
import { launchBrowser } from '../../dev/page/browser.ts';
import { buildCli } from '../../dev/scripts/build-cli.ts';
import { follow } from '../../server/cluster/follow.ts';
import { createClient, type KubeClient } from '../../tools/kube/kubeClient.ts';
import { selectCluster } from '../../tools/kube/kubeconfig.ts';
import { type ClusterView, viewCluster, waitFor } from '../cluster/support/cluster.ts';
import { type RolloutScenario, scenarioOf } from '../cluster/support/rolloutScenario.ts';
import { startTestCluster, type TestCluster } from '../cluster/support/testCluster.ts';

let cluster: TestCluster;
let view: ClusterView;
let scenario: RolloutScenario;
let client: KubeClient;
let newest = '';
let releases = 0;

async function release(): Promise<string> {
  newest = `1.${releases++}.0`;
  await scenario.publish(newest);
  return newest;
}

beforeAll(async () => {
  cluster = await startTestCluster();
  view = viewCluster(cluster);
  scenario = scenarioOf(view, await view.newNamespace());
  await scenario.create();
  await scenario.headIs(await release(), {});
  const selected = selectCluster({ kubeconfig: cluster.kubeconfigOf('developer') }, {});
  client = createClient(selected, { timeoutMs: 3000, userAgent: 'test' });
});
afterAll(async () => {
  client?.close();
  await cluster?.dispose();
});

/** Follows the Rollouts, and records what is reported, in order. */
function followed(by: KubeClient, silenceMs?: number) {
  const ended = new AbortController();
  const changes: string[] = [];
  const from = { apiVersion: 'kuberik.com/v1alpha1', resource: 'rollouts', namespace: scenario.ns };
  const done = (async () => {
    for await (const change of follow<Rollout>(by, from, ended.signal, silenceMs)) {
      changes.push(change.type === 'set' ? (change.object.status?.history?.[0]?.version.tag ?? '') : change.type);
    }
  })();
  const end = async () => {
    ended.abort();
    await done;
  };
  return { changes, end };
}

it('a watch whose version the API server no longer has starts again', async () => {
  let lists = 0;
  const aged: KubeClient = {
    ...client,
    // The first list is so old that its resourceVersion is compacted, as after a night.
    async *pages(from) {
      lists++;
      for await (const page of client.pages(from))
        yield (lists === 1 ? { ...page, resourceVersion: '1' } : page) as never;
    },
  };
  const { changes, end } = followed(aged);
  await waitFor(() => changes.length === 2, 'the second list');
  const version = await release();
  await waitFor(() => changes.includes(version), 'the watch to go on');
  expect([changes[0], changes[1], lists]).toEqual(['all', 'all', 2]);
  await end();
});

it('an API server that has stopped answering is reported as lost, and watched again when it returns', async () => {
  const apiServer = cluster.child('kube-apiserver')!;
  const { changes, end } = followed(client, 2000);
  await waitFor(() => changes.includes('all'), 'the list');
  apiServer.kill('SIGSTOP');
  try {
    await waitFor(() => changes.includes('lost'), 'the loss to be reported', 60_000);
  } finally {
    apiServer.kill('SIGCONT');
  }
  const version = await release();
  await waitFor(() => changes.includes(version), 'the watch to go on', 60_000);
  await end();
});

it('a page whose server was stopped for an hour reports it, and continues by itself', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'page-'));
  await buildCli(folder);
  const args = [join(folder, 'kubectl-rollouts.js'), 'ui', '--no-open', '-n', scenario.ns];
  const env = { ...process.env, KUBECONFIG: cluster.kubeconfigOf('developer') };
  const server = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'ignore'] });
  const browser = await launchBrowser();
  try {
    const tab = await browser.newPage();
    await tab.clock.install();
    await tab.goto(await addressOf(server));
    await tab.getByText(newest, { exact: true }).first().waitFor();
    server.kill('SIGSTOP');
    await tab.clock.fastForward('01:00:00');
    await tab.getByText('may be out of date').waitFor();
    const version = await release();
    server.kill('SIGCONT');
    await tab.getByText(version, { exact: true }).first().waitFor();
    await tab.getByText('may be out of date').waitFor({ state: 'hidden' });
  } finally {
    server.kill('SIGCONT');
    server.kill('SIGTERM');
    await browser.close();
    rmSync(folder, { recursive: true });
  }
});

/** The first line that it prints. */
async function addressOf({ stdout }: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: stdout! })) if (line.startsWith('http://')) return line;
  throw new Error('The server of the page has ended.');
}
