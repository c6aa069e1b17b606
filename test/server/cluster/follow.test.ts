/** A watch continues after its end, after 410 and after a lost connection. It ends on permanent errors. */
import type { ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { Rollout } from '../../../api/types.ts';
import { createClient } from '../../../connection/kube/kubeClient.ts';
import { selectCluster } from '../../../connection/kube/kubeconfig.ts';
import { type CollectionChange, follow } from '../../../server/cluster/follow.ts';
import { apiServer, json, list, rollout, status } from '../../cli/apiServer.ts';

const FROM = { apiVersion: 'kuberik.com/v1alpha1', resource: 'rollouts', namespace: 'shop' };

type Watch = (response: ServerResponse, resourceVersion: string | null) => void;

/**
 * Lists answer with `lists` in turn, watches with `watches`; the last one is repeated. Collects up to `most` changes.
 */
async function changes(lists: (object | 'fails')[], watches: Watch[], most: number, silenceMs?: number) {
  const turn = <T>(all: T[]) => (all.length > 1 ? all.shift()! : all[0]!);
  const server = await apiServer((_, response, url) => {
    if (url.searchParams.get('watch') !== 'true') {
      const next = turn(lists);
      return next === 'fails' ? status(response, 500, 'InternalError', 'busy') : json(response, next);
    }
    response.writeHead(200, { 'content-type': 'application/json' });
    return turn(watches)(response, url.searchParams.get('resourceVersion'));
  });
  const selected = selectCluster({ kubeconfig: server.kubeconfig }, {});
  const client = createClient(selected, { timeoutMs: 60_000, userAgent: 'test' });
  const ended = new AbortController();
  const seen: string[] = [];
  for await (const change of follow<Rollout>(client, FROM, ended.signal, silenceMs)) {
    seen.push(text(change));
    if (seen.length === most) break;
  }
  ended.abort();
  client.close();
  return { seen, asked: server.asked };
}

function text(change: CollectionChange<Rollout>): string {
  if (change.type === 'all') return `all: ${change.items.map(({ metadata }) => metadata.name).join(' ')}`;
  return change.type === 'lost' ? 'lost' : `${change.type}: ${change.object.metadata.name}`;
}

const event = (type: string, object: object) => `${JSON.stringify({ type, object })}\n`;
const versioned = (name: string, resourceVersion: string) => {
  const object = rollout(name);
  return { ...object, metadata: { ...object.metadata, resourceVersion } };
};
const hold: Watch = (response) => void response.write(event('BOOKMARK', { metadata: { resourceVersion: '9' } }));

describe('follow', () => {
  it('lists, then reports changes', async () => {
    const watch: Watch = (response) => {
      response.write(event('ADDED', versioned('b', '2')));
      response.write(event('DELETED', versioned('a', '3')));
    };
    const { seen } = await changes([list([rollout('a')])], [watch, hold], 3);
    expect(seen).toEqual(['all: a', 'set: b', 'gone: a']);
  });

  it('continues an ended watch from its last version', async () => {
    const ends: Watch = (response) => void response.end(event('MODIFIED', versioned('a', '7')));
    const next: Watch = (response, resourceVersion) =>
      void response.write(event('MODIFIED', versioned(`after-${resourceVersion}`, '8')));
    const { seen } = await changes([list([rollout('a')])], [ends, next], 3);
    expect(seen).toEqual(['all: a', 'set: a', 'set: after-7']);
  });

  it('lists all pages again if a later one fails', async () => {
    const first = { ...list([rollout('a')], '1'), metadata: { resourceVersion: '1', continue: 'next' } };
    const lists = [first, 'fails' as const, first, list([rollout('b')], '1')];
    const { seen } = await changes(lists, [hold], 2);
    expect(seen).toEqual(['lost', 'all: a b']);
  });

  it('lists again after 410, in either form', async () => {
    const gone: Watch = (response) => void response.end(event('ERROR', { code: 410, message: 'too old' }));
    const { seen, asked } = await changes([list([rollout('a')], '1'), list([rollout('b')], '5')], [gone, hold], 2);
    expect(seen).toEqual(['all: a', 'all: b']);
    expect(asked.filter((each) => !each.includes('watch='))).toHaveLength(2);
  });

  it('reports a lost watch, and retries', async () => {
    const breaks: Watch = (response) => void response.socket?.destroy();
    const connected: Watch = (response) => void response.write(event('ADDED', versioned('b', '2')));
    const { seen } = await changes([list([rollout('a')])], [breaks, connected], 3);
    expect(seen).toEqual(['all: a', 'lost', 'set: b']);
  });

  it.each([
    ['a page in HTML', '<!doctype html>\n'],
    ['another object', '{"kind":"Status"}\n'],
    ['no object', 'null\n'],
  ])('takes %s of a proxy for a lost watch', async (_, line) => {
    const page: Watch = (response) => void response.end(line);
    const connected: Watch = (response) => void response.write(event('ADDED', versioned('b', '2')));
    const { seen } = await changes([list([rollout('a')])], [page, connected], 3);
    expect(seen).toEqual(['all: a', 'lost', 'set: b']);
  });

  it('drops a connection that died silently, as after a sleep, and continues', async () => {
    const dead: Watch = (response) => void response.flushHeaders();
    const connected: Watch = (response, resourceVersion) =>
      void response.write(event('ADDED', versioned(`since-${resourceVersion}`, '2')));
    const { seen } = await changes([list([rollout('a')], '4')], [dead, connected], 2, 500);
    expect(seen).toEqual(['all: a', 'set: since-4']);
  });

  it.each([401, 403, 404])('ends with %s: waiting does not mend that', async (code) => {
    const server = await apiServer((_, response) => status(response, code, 'Reason', 'no'));
    const selected = selectCluster({ kubeconfig: server.kubeconfig }, {});
    const client = createClient(selected, { timeoutMs: 60_000, userAgent: 'test' });
    const first = follow(client, FROM, new AbortController().signal).next();
    await expect(first).rejects.toMatchObject({ code });
    client.close();
  });
});
