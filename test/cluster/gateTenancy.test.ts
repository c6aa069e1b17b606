/** The reach of a tenant's Gates into other namespaces, on the real API server. */
import { describe, expect, it } from 'vitest';
import { gate, ref, sharedCluster } from './support/cluster.ts';
import { gated, isHeld, suspension } from './support/gates.ts';
import { grant } from './support/grant.ts';

const { admin, developer, sre, newNamespace } = sharedCluster();

describe('a right on Gates in one namespace', () => {
  it('holds nothing in another, whatever else is bound there', async () => {
    const [mine, theirs] = await Promise.all([newNamespace(), newNamespace({ team: 'theirs' })]);
    const app = gated('Kustomization', theirs, 'app');
    await admin.create(app);
    for (const role of ['gate-editor', 'gate-selector']) await grant(admin, mine, role, ['developer']);
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
});
