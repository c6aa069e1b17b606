/** What people read of a hold: the conditions of the object and of its FluxBinding. */
import { describe, expect, it } from 'vitest';
import { type AnyObject, gate, sharedCluster, waitFor } from './support/cluster.ts';
import { ask, conditionText, GATES, gated, saysSoon } from './support/gates.ts';

const { admin, developer, sre, newNamespace } = sharedCluster();
const APPROVED = 'True GatesOpen: All gates are open.';
const opened = { spec: { default: 'opened' } };
const read = (object: AnyObject) => admin.get(object as never);

describe('where people look', () => {
  it('the FluxBinding says since when the object is held, by which gate, and until when', async () => {
    const ns = await newNamespace();
    await sre.create(gate(ns, 'freeze', { spec: { default: 'opened', window: '1h' } }));
    const object = gated('Kustomization', ns, 'app', 'freeze');
    await developer.create(object);
    const binding = async () => (await admin.list('kuberik.com/v1alpha1', 'FluxBinding', ns))[0];
    await waitFor(async () => conditionText(await binding(), 'Ready')?.startsWith('True'), 'the binding to be ready');
    await ask(sre, ns, 'freeze', 'close');
    const held = await waitFor(async () => {
      const found = await binding();
      return found?.status?.heldSince && found;
    }, 'the binding to say since when');
    expect(Math.abs(Date.now() - Date.parse(held.status.heldSince))).toBeLessThan(10_000);
    const [state] = held.status.gates;
    expect(state).toMatchObject({ namespace: ns, name: 'freeze', opened: false });
    expect(state.message).toBe(`Gate scheduled for opening at ${state.until}, closed by sre`);
    expect(conditionText(held, 'Approved')).toBe(
      `False GateClosed: Reconciliation is waiting approval, gate '${ns}/freeze' is closed.`,
    );
    expect(conditionText(held, 'Ready')).toContain(`waiting for gate ${ns}/freeze: ${state.message}`);
    await ask(sre, ns, 'freeze', 'open');
    await waitFor(async () => {
      const found = await binding();
      expect(conditionText(found, 'Approved')).toBe('True GatesOpen: All gates are open');
      expect(found?.status).not.toHaveProperty('heldSince');
      return true;
    }, 'the binding to say that it is approved');
  });

  it('what people read goes away with the annotation, and the suspension with it', async () => {
    const ns = await newNamespace();
    await sre.create(gate(ns, 'freeze', opened));
    const object = gated('HelmRelease', ns, 'app', 'freeze');
    await developer.create(object);
    await saysSoon(admin, object, 'Approved', APPROVED);
    await developer.mergePatch(object as never, { metadata: { annotations: { [GATES]: null } } });
    await waitFor(async () => {
      const live = await read(object);
      expect(conditionText(live, 'Approved')).toBeUndefined();
      expect(Object.keys(live.metadata.annotations ?? {}).filter((key) => key.startsWith('gate.fluxcd.io/'))).toEqual(
        [],
      );
      expect(await admin.list('kuberik.com/v1alpha1', 'FluxBinding', ns)).toEqual([]);
      return true;
    }, 'condition, annotations and binding to go');
  });
});
