/** The page on a laptop with one cluster. Several clusters: inCluster/clusters.test.ts, with the same server. */
import { expect, it, onTestFinished } from 'vitest';
import { createClient } from '../../connection/kube/kubeClient.ts';
import { selectCluster } from '../../connection/kube/kubeconfig.ts';
import { openPage } from '../../page/local.ts';
import { apiServer, json, kubeconfigWith, list, rollout } from '../cli/apiServer.ts';

const TOKEN = 'the-key-of-this-server-1234';
const HEADERS = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };

/** Has only the Rollout shop/web. */
async function clusterWith(version: string) {
  const writes: string[] = [];
  const { url } = await apiServer((request, response, { pathname, searchParams }) => {
    if (request.method === 'PATCH') {
      writes.push(`${pathname} of ${request.headers.authorization}`);
      return json(response, rollout('web', version));
    }
    if (pathname.endsWith('/selfsubjectaccessreviews')) return json(response, { status: { allowed: true } }, 201);
    if (searchParams.has('watch')) return response.writeHead(200).flushHeaders();
    if (pathname.endsWith('/rollouts/web')) return json(response, rollout('web', version));
    json(response, list(pathname.endsWith('/rollouts') ? [rollout('web', version)] : []));
  });
  return { url, writes };
}

async function pageOfClusters(servers: Record<string, string>) {
  const kubeconfig = kubeconfigWith(servers);
  const clusters = Object.keys(servers).map((context) => {
    const selected = selectCluster({ kubeconfig, context }, {});
    const client = createClient(selected, { timeoutMs: 60_000, userAgent: 'test' });
    const { server, user, namespace: fallback } = selected;
    return { client, hello: { context, server, user }, fallback, now: () => Date.now() };
  });
  const page = await openPage(clusters, { assets: new Map(), token: TOKEN, port: 0 });
  onTestFinished(async () => {
    await page.close();
    for (const { client } of clusters) client.close();
  });
  const ask = async (path: string, body?: object) => {
    const post = body && { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(`${page.origin}${path}`, { headers: HEADERS, ...post });
    return { status: response.status, value: (await response.json()) as any };
  };
  return { origin: page.origin, ask };
}

it('of one cluster needs no name, and answers for no other one', async () => {
  const { url, writes } = await clusterWith('1.0.0');
  const { ask } = await pageOfClusters({ only: url });
  const action = { type: 'pin', object: { kind: 'Rollout', namespace: 'shop', name: 'web' }, version: '1.0.0' };
  expect((await ask('/api/act?cluster=other', { action })).status).toBe(404);
  expect(writes).toEqual([]);
  for (const path of ['/api/act', '/api/act?cluster=only']) expect((await ask(path, { action })).status).toBe(200);
  expect(writes).toHaveLength(2);
});
