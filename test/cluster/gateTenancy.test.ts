/** The reach of a tenant's Gates into other namespaces, on the real API server. */
import { describe, expect, it } from 'vitest';
import { type AnyObject, gate, ref, rollout, sharedCluster, staysTrue, waitFor } from './support/cluster.ts';
import { gated, isHeld, suspension } from './support/gates.ts';

const { admin, developer, sre, newNamespace } = sharedCluster();

/** Gives the developer a role of manifests/rbac/user-roles.yaml, in one namespace or everywhere. */
const binding = (role: string, namespace: string): AnyObject => ({
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'RoleBinding',
  metadata: { name: role, namespace },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: role },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'developer' }],
});

describe('a right on Gates in one namespace', () => {
  it('holds nothing in another, whatever else is bound there', async () => {
    const [mine, theirs] = await Promise.all([newNamespace(), newNamespace({ team: 'theirs' })]);
    const app = gated('Kustomization', theirs, 'app');
    await admin.create(app);
    await admin.create(binding('gate-editor', mine));
    await admin.create(binding('gate-selector', mine));
    const selects = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': theirs } } };
    const freeze = (wanted: object) => gate(mine, 'freeze', { spec: { default: 'closed', selects: wanted } });
    await expect(developer.create(freeze(selects))).rejects.toThrow(/select-namespaces/);
    await developer.create(freeze({}));
    await expect(developer.mergePatch(ref('gate', mine, 'freeze'), { spec: { selects } })).rejects.toThrow(
      /developer needs the verb select-namespaces on gates in the whole cluster to hold objects of other namespaces/,
    );
    await sre.create(gate(mine, 'allowed', { spec: { default: 'opened', selects } }));
    await developer.mergePatch(ref('gate', mine, 'allowed'), { spec: { interval: '5m' } });
    expect(suspension(await admin.get(app as never))).toEqual([undefined, undefined]);
    await developer.mergePatch(ref('gate', mine, 'allowed'), { spec: { default: 'closed' } });
    await isHeld(admin, app);
  });

  it('that names a closed Gate of another does not keep its owner from deleting it, and stays held', async () => {
    const [owners, theirs] = await Promise.all([newNamespace(), newNamespace()]);
    const stranger = gated('Kustomization', theirs, 'app', `${owners}/freeze`);
    const freeze = gate(owners, 'freeze', { spec: { default: 'closed', approvals: { required: 2 } } });
    await sre.create(freeze);
    await developer.create(rollout(theirs, 'app', { spec: { gates: [{ name: 'freeze', namespace: owners }] } }));
    await developer.create(stranger);
    await isHeld(admin, stranger);
    await waitFor(async () => {
      const { status } = await admin.get(ref('gate', owners, 'freeze'));
      return status?.heldObjects?.length === 2;
    }, 'the Gate to count what names it');
    const { warnings } = await sre.remove(ref('gate', owners, 'freeze'));
    expect(warnings).toEqual([
      expect.stringMatching(
        /^objects in other namespaces \(\d\) name this Gate: they stay held until it exists again, open/,
      ),
    ]);
    await staysTrue(async () => suspension(await admin.get(stranger as never))[0] === true, 'the suspension', 1500);
    await expect(developer.mergePatch(stranger as never, { spec: { path: './evil' } })).rejects.toThrow(
      /does not exist/,
    );
    await expect(developer.mergePatch(stranger as never, { spec: { suspend: false } })).rejects.toThrow(
      /does not exist/,
    );
  });
});
