import { expect } from 'vitest';
import { type ClusterView, kustomization, rollout } from '../../cluster/support/cluster.ts';
import { history, variablesArrive } from '../../cluster/support/versions.ts';

/** Expects that a release is deployed, which needs hooks, admission and the RBAC of both. */
export async function expectToWork({ admin, newNamespace, publish }: ClusterView): Promise<void> {
  const ns = await newNamespace();
  await admin.create(rollout(ns, 'app'));
  await admin.create(kustomization(ns, 'app', { variables: { APP_VERSION: 'app' } }));
  await publish(ns, 'app', '1.0.0');
  await variablesArrive(admin, ns, 'app', { APP_VERSION: '1.0.0' });
  expect(await history(admin, ns, 'app')).toEqual([[1, '1.0.0']]);
}
