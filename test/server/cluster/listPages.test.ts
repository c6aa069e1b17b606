import { describe, expect, it } from 'vitest';
import { ApiError, tooLarge } from '../../../server/cluster/apiError.ts';
import { createReader } from '../../../server/cluster/clusterReader.ts';
import type { Request } from '../../../server/cluster/connection.ts';
import { listPages } from '../../../server/cluster/listPages.ts';
import { SERVER_LIMITS } from '../../../server/http/serverLimits.ts';

const KIB = 1024;

/** An API server whose objects have these sizes, and the number of objects in each page that was read to its end. */
function apiServer(sizes: readonly number[]) {
  const pages: number[] = [];
  let requests = 0;
  const send = async <T>({ path, maxBytes = 0, measured }: Request): Promise<T> => {
    requests += 1;
    const { searchParams } = new URL(path, 'http://api');
    const from = Number(searchParams.get('continue') ?? 0);
    const to = Math.min(from + Number(searchParams.get('limit')), sizes.length);
    const bytes = sizes.slice(from, to).reduce((sum, size) => sum + size, 0);
    if (bytes > maxBytes) throw tooLarge('too large');
    measured?.(bytes);
    pages.push(to - from);
    const items = Array.from({ length: to - from }, (_, i) => ({ metadata: { name: `o-${from + i}` } }));
    return { metadata: to < sizes.length ? { continue: `${to}` } : {}, items } as T;
  };
  return { send, pages, requests: () => requests };
}

const of = (count: number, size: number): number[] => Array.from({ length: count }, () => size);

async function read(sizes: readonly number[]) {
  const api = apiServer(sizes);
  const names: string[] = [];
  for await (const { list } of listPages(api.send, { path: '/apis/x/v1/objects', query: {}, first: 100 }))
    names.push(...(list.items ?? []).map(({ metadata }) => metadata.name ?? ''));
  return { ...api, names };
}

describe('a page has few enough objects to be small', () => {
  it.each([
    ['10,000 usual ones', of(10_000, 2 * KIB), 23, 500],
    ['100 as large as tenants can make them', of(100, 540 * KIB), 106, 2],
    ['300 Gates with much text', of(300, 230 * KIB), 80, 7],
    ['small ones behind a few large ones', [...of(4, 540 * KIB), ...of(2000, 2 * KIB)], 20, 500],
    ['a few large ones behind small ones', [...of(2000, 2 * KIB), ...of(4, 540 * KIB)], 20, 500],
    ['a single one of the largest size', of(1, 1.5 * KIB * KIB), 1, 1],
    ['none', [], 1, 0],
  ])('%s', async (_, sizes, mostRequests, largest) => {
    const { names, pages, requests } = await read(sizes);
    expect(names).toEqual(sizes.map((_, i) => `o-${i}`));
    expect(Math.max(...pages)).toBe(largest);
    expect(requests()).toBeLessThanOrEqual(mostRequests);
  });

  it('an object that is larger than a page, which none is, is an error', async () => {
    await expect(read(of(2, SERVER_LIMITS.pageBytes + 1))).rejects.toThrow('too large');
  });

  it('another error ends the list', async () => {
    const send = () => Promise.reject(new ApiError(410, 'Expired', 'too old'));
    await expect(listPages(send, { path: '/', query: {}, first: 100 }).next()).rejects.toThrow('too old');
  });
});

describe('a list of limited size', () => {
  const GATES = { apiVersion: 'gating.toolkit.fluxcd.io/v1alpha1', resource: 'gates' };
  const cut = async (sizes: readonly number[], atMost: number, maxBytes: number) => {
    const api = apiServer(sizes);
    const reader = createReader({ send: api.send, close() {} });
    const { listed, isTruncated } = await reader.listAtMost({ ...GATES, atMost, maxBytes });
    return { count: listed.length, isTruncated, requests: api.requests() };
  };

  it.each([
    ['all of them', of(3, KIB), 3, KIB * KIB, { count: 3, isTruncated: false, requests: 1 }],
    ['one too many', of(4, KIB), 3, KIB * KIB, { count: 3, isTruncated: true, requests: 1 }],
    ['too many bytes', of(1000, 230 * KIB), 1000, KIB * KIB, { count: 8, isTruncated: true, requests: 4 }],
    ['too many bytes, and there are no more', of(2, KIB), 3, KIB, { count: 2, isTruncated: false, requests: 1 }],
  ])('%s', async (_, sizes, atMost, maxBytes, expected) => {
    expect(await cut(sizes, atMost, maxBytes)).toEqual(expected);
  });
});
