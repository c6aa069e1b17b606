/**
 * The page with several clusters: each answers for itself, a write goes to the named one, and none waits for a silent
 * one.
 */
import { expect, it, onTestFinished } from 'vitest';
import { openPage } from '../../page/laptop.ts';
import { createClient } from '../../tools/kube/kubeClient.ts';
import { selectCluster } from '../../tools/kube/kubeconfig.ts';
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
    const client = createClient(selected, { timeoutMs: 5000, userAgent: 'test' });
    const { server, user, namespace: fallback } = selected;
    return { client, hello: { context, server, user, program: 'kubectl rollouts' }, fallback, now: () => Date.now() };
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

/** The stream, until it has all of these texts. */
async function streamed(origin: string, ...texts: string[]): Promise<string> {
  const response = await fetch(`${origin}/api/stream`, { headers: HEADERS });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let all = '';
  while (!texts.every((text) => all.includes(text))) {
    const { done, value } = await reader.read();
    if (done) break;
    all += value;
  }
  await reader.cancel();
  return all;
}

it('has one stream, in which each object and each kind has its cluster, and a silent cluster is loading', async () => {
  const silent = await apiServer(() => {});
  const [a, b] = await Promise.all([clusterWith('1.0.0'), clusterWith('2.0.0')]);
  const { origin } = await pageOfClusters({ silent: silent.url, a: a.url, b: b.url });
  const all = await streamed(origin, '"version":"1.0.0"', '"version":"2.0.0"', 'event: complete');
  const data = (event: string) =>
    [...all.matchAll(new RegExp(`^event: ${event}\\ndata: (.*)$`, 'gm'))].map(([, text]) => JSON.parse(text!));
  const versions = data('rows').flatMap(({ cluster, set }) => set.map(({ runs }: any) => `${cluster} ${runs.version}`));
  expect(new Set(versions)).toEqual(new Set(['a 1.0.0', 'b 2.0.0']));
  expect(data('hello')[0].clusters.map(({ name, home }: any) => [name, home])).toEqual([
    ['silent', 'shop-silent'],
    ['a', 'shop-a'],
    ['b', 'shop-b'],
  ]);
  const rollouts = data('kinds')
    .flat()
    .filter(({ kind }) => kind === 'Rollout');
  expect(rollouts).toContainEqual({ cluster: 'a', kind: 'Rollout', state: 'live' });
  expect(new Set(rollouts.filter(({ cluster }) => cluster === 'silent').map(({ state }) => state))).toEqual(
    new Set(['loading']),
  );
});

it('writes to the cluster that is named, with the credentials for it', async () => {
  const [a, b] = await Promise.all([clusterWith('1.0.0'), clusterWith('2.0.0')]);
  const { ask } = await pageOfClusters({ a: a.url, b: b.url });
  const object = { kind: 'Rollout', namespace: 'shop', name: 'web' };
  const action = { type: 'pin', object, version: '1.0.0' };
  expect(await ask('/api/act?cluster=b', { action })).toMatchObject({ status: 200, value: { ok: true } });
  expect(b.writes).toEqual(['/apis/kuberik.com/v1alpha1/namespaces/shop/rollouts/web of Bearer secret of b']);
  expect(a.writes).toEqual([]);
});

it.each(['/api/act', '/api/act?cluster=', '/api/act?cluster=c'])(
  'writes nothing where no cluster of the page is named: %s',
  async (path) => {
    const [a, b] = await Promise.all([clusterWith('1.0.0'), clusterWith('2.0.0')]);
    const { ask } = await pageOfClusters({ a: a.url, b: b.url });
    const action = { type: 'pin', object: { kind: 'Rollout', namespace: 'shop', name: 'web' }, version: '1.0.0' };
    const message = 'Name one of the clusters that this page shows: a, b.';
    expect(await ask(path, { action })).toEqual({ status: 404, value: { message } });
    expect([...a.writes, ...b.writes]).toEqual([]);
  },
);

it('of one cluster needs no name, and answers for no other one', async () => {
  const { url, writes } = await clusterWith('1.0.0');
  const { ask } = await pageOfClusters({ only: url });
  const action = { type: 'pin', object: { kind: 'Rollout', namespace: 'shop', name: 'web' }, version: '1.0.0' };
  expect((await ask('/api/act?cluster=other', { action })).status).toBe(404);
  expect(writes).toEqual([]);
  for (const path of ['/api/act', '/api/act?cluster=only']) expect((await ask(path, { action })).status).toBe(200);
  expect(writes).toHaveLength(2);
});
