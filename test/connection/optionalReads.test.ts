/**
 * Objects that the user may not read are reported once for each kind and namespace; any other error ends the command.
 */
import { expect, it } from 'vitest';
import { ApiError, type KubeClient } from '../../connection/kube/kubeClient.ts';
import { optionalReader } from '../../connection/read/optionalReads.ts';

const refusing = (code: number) => {
  const refuse = () => Promise.reject(new ApiError(code, 'Refused', 'refused'));
  return optionalReader({ list: refuse, get: refuse } as unknown as KubeClient);
};

it('what the user has no right to is noted', async () => {
  const { unread, list, get } = refusing(403);
  expect(await list('RolloutGate', 'shop')).toEqual([]);
  expect(await get('RolloutGate', { namespace: 'shop', name: 'qa' })).toBeUndefined();
  expect(await list('Namespace', undefined)).toEqual([]);
  const why = "you aren't allowed to read this kind";
  expect(unread).toEqual([
    { kind: 'RolloutGate', namespace: 'shop', why },
    { kind: 'Namespace', why },
  ]);
});

it('a kind that the cluster lacks is noted, unless it is one of Flux, which then has no objects', async () => {
  const { unread, list } = refusing(404);
  expect(await list('RolloutGate', undefined)).toEqual([]);
  expect(await list('Bucket', undefined)).toEqual([]);
  expect(unread).toEqual([{ kind: 'RolloutGate', why: 'the cluster does not have this kind' }]);
});

it('500 is thrown', async () => {
  await expect(refusing(500).list('Gate', 'shop')).rejects.toThrow('refused');
});
