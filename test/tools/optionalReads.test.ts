/**
 * Objects that the user may not read are reported once for each kind and namespace; any other error ends the command.
 */
import { expect, it } from 'vitest';
import { ApiError, type KubeClient } from '../../tools/kube/kubeClient.ts';
import { optionalReader } from '../../tools/read/readRelated.ts';

const refusing = (code: number) => {
  const refuse = () => Promise.reject(new ApiError(code, 'Refused', 'refused'));
  return optionalReader({ list: refuse, get: refuse } as unknown as KubeClient);
};

it.each([
  [403, "you aren't allowed to read them"],
  [404, 'the cluster does not have this kind'],
])('%i is noted', async (code, why) => {
  const { unread, list, get } = refusing(code);
  expect(await list('RolloutGate', 'shop')).toEqual([]);
  expect(await get('RolloutGate', { namespace: 'shop', name: 'qa' })).toBeUndefined();
  expect(await list('Gate', undefined)).toEqual([]);
  expect(unread).toEqual([
    { kind: 'RolloutGate', namespace: 'shop', why },
    { kind: 'Gate', why },
  ]);
});

it('500 is thrown', async () => {
  await expect(refusing(500).list('Gate', 'shop')).rejects.toThrow('refused');
});
