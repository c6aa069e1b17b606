/** A fake API server for errors that a real one rarely has: answers as the test sets, over plain HTTP. */
import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join } from 'node:path';
import { startLocalServer } from '../support/localServer.ts';
import { temporaryFolder } from '../support/temporaryFolder.ts';

export type Answer = (request: IncomingMessage, response: ServerResponse, url: URL) => void;

export interface ApiServer {
  url: string;
  /** A kubeconfig whose context `test` names it. */
  kubeconfig: string;
  /** Paths with queries, in the order of the requests. */
  asked: string[];
}

export async function apiServer(answer: Answer): Promise<ApiServer> {
  const server = await startLocalServer((request, response) =>
    answer(request, response, new URL(request.url ?? '/', 'http://server')),
  );
  const url = `http://${server.host}`;
  return { url, kubeconfig: kubeconfigOf(url), asked: server.requests };
}

/** A file with the context `test`, and the user and the namespace that it names. */
export function kubeconfigOf(server: string, user: object = { token: 'secret' }): string {
  return kubeconfigFile({
    'current-context': 'test',
    clusters: [{ name: 'cluster', cluster: { server } }],
    users: [{ name: 'alice', user }],
    contexts: [{ name: 'test', context: { cluster: 'cluster', user: 'alice', namespace: 'shop' } }],
  });
}

/** A file with a context of each name, its own user and the namespace `shop-NAME`. */
export function kubeconfigWith(servers: Record<string, string>): string {
  const names = Object.keys(servers);
  return kubeconfigFile({
    clusters: names.map((name) => ({ name, cluster: { server: servers[name] } })),
    users: names.map((name) => ({ name, user: { token: `secret of ${name}` } })),
    contexts: names.map((name) => ({ name, context: { cluster: name, user: name, namespace: `shop-${name}` } })),
  });
}

function kubeconfigFile(config: object): string {
  const file = join(temporaryFolder('kubeconfig-'), 'config');
  // JSON is YAML.
  writeFileSync(file, JSON.stringify({ apiVersion: 'v1', kind: 'Config', ...config }));
  return file;
}

export function json(response: ServerResponse, body: object, code = 200, headers: Record<string, string> = {}): void {
  response.writeHead(code, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}

/** An error response of the API server. */
export function status(response: ServerResponse, code: number, reason: string, message: string): void {
  json(response, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message }, code);
}

export const rollout = (name: string, tag = '1.0.0', namespace = 'shop') => ({
  apiVersion: 'kuberik.com/v1alpha1',
  kind: 'Rollout',
  metadata: { namespace, name, uid: `uid-${name}`, resourceVersion: '1' },
  spec: { releasesImagePolicy: { name } },
  status: {
    history: [{ id: 1, version: { tag }, timestamp: '2026-03-01T12:00:00Z', bakeStatus: 'Succeeded' }],
    conditions: [],
  },
});

/** A list of one page. */
export const list = (items: object[], resourceVersion = '1') => ({
  kind: 'List',
  apiVersion: 'v1',
  metadata: { resourceVersion },
  items,
});
