/** Commands for several clusters: each with its own credentials, and none waits for a silent one. */
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { call } from '../support/command.ts';
import { apiServer, json, kubeconfigWith, list, rollout } from './apiServer.ts';

const NOBODY = 'http://127.0.0.1:1';

/** A kubeconfig with a context per cluster, and a Rollout in each requested namespace. */
async function clusterWith(version: string, seen: (token: string | undefined) => void = () => {}) {
  const { url } = await apiServer((request, response, { pathname }) => {
    seen(request.headers.authorization);
    const [, namespace] = /\/namespaces\/([^/]+)\/rollouts$/.exec(pathname) ?? [];
    const web = namespace && rollout('web', version, namespace);
    // Without it, the output reports that nothing is bound.
    json(response, list(web ? [{ ...web, spec: { ...web.spec, releaseConfigMap: { name: 'web' } } }] : []));
  });
  return url;
}

const get = (line: string, kubeconfig: string, signal?: AbortSignal) =>
  call(line, {
    env: { KUBECONFIG: kubeconfig },
    now: () => Date.parse('2026-03-01T12:01:00Z'),
    ...(signal && { signal }),
  });
const REFUSED = `The API server ${NOBODY} of context 'c' does not answer: connection refused. Is the cluster running, and is this the right context?`;

it('reads each cluster with its own credentials in its own namespace, in the given order', async () => {
  const tokens = new Set<string | undefined>();
  const seen = (token: string | undefined) => tokens.add(token);
  const kubeconfig = kubeconfigWith({ a: await clusterWith('1.0.0', seen), b: await clusterWith('2.0.0', seen) });
  const { code, out } = await get('get --context b --context a --context b -o wide', kubeconfig);
  expect([code, out]).toEqual([
    0,
    `CLUSTER   NAMESPACE   NAME   RUNS      SINCE   WAITS   STATE   CAUSE
b         shop-b      web    ✔ 2.0.0   60s     -       done
a         shop-a      web    ✔ 1.0.0   60s     -       done
`,
  ]);
  expect(tokens).toEqual(new Set(['Bearer secret of a', 'Bearer secret of b']));
});

it('reports a cluster without an answer among the others, with the cause, and ends with 1', async () => {
  const kubeconfig = kubeconfigWith({ a: await clusterWith('1.0.0'), c: NOBODY });
  const wide = await get('get --context a --context c -o wide', kubeconfig);
  expect(wide.code).toBe(1);
  expect(wide.out.split('\n')).toEqual([
    expect.stringMatching(/^CLUSTER +NAMESPACE/),
    expect.stringMatching(/^a +shop-a +web +✔ 1\.0\.0/),
    expect.stringMatching(/^c +- +- +- +- +- +unknown +The API server .* does not answer/),
    '',
  ]);
  const tree = await get('get --context a --context c', kubeconfig);
  expect([tree.code, tree.out]).toEqual([
    1,
    `Cluster a

shop-a/web   ✔ 1.0.0 deployed 60s ago

Cluster c
✖ ${REFUSED}
`,
  ]);
});

it('names the cluster of each application in JSON, and clusters without an answer', async () => {
  const kubeconfig = kubeconfigWith({ a: await clusterWith('1.0.0'), c: NOBODY });
  const { code, out } = await get('get --context c --context a -o json', kubeconfig);
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({
    items: [{ cluster: 'a', namespace: 'shop-a', name: 'web' }],
    unanswered: [{ cluster: 'c', problem: REFUSED }],
  });
});

it('prints other clusters’ answers before those of a silent one, which has a timeout of its own', async () => {
  const { url } = await apiServer(() => {});
  const kubeconfig = kubeconfigWith({ silent: url, a: await clusterWith('1.0.0') });
  const { code, out } = await get('get --context silent --context a --request-timeout 3s', kubeconfig);
  expect(code).toBe(1);
  expect(out).toMatch(/^Cluster a\n[\s\S]*\nCluster silent\n✖ .*no answer in time/);
});

it('ends at once with Ctrl-C while one is silent', async () => {
  const ended = new AbortController();
  const { url } = await apiServer(() => ended.abort());
  const kubeconfig = kubeconfigWith({ silent: url, a: await clusterWith('1.0.0') });
  const { code } = await get('get --context silent --context a --request-timeout 1h', kubeconfig, ended.signal);
  expect(code).toBe(130);
});

describe('a watch', () => {
  /** A cluster that stops answering when it is stopped. */
  async function stoppable(version: string) {
    const open = new Set<ServerResponse>();
    let isUp = true;
    const server = await apiServer((request, response, { pathname, searchParams }) => {
      if (!isUp) return void request.socket.destroy();
      if (!searchParams.has('watch')) {
        const [, namespace] = /\/namespaces\/([^/]+)\/rollouts$/.exec(pathname) ?? [];
        return json(response, list(namespace ? [rollout('web', version, namespace)] : []));
      }
      response.writeHead(200, { 'content-type': 'application/json' });
      response.flushHeaders();
      open.add(response);
    });
    const stop = () => {
      isUp = false;
      for (const each of open) each.destroy();
    };
    return { url: server.url, stop };
  }

  it('shows each cluster, reports a lost one, and ends once all have reached the state', async () => {
    const [a, b] = [await stoppable('1.0.0'), await stoppable('2.0.0')];
    const interrupted = new AbortController();
    const line = 'get --context a --context c --context b --watch';
    const lines = (all: string) => all.trimEnd().split('\n');
    let noted = () => {};
    const watching = call(line, {
      env: { KUBECONFIG: kubeconfigWith({ a: a.url, b: b.url, c: NOBODY }) },
      signal: interrupted.signal,
      onOutput: (all) => lines(all).length === 2 && b.stop(),
      onNote: (all) => all.includes('b: Lost connection') && noted(),
    });
    await new Promise<void>((resolve) => {
      noted = resolve;
    });
    interrupted.abort();
    const { code, out, err } = await watching;
    expect(code).toBe(130);
    expect(
      lines(out)
        .map((each) => each.replace(/^\S+ /, ''))
        .sort(),
    ).toEqual(['a shop-a/web: 1.0.0 runs', 'b shop-b/web: 2.0.0 runs']);
    expect(lines(err).sort()).toEqual(['b: Lost connection to the API server; retrying.', `c: ${REFUSED}`]);
  });

  it('prints each cluster under its name, one without an answer included', async () => {
    const [a, interrupted] = [await stoppable('1.0.0'), new AbortController()];
    const { out } = await call('get --context a --context c --watch', {
      env: { KUBECONFIG: kubeconfigWith({ a: a.url, c: NOBODY }) },
      signal: interrupted.signal,
      columns: 120,
      onOutput: (all) => /shop-a\/web[\s\S]*does not answer/.test(all.split('\x1b[0J').at(-1)!) && interrupted.abort(),
    });
    expect(out).toMatch(
      /Cluster a\n\nshop-a\/web {3}✔ 1\.0\.0[\s\S]*\n\nCluster c\n✖ The API server .* does not answer/,
    );
  });

  it('--until ends once every cluster has reached the state, and not while one is unreachable', async () => {
    const [a, b] = [await stoppable('1.0.0'), await stoppable('1.0.0')];
    const until = (contexts: Record<string, string>, signal = new AbortController().signal) =>
      call(
        `get --watch --until baked ${Object.keys(contexts)
          .map((each) => `--context ${each} `)
          .join('')}`,
        {
          env: { KUBECONFIG: kubeconfigWith(contexts) },
          signal,
        },
      );
    expect((await until({ a: a.url, b: b.url })).code).toBe(0);
    expect((await until({ a: a.url, c: NOBODY }, AbortSignal.timeout(1000))).code).toBe(130);
  });
});

it.each([
  ['get --context a --context c -o name', '-o name works with one --context only'],
  ['get --context a --context c --user a', '--cluster and --user work with one --context only'],
  ['get --context a --context b', "There is no context 'b'"],
])('%s is refused', async (line, sentence) => {
  const { code, out, err } = await get(line, kubeconfigWith({ a: NOBODY, c: NOBODY }));
  expect([out, err]).toEqual(['', expect.stringContaining(sentence)]);
  expect(code).toBeGreaterThan(0);
});
