import { describe, expect, it } from 'vitest';
import type { ClusterReader } from '../../../api/ports.ts';
import { ApiError } from '../../../server/cluster/apiError.ts';
import { createReader } from '../../../server/cluster/clusterReader.ts';
import type { Request } from '../../../server/cluster/connection.ts';
import type { Transport } from '../../../server/cluster/transport.ts';

const GATES = { apiVersion: 'gating.toolkit.fluxcd.io/v1alpha1', resource: 'gates' };

/** Answers as the API server does for a path outside of the resource. */
const elsewhere: Transport = {
  send: async () => {
    throw new ApiError(400, 'BadRequest', 'Name parameter invalid');
  },
  close: () => undefined,
};

it.each(['..', '.', 'a/../b', 'a%2fb', ''])(
  'an object named %j does not exist, as a name or as a namespace',
  async (name) => {
    const reader = createReader(elsewhere);
    expect(await reader.get({ ...GATES, namespace: 'apps', name })).toBeUndefined();
    if (name !== '') expect(await reader.get({ ...GATES, namespace: name, name: 'freeze' })).toBeUndefined();
  },
);

describe('whether a kind has objects', () => {
  const budgets = { apiVersion: 'kuberik.com/v1alpha1', resource: 'rolloutbudgets', namespace: 'apps' };
  const serving = (resources: string[], items: object[]) => {
    const paths: string[] = [];
    const transport: Transport = {
      send: async ({ path }) => {
        paths.push(path);
        const named = resources.map((name) => ({ name, kind: name, namespaced: true }));
        return (path === '/apis/kuberik.com/v1alpha1' ? { resources: named } : { items }) as never;
      },
      close: () => undefined,
    };
    return { reader: createReader(transport), paths };
  };

  it.each([
    ['one', [{ metadata: { name: 'a' } }], true],
    ['none', [], false],
  ])('asks once for all that ask at the same moment, and reads no more than one: %s', async (_, items, any) => {
    const { reader, paths } = serving(['rolloutbudgets'], items);
    const ask = () => reader.hasAny({ ...budgets, labelSelector: 'a=b' });
    expect(await Promise.all([ask(), ask(), ask()])).toEqual([any, any, any]);
    expect(paths.slice(1)).toEqual([
      '/apis/kuberik.com/v1alpha1/namespaces/apps/rolloutbudgets?labelSelector=a%3Db&limit=1',
    ]);
  });

  it('is false for a kind that is not served, without a request', async () => {
    const { reader, paths } = serving([], [{}]);
    expect(await reader.hasAny(budgets)).toBe(false);
    expect(paths).toEqual(['/apis/kuberik.com/v1alpha1']);
  });

  it.each([
    ['one', [{ metadata: { name: 'a' } }], true],
    ['none', [], false],
  ])('is known from a list of the same objects: %s', async (_, items, any) => {
    const { reader, paths } = serving(['rolloutbudgets'], items);
    const selected = { ...budgets, labelSelector: 'a=b' };
    await reader.listAtMost({ ...selected, atMost: 9, maxBytes: 1000 });
    expect(await reader.hasAny(selected)).toBe(any);
    expect(await reader.hasAny(budgets)).toBe(any);
    expect(paths.filter((path) => path.includes('?'))).toEqual([
      '/apis/kuberik.com/v1alpha1/namespaces/apps/rolloutbudgets?labelSelector=a%3Db&limit=10',
      '/apis/kuberik.com/v1alpha1/namespaces/apps/rolloutbudgets?limit=1',
    ]);
  });

  it('is requested again after an error', async () => {
    const failing = createReader(elsewhere);
    await expect(failing.hasAny(budgets)).rejects.toThrow('Name parameter invalid');
    await expect(failing.hasAny(budgets)).rejects.toThrow('Name parameter invalid');
  });
});

describe('pages of a list', () => {
  const rollouts = { apiVersion: 'kuberik.com/v1alpha1', resource: 'rollouts' };
  const paged = (pages: object[]) => {
    const asked: string[] = [];
    const send = async ({ path, accept = '' }: { path: string; accept?: string }) => {
      asked.push(`${path} ${accept}`.trim());
      return pages[asked.length - 1] as never;
    };
    return { reader: createReader({ send, close: () => undefined }), asked };
  };
  const first = { metadata: { continue: 'next' }, items: [{ metadata: { name: 'a' } }] };

  it('are read one by one, small enough for large objects', async () => {
    const { reader, asked } = paged([first, { metadata: {}, items: null }]);
    const sizes = [];
    for await (const page of reader.pages({ ...rollouts, labelSelector: 'a=b', metadataOnly: true }))
      sizes.push(page.length);
    expect(sizes).toEqual([1, 0]);
    const path = '/apis/kuberik.com/v1alpha1/rollouts?labelSelector=a%3Db&limit=100';
    const metadata = 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1';
    expect(asked).toEqual([`${path} ${metadata}`, `${path}&continue=next ${metadata}`]);
  });

  it('are read no further than needed', async () => {
    const { reader, asked } = paged([first]);
    for await (const _ of reader.pages(rollouts)) break;
    expect(asked).toEqual(['/apis/kuberik.com/v1alpha1/rollouts?limit=50']);
  });
});

describe('what a list keeps', () => {
  const ROLLOUT_GATES = { apiVersion: 'kuberik.com/v1alpha1', resource: 'rolloutgates', namespace: 'apps' };
  const owned = [{ manager: 'm', time: 't', fieldsV1: {} }];
  const item = (i: number, annotations: Record<string, string> = {}) => ({
    metadata: { name: `o-${i}`, annotations, managedFields: owned },
  });
  const listing = (items: object[]) => {
    const requests: Request[] = [];
    const send = async (request: Request) => {
      requests.push(request);
      return { items: structuredClone(items) } as never;
    };
    return { reader: createReader({ send, close: () => undefined }), requests };
  };
  const texts = { 'x/a': 'x'.repeat(60_000) };
  const keys = Object.fromEntries(Array.from({ length: 8000 }, (_, i) => [i.toString(36), '']));

  it.each([
    ['500 objects with a usual annotation', 500, { 'x/a': 'b' }, true],
    ['500 objects with a long one', 500, texts, true],
    ['700 objects with a long one', 700, texts, false],
    ['150 objects with thousands of short ones, which take much more memory', 150, keys, false],
  ])('%s', async (_, count, annotations, fits) => {
    const { reader } = listing(Array.from({ length: count }, (_, i) => item(i, annotations)));
    const read = reader.list(ROLLOUT_GATES).then(({ length }) => length);
    if (fits) expect(await read).toBe(count);
    else
      await expect(read).rejects.toThrow(/the rolloutgates in a list take more memory than \d+ bytes .limit listBytes/);
  });

  it('of managedFields the managers and times, and none of metadata alone', async () => {
    const { reader, requests } = listing([item(0)]);
    expect((await reader.list(ROLLOUT_GATES))[0]?.metadata.managedFields).toEqual(owned);
    expect((await reader.listMetadata(ROLLOUT_GATES))[0]?.metadata.managedFields).toBeUndefined();
    await reader.get({ ...ROLLOUT_GATES, name: 'a' });
    expect(requests.map(({ withoutFieldOwners }) => withoutFieldOwners)).toEqual([true, true, true]);
  });
});

it.each<[string, (reader: ClusterReader) => Promise<unknown>]>([
  ['an object', (reader) => reader.get({ ...GATES, name: 'freeze' })],
  ['a list', (reader) => reader.list(GATES)],
  ['a list of limited size', (reader) => reader.listAtMost({ ...GATES, atMost: 1, maxBytes: 1000 })],
  ['a list of metadata', (reader) => reader.listMetadata(GATES)],
])('callers that ask for %s during a read share the next one', async (_, read) => {
  let sent = 0;
  const send = async () => {
    sent += 1;
    return { metadata: {}, items: [] } as never;
  };
  const reader = createReader({ send, close: () => undefined });
  await Promise.all([read(reader), read(reader), read(reader)]);
  expect(sent).toBe(2);
});
