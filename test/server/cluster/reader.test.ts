import { expect, it } from 'vitest';
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
