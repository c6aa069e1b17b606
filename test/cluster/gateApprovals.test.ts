/** Approvals on a Gate: what one person may not, and two may. */
import { describe, expect, it } from 'vitest';
import { gate, ref, rollout, sharedCluster, waitFor } from './support/cluster.ts';
import { conditionOf, history } from './support/versions.ts';

const { admin, developer, sre, newNamespace, publish } = sharedCluster();

const APPROVE = 'approve.gate.fluxcd.io/for';

async function story(spec: Record<string, unknown>) {
  const ns = await newNamespace();
  const prod = ref('gate', ns, 'prod');
  await admin.create({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'RoleBinding',
    metadata: { namespace: ns, name: 'approvers' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'gate-approver' },
    subjects: ['alice', 'bob'].map((name) => ({ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name })),
  });
  await sre.create(gate(ns, 'prod', { spec }));
  await developer.create(rollout(ns, 'app', { spec: { gates: [{ name: 'prod' }] } }));
  const patch = (user: string, body: object) => admin.mergePatch(prod, body, { headers: { 'Impersonate-User': user } });
  /** The authorizer of the API server may not know the binding yet. */
  await waitFor(async () => (await patch('alice', { metadata: {} })).object, 'the right to patch');
  const blockedBy = (text: string) =>
    waitFor(async () => {
      const object = await admin.get(ref('rollout', ns, 'app'));
      expect(conditionOf(object, 'DeploymentBlocked')?.message).toContain(text);
      return true;
    }, text);
  return {
    ns,
    prod,
    patch,
    blockedBy,
    approve: (user: string, version: string) => patch(user, { metadata: { annotations: { [APPROVE]: version } } }),
    deployed: async () => (await history(admin, ns, 'app')).map(([, tag]) => tag),
  };
}

describe('approvals on a Gate', () => {
  it('its role may approve and change nothing else', async () => {
    const { ns, patch, approve } = await story({ default: 'closed', approvals: { required: 2 } });
    await publish(ns, 'app', '1.0.0');
    await waitFor(async () => {
      const { status } = await admin.get(ref('rollout', ns, 'app'));
      return status?.availableReleases?.length === 1;
    }, '1.0.0 to be known');
    for (const attempt of [
      { spec: { default: 'opened' } },
      { metadata: { annotations: { 'close.gate.fluxcd.io/requestedAt': new Date().toISOString() } } },
    ]) {
      await expect(patch('alice', attempt)).rejects.toThrow('may approve here and change nothing else');
    }
    await approve('alice', '1.0.0');
  });
});
