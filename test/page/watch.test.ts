/** A page that is open for days: forbidden reads, lost connections, expired credentials. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createClient } from '../../connection/kube/kubeClient.ts';
import { selectCluster } from '../../connection/kube/kubeconfig.ts';
import { keepWatching } from '../../page/feed.ts';
import { closePages, createPages } from '../../page/page.ts';
import { apiServer, json, list, rollout, status } from '../cli/apiServer.ts';
import { eventually } from '../support/eventually.ts';

const FROM = { apiVersion: 'kuberik.com/v1alpha1', resource: 'rollouts' };

type Turn = (response: ServerResponse, url: URL, request: IncomingMessage) => unknown;

/** The sink's messages until `last`. */
async function changesFrom(answer: Turn, last: string | ((text: string) => boolean)): Promise<string[]> {
  const server = await apiServer((request, response, url) => {
    if (url.pathname === '/version') return json(response, { major: '1' });
    return void answer(response, url, request);
  });
  const selected = selectCluster({ kubeconfig: server.kubeconfig }, {});
  const client = createClient(selected, { timeoutMs: 60_000, userAgent: 'test' });
  const ended = new AbortController();
  const seen: string[] = [];
  const tell = (text: string) => {
    if (seen.at(-1) === text) return;
    seen.push(text);
    if (typeof last === 'string' ? text === last : last(text)) ended.abort();
  };
  const sink = {
    replace: (objects: { metadata: { name?: string } }[]) =>
      tell(`all: ${objects.map(({ metadata }) => metadata.name).join(' ')}`),
    set: () => tell('set'),
    remove: () => tell('gone'),
    state: ({ state, namespace }: { state: string; namespace?: string }) =>
      tell(namespace ? `${state} in ${namespace}` : state),
  };
  await keepWatching(client, FROM, { sink, fallback: 'shop', signal: ended.signal });
  client.close();
  return seen;
}

const isWatch = (url: URL) => url.searchParams.has('watch');
const hold = (response: ServerResponse) => response.writeHead(200).flushHeaders();

it('a lost connection is reported, and its return too, without a change of objects', async () => {
  let watches = 0;
  const states: string[] = [];
  const seen = await changesFrom(
    (response, url) => {
      if (!isWatch(url)) return json(response, list([rollout('app')]));
      watches++;
      return watches === 1 ? response.socket?.destroy() : hold(response);
    },
    (text) => {
      states.push(text);
      return states.slice(-2).join() === 'reconnecting,live';
    },
  );
  expect(seen).toEqual(['all: app', 'live', 'reconnecting', 'live']);
});

it('where the whole cluster may not be read, the namespace of the context is', async () => {
  const seen = await changesFrom((response, url) => {
    if (!url.pathname.includes('/namespaces/')) return status(response, 403, 'Forbidden', 'cannot list');
    return isWatch(url) ? hold(response) : json(response, list([rollout('app')]));
  }, 'live in shop');
  expect(seen).toEqual(['all: app', 'live in shop']);
});

it('without that right either, nothing is shown, as reported', async () => {
  expect(
    await changesFrom((response) => status(response, 403, 'Forbidden', 'cannot list'), 'forbidden in shop'),
  ).toEqual(['all: ', 'forbidden in shop']);
});

it('a withdrawn right ends the view within five minutes, with the watch', async () => {
  let isRevoked = false;
  const seen = await changesFrom((response, url) => {
    if (isRevoked) return status(response, 403, 'Forbidden', 'cannot list');
    if (!isWatch(url)) return json(response, list([rollout('app')]));
    expect(url.searchParams.get('timeoutSeconds')).toBe('300');
    isRevoked = true;
    return response.writeHead(200).end();
  }, 'forbidden in shop');
  expect(seen).toEqual(['all: app', 'live', 'all: ', 'forbidden in shop']);
});

it('a kind that is not served is absent', async () => {
  expect(await changesFrom((response) => status(response, 404, 'NotFound', 'no such kind'), 'absent')).toEqual([
    'all: ',
    'absent',
  ]);
});

it('expired credentials keep the objects, and are tried again', async () => {
  let isExpired = false;
  let hasExpired = false;
  const seen = await changesFrom((response, url) => {
    if (isExpired) {
      isExpired = false;
      return status(response, 401, 'Unauthorized', 'Unauthorized');
    }
    if (!isWatch(url)) return json(response, list([rollout(hasExpired ? 'after' : 'app')]));
    if (hasExpired) return hold(response);
    isExpired = true;
    hasExpired = true;
    return response.writeHead(200).end();
  }, 'all: after');
  expect(seen).toEqual(['all: app', 'live', 'signed-out', 'all: after', 'live']);
});

describe('a Gate of a namespace that the page does not read', () => {
  const NOW = Date.parse('2026-11-22T08:00:00Z');
  const gates = [{ name: 'freeze', namespace: 'flux-system' }];
  const waits = {
    ...rollout('app'),
    spec: { releasesImagePolicy: { name: 'app' }, gates },
    status: { ...rollout('app').status, pendingVersion: '1.1.0', gates: [{ name: 'qa', passing: false }] },
  };

  /** The page of a reader. `reads`: whether a path may be read. */
  async function pageOf(reads: (path: string) => boolean, of: { namespace?: string; namespaces?: string[] } = {}) {
    const server = await apiServer((_, response, url) => {
      if (isWatch(url)) return void hold(response);
      if (url.pathname.endsWith('/selfsubjectaccessreviews')) return json(response, { status: { allowed: true } });
      if (!reads(url.pathname)) return status(response, 403, 'Forbidden', 'cannot list');
      const isListed = url.pathname.endsWith('/rollouts') && !url.pathname.includes('/flux-system/');
      json(response, list(isListed ? [waits] : []));
    });
    const selected = selectCluster({ kubeconfig: server.kubeconfig }, {});
    const client = createClient(selected, { timeoutMs: 60_000, userAgent: 'test' });
    const hello = { context: 'c', server: '' };
    const { namespace, namespaces } = of;
    const pages = createPages([{ client, hello, namespace, fallback: 'shop', now: () => NOW }]);
    onTestFinished(() => {
      closePages(pages);
      client.close();
    });
    const { feed, handlers } = pages[0]!;
    feed.start(namespaces);
    await eventually(() => expect(feed.kinds().every(({ state }) => state !== 'loading')).toBe(true));
    return { feed, shown: async () => (await handlers.application('shop/app'))! };
  }

  const ofShop = (path: string) => path.includes('/namespaces/shop/');
  it.each([
    ['another namespace', ofShop, { namespaces: ['shop', 'flux-system'] }, "you aren't allowed to read this kind"],
    ['the namespaces of the page', ofShop, { namespaces: ['shop'] }, 'this page does not read that namespace'],
    ['one namespace', () => true, { namespace: 'shop' }, 'this page does not read that namespace'],
    ['the namespace of the context', ofShop, {}, 'this page does not read that namespace'],
  ])('is unknown to a reader of %s, and is not offered as missing', async (_, reads, of, why) => {
    const { shown } = await pageOf(reads, of);
    await eventually(async () => {
      const { application, actions } = await shown();
      const step = application.steps.find(({ id }) => id === 'gate/flux-system/freeze');
      expect(step).toMatchObject({ state: 'unknown', detail: `the Gate itself could not be read: ${why}` });
      expect(application.unread).toEqual([`Gates in flux-system: ${why}`]);
      const types = actions.map(({ request }) => request.type);
      expect(types.filter((type) => type === 'create' || type === 'unrequire')).toEqual([]);
    });
  });

  it('does not exist if the page reads that namespace, or the cluster', async () => {
    for (const of of [{}, { namespaces: ['shop', 'flux-system'] }]) {
      const { shown } = await pageOf(() => true, of);
      const { application } = await shown();
      expect(application.steps).toContainEqual(expect.objectContaining({ state: 'blocks', missing: true }));
      expect(application.unread).toEqual([]);
    }
  });

  it('is named beside the namespaces whose Gates are read', async () => {
    const { feed } = await pageOf(ofShop, { namespaces: ['shop', 'flux-system'] });
    const stateOf = () => feed.kinds().find(({ kind }) => kind === 'Gate');
    const live = { kind: 'Gate', state: 'live', namespace: 'shop', forbiddenIn: ['flux-system'] };
    await eventually(() => expect(stateOf()).toEqual(live));
  });
});
