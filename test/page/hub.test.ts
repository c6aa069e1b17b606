/** One hub for all clusters of a page: one heartbeat for each stream, and no feed ends the streams of the others. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { PassThrough, Writable } from 'node:stream';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createClient } from '../../connection/kube/kubeClient.ts';
import { selectCluster } from '../../connection/kube/kubeconfig.ts';
import { Hub } from '../../page/hub.ts';
import { closePages, createPages } from '../../page/page.ts';
import { kubeconfigWith } from '../cli/apiServer.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
});

/** A page of two clusters, which can't be reached, and an open stream of it. */
async function openPages() {
  const kubeconfig = kubeconfigWith({ a: 'http://127.0.0.1:1', b: 'http://127.0.0.1:1' });
  const pages = createPages(
    ['a', 'b'].map((context) => {
      const client = createClient(selectCluster({ kubeconfig, context }, {}), { timeoutMs: 100, userAgent: 'test' });
      onTestFinished(() => client.close());
      return { client, hello: { context, server: '', user: '' }, fallback: 'shop', now: () => 0 };
    }),
  );
  for (const { feed } of pages) feed.start();
  const [first, second] = pages as [(typeof pages)[0], (typeof pages)[0]];
  onTestFinished(() => closePages(pages));
  let text = '';
  const stream = new PassThrough().on('data', (part) => {
    text += part;
  });
  const response = Object.assign(stream, { writeHead: () => response }) as unknown as ServerResponse;
  const { hub } = first.feed;
  await hub.join(response, first.hello);
  return { pages, hub, stream, second, beats: () => text.split(': beat').length - 1 };
}

it('a stream of two clusters gets one heartbeat each 15 seconds, and none is made without a stream', async () => {
  const { stream, hub, beats } = await openPages();
  vi.advanceTimersByTime(15_000);
  await expect.poll(beats).toBe(1);
  vi.advanceTimersByTime(30_000);
  await expect.poll(beats).toBe(3);
  const before = vi.getTimerCount();
  stream.destroy();
  await expect.poll(() => hub.size).toBe(0);
  expect(vi.getTimerCount()).toBe(before - 1);
});

it('a feed that stops ends no stream, and closing the pages ends all', async () => {
  const { pages, hub, stream, second } = await openPages();
  second.feed.stop();
  expect([hub.size, stream.writableEnded]).toEqual([1, false]);
  closePages(pages);
  expect([hub.size, stream.writableEnded]).toEqual([0, true]);
});

it('a stream that its browser has left before it is opened counts for nothing', async () => {
  const { hub, pages } = await openPages();
  const left = new PassThrough();
  left.destroy();
  await once(left, 'close');
  const response = Object.assign(left, { writeHead: () => response }) as unknown as ServerResponse;
  await hub.join(response, pages[0]!.hello);
  expect(hub.size).toBe(1);
});

describe('a stream that is not read', () => {
  const MiB = 1024 * 1024;
  const headline = 'x'.repeat(2000);
  /** A hub with 40 MB of rows, and a stream that takes nothing. */
  function stuck() {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'] });
    const hub = new Hub();
    onTestFinished(() => hub.close());
    const set = Array.from({ length: 20_000 }, (_, at) => ({ id: `shop/${at}`, headline }));
    hub.feeds.push({ snapshot: () => ({ kinds: [], rows: { set, gone: [] } }) } as never);
    const stream = new Writable({ write: () => {} });
    const response = Object.assign(stream, { writeHead: () => response }) as unknown as ServerResponse;
    return { hub, stream, joined: hub.join(response, {} as never) };
  }

  it('holds a small part of the views, and is ended after half a minute', async () => {
    const { hub, stream, joined } = stuck();
    await expect.poll(() => stream.writableNeedDrain).toBe(true);
    await vi.advanceTimersByTimeAsync(29_000);
    expect([stream.destroyed, stream.writableLength < 2 * MiB]).toEqual([false, true]);
    await vi.advanceTimersByTimeAsync(1000);
    await joined;
    expect([stream.destroyed, hub.size]).toEqual([true, 0]);
  });

  it('gets no more views once its session has ended it', async () => {
    const { stream, joined } = stuck();
    const failed = vi.fn();
    stream.on('error', failed);
    await expect.poll(() => stream.writableNeedDrain).toBe(true);
    stream.end();
    stream.emit('drain');
    await joined;
    expect(failed).not.toHaveBeenCalled();
  });

  it('gets no more changes once its session has ended it', async () => {
    const { hub, stream } = await openPages();
    const failed = vi.fn();
    stream.on('error', failed).pause().write('x'.repeat(MiB));
    stream.end();
    hub.send('reset', {});
    vi.advanceTimersByTime(15_000);
    await new Promise((done) => void setImmediate(done));
    expect([failed.mock.calls, hub.size]).toEqual([[], 1]);
  });

  it('is ended as soon as too many changes wait for it', async () => {
    const { hub, stream } = stuck();
    for (let sent = 0; sent < 17 * MiB; sent += headline.length) hub.send('rows', { set: [], gone: [headline] });
    await expect.poll(() => [stream.destroyed, hub.size]).toEqual([true, 0]);
  });
});
