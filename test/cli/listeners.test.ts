/** Many watches end with one signal, and leave no listeners on it. */
import { getEventListeners } from 'node:events';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { createClient } from '../../connection/kube/kubeClient.ts';
import { selectCluster } from '../../connection/kube/kubeconfig.ts';
import { Live } from '../../connection/read/live.ts';
import { Feed } from '../../page/feed.ts';
import { type Answer, apiServer, json, list, rollout } from './apiServer.ts';

/** The largest number of listeners on a signal. */
let most = 0;

beforeEach(() => {
  most = 0;
  const add = AbortSignal.prototype.addEventListener;
  const spy = vi.spyOn(AbortSignal.prototype, 'addEventListener').mockImplementation(function (
    this: AbortSignal,
    ...given: Parameters<typeof add>
  ) {
    add.apply(this, given);
    most = Math.max(most, getEventListeners(this, 'abort').length);
  });
  onTestFinished(() => spy.mockRestore());
});

async function clientOf(answer: Answer) {
  const { kubeconfig } = await apiServer(answer);
  const client = createClient(selectCluster({ kubeconfig }, {}), { timeoutMs: 60_000, userAgent: 'test' });
  onTestFinished(() => client.close());
  return client;
}

it('of get --watch, however often it draws', async () => {
  const client = await clientOf((_, response, url) => {
    if (url.searchParams.has('watch')) return response.writeHead(200).flushHeaders();
    json(response, list(url.pathname.endsWith('/rollouts') ? [rollout('app')] : []));
  });
  const ended = new AbortController();
  const live = new Live({ client, namespace: 'shop', names: [], signal: ended.signal });
  let looks = 0;
  for await (const _ of live.updates(1)) if (++looks === 15) ended.abort();
  // Five watches, with one or two each.
  expect(most).toBeLessThanOrEqual(10);
});

it('of the page, also while the API server is gone', async () => {
  const client = await clientOf((request) => request.socket.destroy());
  const feed = new Feed({ client, fallback: 'shop', now: Date.now });
  feed.start();
  await expect.poll(() => feed.kinds().every(({ state }) => state === 'reconnecting')).toBe(true);
  feed.stop();
  expect(most).toBeLessThanOrEqual(2 * feed.kinds().length + 1);
});
