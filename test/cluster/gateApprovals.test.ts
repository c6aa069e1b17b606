import { expect, it } from 'vitest';
import { gate, ref, rollout, sharedCluster, waitFor } from './support/cluster.ts';
import { grant } from './support/grant.ts';

const { admin, developer, sre, newNamespace, publish } = sharedCluster();

it('the role of an approver of Gates may approve and change nothing else', async () => {
  const ns = await newNamespace();
  const prod = ref('gate', ns, 'prod');
  await grant(admin, ns, 'gate-approver', ['alice']);
  await sre.create(gate(ns, 'prod', { spec: { default: 'closed', approvals: { required: 2 } } }));
  await publish(ns, 'app', '1.0.0');
  await developer.create(rollout(ns, 'app', { spec: { gates: [{ name: 'prod' }] } }));
  await waitFor(async () => {
    const { status } = await admin.get(ref('rollout', ns, 'app'));
    return status?.availableReleases?.length === 1;
  }, '1.0.0 to be known');
  const patch = (body: object) => admin.mergePatch(prod, body, { headers: { 'Impersonate-User': 'alice' } });
  // The API server's authorizer may not have the binding yet.
  await waitFor(async () => (await patch({ metadata: {} })).object, 'the right to patch');
  for (const attempt of [
    { spec: { default: 'opened' } },
    { metadata: { annotations: { 'close.gate.fluxcd.io/requestedAt': new Date().toISOString() } } },
  ]) {
    await expect(patch(attempt)).rejects.toThrow('may approve here and change nothing else');
  }
  await patch({ metadata: { annotations: { 'approve.gate.fluxcd.io/for': '1.0.0' } } });
});
