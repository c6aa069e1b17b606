/** An object after the Gate has opened, while the Kustomization that applies it fails. */
import { describe, expect, it } from 'vitest';
import { gitSync } from '../../dev/actors/gitSync.ts';
import { type AnyObject, type ClusterView, gate, ref, sharedCluster, staysTrue, waitFor } from './support/cluster.ts';
import { conditionText, gated, isFree, isHeld, requestGate, STATE, saysSoon } from './support/gates.ts';

const { admin, developer, flux, sre, newNamespace }: ClusterView = sharedCluster();
const read = (object: AnyObject) => admin.get(object as never);

/** An object that requires the closed Gate `freeze`, and is synced by `parent` of another namespace. */
async function frozen() {
  const [ns, platform] = [await newNamespace(), await newNamespace()];
  await sre.create(gate(ns, 'freeze', { spec: { default: 'opened' } }));
  const parent = gated('Kustomization', platform, 'parent');
  await developer.create(parent);
  const sync = gitSync(flux, { namespace: platform, name: 'parent' });
  const app = gated('Kustomization', ns, 'app', 'freeze');
  expect((await sync([app])).failed).toBeUndefined();
  await requestGate(sre, ns, 'freeze', 'close');
  await isHeld(admin, app);
  return { ns, parent, sync, app, owner: `Kustomization ${platform}/parent` };
}

/** Opens the Gate, and waits until the owner has a request to apply. */
async function opens({ ns, parent, app }: { ns: string; parent: AnyObject; app: AnyObject }) {
  await requestGate(sre, ns, 'freeze', 'open');
  await waitFor(async () => {
    const since = (await read(app)).metadata.annotations?.[STATE]?.replace('opening: ', '');
    return (await read(parent)).metadata.annotations?.['reconcile.fluxcd.io/requestedAt'] === since;
  }, 'the owner to be asked');
}

const bindingOf = ({ kind, metadata }: AnyObject) =>
  ref('fluxBinding', metadata.namespace, `${kind.toLowerCase()}-${metadata.name}`);

async function bindingSays(object: AnyObject, why: string) {
  await waitFor(async () => {
    const found = conditionText(await admin.find(bindingOf(object)), 'Ready');
    if (found !== `False Resuming: suspended until ${why}`) throw new Error(found ?? 'no binding');
    return true;
  }, `the binding of ${object.metadata.name} to say why`);
}

async function notResumed(namespace: string, count: number | undefined, objects: object[] | undefined) {
  await waitFor(
    async () => {
      const { status } = await admin.get(ref('gate', namespace, 'freeze'));
      expect(status.notResumed).toBe(count);
      if (objects) expect(status.notResumedObjects).toMatchObject(objects);
      else expect(status).not.toHaveProperty('notResumedObjects');
      return true;
    },
    `the Gate to name ${count ?? 'no'} object that is still suspended`,
  );
}

describe('an owner that fails', () => {
  it('stays suspended with the old spec until its owner applies the new one', async () => {
    const setup = await frozen();
    const { app, owner, sync } = setup;
    const next = { ...app, spec: { ...app.spec, path: './v2' } };
    await sync([next]);
    await opens(setup);
    await sync([next], { fails: 'BuildFailed' });
    const why = `until ${owner} applies it again; its last attempt failed: BuildFailed`;
    await bindingSays(app, why.replace('until ', ''));
    await saysSoon(admin, app, 'Approved', `True GatesOpen: All gates are open. Suspended ${why}.`);
    // Each retry changes only the owner's status, three times.
    const stored = async () => JSON.stringify([await read(app), await admin.get(bindingOf(app))]);
    const before = await waitFor(async () => {
      const now = await stored();
      await staysTrue(async () => (await stored()) === now, 'at rest', 700);
      return now;
    }, 'object and binding to come to rest');
    for (let i = 0; i < 3; i++) await sync([next], { fails: 'BuildFailed' });
    await staysTrue(async () => (await stored()) === before, 'object and binding are left alone', 1500);
    const { namespace, name } = app.metadata;
    await notResumed(setup.ns, 1, [{ kind: 'Kustomization', namespace, name, reason: 'WaitsForApplier' }]);
    expect((await sync([next])).configured).toEqual(['Kustomization app']);
    expect((await isFree(admin, app)).spec.path).toBe('./v2');
    await saysSoon(admin, app, 'Approved', 'True GatesOpen: All gates are open.');
    await notResumed(setup.ns, undefined, undefined);
    await waitFor(async () => !(await admin.get(bindingOf(app))).spec.awaits, 'the binding to wait for nobody');
  });
});
