/** Approvals on a Gate: what one person may not, and two may. */
import { describe, expect, it } from 'vitest';
import { type AnyObject, gate, ref, rollout, sharedCluster, staysTrue, waitFor } from './support/cluster.ts';
import { ask } from './support/gates.ts';
import { conditionOf, history } from './support/versions.ts';

const { admin, developer, sre, flux, newNamespace, publish } = sharedCluster();

const APPROVE = 'approve.gate.fluxcd.io/for';
const OPEN = 'open.gate.fluxcd.io/requestedAt';

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
  it('two persons let a version through, and nothing else of the Gate opens', async () => {
    const { ns, prod, approve, blockedBy } = await story({ default: 'closed', approvals: { required: 2 } });
    await publish(ns, 'app', '1.0.0');
    await blockedBy('1.0.0 has 0 of 2 approvals');
    await approve('alice', '1.0.0');
    await blockedBy('1.0.0 has 1 of 2 approvals (alice)');
    await approve('bob', '1.0.0');
    const app = ref('rollout', ns, 'app');
    const head = await waitFor(async () => (await admin.get(app)).status?.history?.[0], 'the deployment');
    expect(head.approvals).toMatchObject([
      { gate: `${ns}/prod`, by: 'alice' },
      { gate: `${ns}/prod`, by: 'bob' },
    ]);
    const status = await waitFor(async () => {
      const { status } = await admin.get(prod);
      return status?.approvals?.versions?.[0]?.enough ? status : undefined;
    }, 'the status of the Gate');
    expect(status.approvals).toMatchObject({
      progress: '2/2 for 1.0.0',
      versions: [{ version: '1.0.0', rollout: `${ns}/app`, given: [{ by: 'alice' }, { by: 'bob' }] }],
    });
    expect(conditionOf({ status } as AnyObject, 'Opened')).toMatchObject({ status: 'False' });
    await publish(ns, 'app', '1.1.0');
    await blockedBy('1.1.0 has 0 of 2 approvals');
  });

  it('no request opens it: not a person’s, not a sync’s', async () => {
    const { ns, prod, blockedBy, patch, deployed } = await story({ default: 'closed', approvals: { required: 2 } });
    await publish(ns, 'app', '1.0.0');
    await blockedBy('1.0.0 has 0 of 2 approvals');
    await expect(ask(sre, ns, 'prod', 'open')).rejects.toThrow('no request opens a Gate with spec.approvals');
    const now = new Date().toISOString();
    await expect(patch('alice', { metadata: { annotations: { [OPEN]: now } } })).rejects.toThrow();
    const manifest = gate(ns, 'prod', { spec: { default: 'closed', approvals: { required: 2 } } });
    const asking = { ...manifest, metadata: { ...manifest.metadata, annotations: { [OPEN]: now } } };
    const { warnings } = await flux.apply(asking, { manager: 'kustomize-controller', force: true });
    expect(warnings).toContain('the request has no effect: a Gate with spec.approvals needs approvals');
    expect((await admin.get(prod)).metadata.annotations?.[OPEN]).toBe(now);
    await staysTrue(async () => (await deployed()).length === 0, 'nothing to be deployed', 1000);
  });

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
