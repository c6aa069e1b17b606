import { describe, expect, it } from 'vitest';
import { kustomization, ref, rollout, sharedCluster } from './support/cluster.ts';
import { substitutes, variablesArrive } from './support/versions.ts';

const { admin, developer, newNamespace, publish } = sharedCluster();

describe('one Kustomization with three variables from three Rollouts', () => {
  it('gets all three; a new version changes its own only; a fourth, unmanaged variable keeps value and owner', async () => {
    const ns = await newNamespace();
    const names = ['frontend', 'backend', 'api'];
    for (const name of names) await developer.create(rollout(ns, name));
    await developer.apply(
      kustomization(ns, 'shop', {
        variables: { FRONTEND: 'frontend', BACKEND: 'backend', API: 'api' },
        spec: { postBuild: { substitute: { REGION: 'eu-1' } } },
      }),
      { manager: 'team' },
    );
    const all = { FRONTEND: '1.0.0', BACKEND: '1.0.0', API: '1.0.0', REGION: 'eu-1' };
    for (const name of names) await publish(ns, name, '1.0.0');
    await variablesArrive(admin, ns, 'shop', all);
    await publish(ns, 'backend', '2.0.0');
    await variablesArrive(admin, ns, 'shop', { BACKEND: '2.0.0' });
    expect(await substitutes(admin, ns, 'shop')).toEqual({ ...all, BACKEND: '2.0.0' });
    const { metadata } = await admin.get(ref('kustomization', ns, 'shop'));
    const owners = (metadata.managedFields ?? [])
      .filter((entry) => JSON.stringify(entry.fieldsV1).includes('"f:REGION"'))
      .map(({ manager, operation }) => `${manager} ${operation}`);
    expect(owners).toEqual(['team Apply']);
  });
});
