/** More Gates than one decision looks at, on the real API server. */
import { describe, expect, it } from 'vitest';
import { gate, sharedCluster, waitFor } from './support/cluster.ts';
import { conditionText, GATES, gated, isFree, isHeld, SELECTED_BY } from './support/gates.ts';

const { admin, developer, sre, newNamespace } = sharedCluster();
const LIMIT = /more than 200 Gates/;

describe('Gates beyond the limit lift no freeze', () => {
  it('200 open Gates beside a closed one hold what it selects, until they are fewer', async () => {
    const ns = await newNamespace();
    const app = gated('Kustomization', ns, 'app');
    await developer.create(app);
    await sre.create(gate(ns, 'freeze', { spec: { default: 'closed', selects: {} } }));
    await isHeld(admin, app);
    const names = Array.from({ length: 200 }, (_, i) => `a-open-${i}`);
    await Promise.all(names.map((name) => sre.create(gate(ns, name, { spec: { default: 'opened', selects: {} } }))));
    await waitFor(async () => {
      const live = await admin.get(app as never);
      expect(live.metadata.annotations?.[SELECTED_BY]).toBe('(too-many)');
      expect(conditionText(live, 'Approved')).toMatch(LIMIT);
      return true;
    }, 'the object to say that there are too many Gates');
    expect((await admin.get(app as never)).spec.suspend).toBe(true);
    await expect(developer.mergePatch(app as never, { spec: { path: './evil' } })).rejects.toThrow(LIMIT);
    await sre.remove(gate(ns, names[0]!) as never);
    await waitFor(async () => {
      const live = await admin.get(app as never);
      expect(live.metadata.annotations?.['gate.fluxcd.io/state']).toBe(`closed: ${ns}/freeze`);
      return true;
    }, 'the closed Gate to be named again');
    await expect(developer.mergePatch(app as never, { spec: { path: './evil' } })).rejects.toThrow(`${ns}/freeze`);
  });

  it('an object that names 300 is held, and free when it names fewer', async () => {
    const ns = await newNamespace();
    await sre.create(gate(ns, 'mine', { spec: { default: 'opened' } }));
    const many = Array.from({ length: 300 }, (_, i) => `gate-${i}`).join();
    const app = gated('Kustomization', ns, 'app', many);
    await developer.create(app);
    await isHeld(admin, app);
    await expect(developer.mergePatch(app as never, { spec: { path: './evil' } })).rejects.toThrow(LIMIT);
    await developer.mergePatch(app as never, { metadata: { annotations: { [GATES]: 'mine' } } });
    await isFree(admin, app);
  });
});
