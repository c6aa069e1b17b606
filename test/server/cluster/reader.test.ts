import { describe, expect, it } from 'vitest';
import { createReader } from '../../../server/cluster/reader.ts';
import { ApiError, type Transport } from '../../../server/cluster/transport.ts';

/** Answers as the API server does for a path that leaves the resource. */
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
    const gates = { apiVersion: 'gating.toolkit.fluxcd.io/v1alpha1', resource: 'gates' };
    expect(await reader.get({ ...gates, namespace: 'apps', name })).toBeUndefined();
    if (name !== '') expect(await reader.get({ ...gates, namespace: name, name: 'freeze' })).toBeUndefined();
  },
);

describe('whether there is any', () => {
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

  it('there is none of a kind that is not served, and nobody asks for it', async () => {
    const { reader, paths } = serving([], [{}]);
    expect(await reader.hasAny(budgets)).toBe(false);
    expect(paths).toEqual(['/apis/kuberik.com/v1alpha1']);
  });

  it('asks again after an error', async () => {
    const failing = createReader(elsewhere);
    await expect(failing.hasAny(budgets)).rejects.toThrow('Name parameter invalid');
    await expect(failing.hasAny(budgets)).rejects.toThrow('Name parameter invalid');
  });
});
