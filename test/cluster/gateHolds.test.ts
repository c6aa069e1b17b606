/** What a closed gate does to the objects that require it, and what the opening gives back. */
import { describe, expect, it } from 'vitest';
import { KINDS } from '../../api/kinds.ts';
import { kstatusOf } from '../../core/kstatus/kstatus.ts';
import {
  type AnyObject,
  gate,
  kustomization,
  ref,
  rollout,
  sharedCluster,
  staysTrue,
  waitFor,
} from './support/cluster.ts';
import {
  ask,
  conditionText,
  GATES,
  GOVERNED,
  type Governed,
  gated,
  isFree,
  isHeld,
  SELECTED_BY,
  saysSoon,
  suspension,
} from './support/gates.ts';
import { conditionOf, history, substitutes, variablesArrive } from './support/versions.ts';

const { admin, developer, sre, newNamespace, publish } = sharedCluster();
const APPROVED = 'True GatesOpen: All gates are open.';
const opened = { spec: { default: 'opened' } };
const read = (object: AnyObject) => admin.get(object as never);

describe('suspension and its undoing', () => {
  const before = [undefined, true, false];
  const name = (suspend: boolean | undefined) => `was-${suspend ?? 'unset'}`;

  it('each kind, with suspend unset, true and false before, gets back exactly what it was', async () => {
    const ns = await newNamespace();
    await sre.create(gate(ns, 'freeze', opened));
    const objects = GOVERNED.flatMap(({ kind }) =>
      before.map((suspend) => gated(kind, ns, name(suspend), 'freeze', suspend === undefined ? {} : { suspend })),
    );
    for (const object of objects) await developer.create(object);
    const specs = await Promise.all(objects.map(async (object) => (await read(object)).spec));
    const role = (kind: Governed) => (KINDS[kind].governed === 'source' ? 'Blocked' : 'Approved');
    for (let round = 0; round < 2; round++) {
      await ask(sre, ns, 'freeze', 'close');
      for (const object of objects) {
        await isHeld(admin, object, object.spec.suspend === undefined ? 'unset' : String(object.spec.suspend));
        await waitFor(
          async () =>
            conditionText(await read(object), role(object.kind as Governed))?.includes(`'${ns}/freeze' is closed.`),
          `${object.kind} to say why it waits`,
        );
      }
      await ask(sre, ns, 'freeze', 'open');
      for (const [i, object] of objects.entries()) {
        expect((await isFree(admin, object, object.spec.suspend)).spec).toEqual(specs[i]);
      }
    }
  });

  it("a person's own suspend behind a closed gate is no reason to stay suspended, one before it is", async () => {
    const ns = await newNamespace();
    await sre.create(gate(ns, 'freeze', opened));
    const mine = gated('Kustomization', ns, 'mine', 'freeze');
    await developer.create(mine);
    await developer.mergePatch(mine as never, { spec: { suspend: true } });
    await ask(sre, ns, 'freeze', 'close');
    await isHeld(admin, mine, 'true');
    await ask(sre, ns, 'freeze', 'open');
    await isFree(admin, mine, true);
    await developer.mergePatch(mine as never, { spec: { suspend: false } });
    expect(suspension(await read(mine))).toEqual([false, undefined]);
  });

  it('an object that comes to require a closed gate is suspended in the same write', async () => {
    const ns = await newNamespace();
    await sre.create(gate(ns, 'freeze'));
    const object = gated('HelmRelease', ns, 'app', undefined, { suspend: false });
    await developer.create(object);
    const { object: after } = await developer.mergePatch(object as never, {
      metadata: { annotations: { [GATES]: 'freeze' } },
    });
    expect(suspension(after)).toEqual([true, 'false']);
  });

  it('a gate in another namespace holds as well; a gate that does not exist counts as closed and says so', async () => {
    const [ns, platform] = [await newNamespace(), await newNamespace()];
    await sre.create(gate(platform, 'freeze', opened));
    const object = gated('Kustomization', ns, 'app', `${platform}/freeze`);
    await developer.create(object);
    await saysSoon(admin, object, 'Approved', APPROVED);
    await ask(sre, platform, 'freeze', 'close');
    await isHeld(admin, object);
    const orphan = gated('Kustomization', ns, 'orphan', 'nowhere');
    await developer.create(orphan);
    await isHeld(admin, orphan);
    await expect(developer.mergePatch(orphan as never, { spec: { suspend: false } })).rejects.toThrow(
      /gate '.*\/nowhere' is closed \(Gate '.*\/nowhere' does not exist, and a missing gate counts as closed/,
    );
    await sre.create(gate(ns, 'nowhere', opened));
    await isFree(admin, orphan);
  });

  it('gates of one name in two namespaces hold each for itself, as the FluxBinding says', async () => {
    const [ns, platform] = [await newNamespace(), await newNamespace()];
    for (const namespace of [ns, platform]) await sre.create(gate(namespace, 'freeze', opened));
    const object = gated('Kustomization', ns, 'app', `freeze,${platform}/freeze`);
    await developer.create(object);
    for (const namespace of [ns, platform, ns]) {
      await ask(sre, namespace, 'freeze', 'close');
      await isHeld(admin, object);
      await waitFor(async () => {
        const { status } = await admin.get(ref('fluxBinding', ns, 'kustomization-app'));
        const says = status.gates.map((each: { namespace: string; opened: boolean }) => !each.opened && each.namespace);
        expect(says.sort()).toEqual([false, namespace]);
        return true;
      }, 'the binding to be told');
      await ask(sre, namespace, 'freeze', 'open');
      await isFree(admin, object);
    }
  });
});

describe('created behind a closed gate', () => {
  it.each(['Kustomization', 'GitRepository'] as const)('a %s is admitted, suspended', async (kind) => {
    const ns = await newNamespace();
    await sre.create(gate(ns, 'freeze'));
    const object = gated(kind, ns, 'app', 'freeze', { suspend: false });
    const created = await developer.create(object);
    expect(suspension(created.object)).toEqual([true, 'false']);
    expect(created.warnings.join(' ')).toContain(`${ns}/freeze is closed`);
    await ask(sre, ns, 'freeze', 'open');
    await isFree(admin, object, false);
  });

  it('under a generated name too, which nobody knows yet', async () => {
    const ns = await newNamespace();
    await sre.create(gate(ns, 'freeze'));
    const { metadata, ...object } = gated('Kustomization', ns, 'app', 'freeze');
    const { name: _, ...unnamed } = metadata;
    const { object: after, warnings } = await developer.create({
      ...object,
      metadata: { ...unnamed, generateName: 'app-' },
    });
    expect(suspension(after)).toEqual([true, 'unset']);
    expect(warnings).toEqual([`Kustomization (new) is suspended: gate ${ns}/freeze is closed`]);
  });

  it('it does not stop a parent that waits for it: it counts as observed and as current', async () => {
    const ns = await newNamespace();
    await sre.create(gate(ns, 'freeze'));
    const object = gated('Kustomization', ns, 'app', 'freeze');
    await developer.create(object);
    const live = await waitFor(async () => {
      const found = await read(object);
      return found.status?.observedGeneration === found.metadata.generation && found;
    }, 'observedGeneration to be the generation');
    expect(conditionOf(live, 'Approved')?.status).toBe('False');
    expect(kstatusOf(live as never, Date.now()).status).toBe('Current');
  });
});

describe('DELETE', () => {
  it('is refused while a gate is closed and while our suspension is still on the object, and then goes through', async () => {
    const ns = await newNamespace();
    await sre.create(gate(ns, 'freeze'));
    // Applied by a Kustomization that does not exist: it will not resume it, so the suspension stays for a while.
    const labels = { 'kustomize.toolkit.fluxcd.io/name': 'parent', 'kustomize.toolkit.fluxcd.io/namespace': ns };
    const object = gated('Kustomization', ns, 'app', 'freeze', {}, labels);
    await developer.create(object);
    await expect(developer.remove(object as never)).rejects.toThrow(/cannot be deleted: gate '.*\/freeze' is closed/);
    await ask(sre, ns, 'freeze', 'open');
    await waitFor(
      async () => (await read(object)).metadata.annotations?.['gate.fluxcd.io/state']?.startsWith('opening'),
      'it to wait for its owner',
    );
    await expect(developer.remove(object as never)).rejects.toThrow(/its suspension is still on the object/);
    await developer.mergePatch(object as never, { spec: { suspend: false } });
    await developer.remove(object as never);
    expect(await admin.find(object as never)).toBeUndefined();
  });

  it('of a closed Gate that holds something is refused, of one that holds nothing is not', async () => {
    const ns = await newNamespace();
    await sre.create(gate(ns, 'freeze'));
    await sre.create(gate(ns, 'unused'));
    await developer.create(gated('Kustomization', ns, 'app', 'freeze'));
    await waitFor(
      () => admin.list('kuberik.com/v1alpha1', 'FluxBinding', ns).then((all) => all.length > 0),
      'the binding',
    );
    await expect(sre.remove(ref('gate', ns, 'freeze'))).rejects.toMatchObject({
      code: 403,
      message: expect.stringContaining(`holds Kustomization ${ns}/app`),
    });
    await sre.remove(ref('gate', ns, 'unused'));
    await ask(sre, ns, 'freeze', 'open');
    await sre.remove(ref('gate', ns, 'freeze'));
  });

  it('of the whole Namespace is not held up by any gate', async () => {
    const ns = await newNamespace();
    await sre.create(gate(ns, 'freeze'));
    for (const kind of ['Kustomization', 'HelmRelease'] as const)
      await developer.create(gated(kind, ns, 'app', 'freeze'));
    await developer.create(rollout(ns, 'app', { spec: { gates: [{ name: 'freeze' }] } }));
    await admin.remove({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: ns } });
    await waitFor(
      async () => !(await admin.find({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: ns } })),
      'the Namespace to be gone',
      60_000,
    );
  });
});

describe('spec.selects', () => {
  it('one gate freezes a namespace with nothing added to the objects, and what is created in it meanwhile', async () => {
    const ns = await newNamespace();
    const kinds: Governed[] = ['Kustomization', 'HelmRelease', 'OCIRepository'];
    for (const kind of kinds) await developer.create(gated(kind, ns, 'app'));
    await sre.create(gate(ns, 'freeze', { spec: { selects: {} } }));
    for (const kind of kinds) await isHeld(admin, gated(kind, ns, 'app'));
    const late = gated('Kustomization', ns, 'late');
    await developer.create(late);
    expect((await isHeld(admin, late)).metadata.annotations?.[SELECTED_BY]).toBe(`${ns}/freeze`);
    await saysSoon(
      admin,
      late,
      'Approved',
      `False GateClosed: Reconciliation is waiting approval, gate '${ns}/freeze' is closed.`,
    );
    await ask(sre, ns, 'freeze', 'open');
    for (const kind of kinds) await isFree(admin, gated(kind, ns, 'app'));
    await isFree(admin, late);
    // Without the gate the marks go as well.
    await sre.remove(ref('gate', ns, 'freeze'));
    await waitFor(async () => (await read(late)).metadata.annotations?.[SELECTED_BY] === undefined, 'the mark to go');
  });

  it('by kind, by label and by namespace: only what matches', async () => {
    const [ns, platform] = [await newNamespace({ team: 'payments' }), await newNamespace()];
    const web = gated('Kustomization', ns, 'web', undefined, {}, { tier: 'web' });
    const others = [
      gated('Kustomization', ns, 'batch', undefined, {}, { tier: 'batch' }),
      gated('HelmRelease', ns, 'web', undefined, {}, { tier: 'web' }),
      gated('Kustomization', platform, 'web', undefined, {}, { tier: 'web' }),
    ];
    for (const object of [web, ...others]) await developer.create(object);
    const selects = {
      kinds: ['Kustomization'],
      labelSelector: { matchLabels: { tier: 'web' } },
      namespaceSelector: { matchLabels: { team: 'payments' } },
    };
    await sre.create(gate(platform, 'freeze', { spec: { selects } }));
    await isHeld(admin, web);
    for (const object of others) expect(suspension(await read(object))).toEqual([undefined, undefined]);
    await admin.mergePatch(ref('gate', platform, 'freeze'), {
      spec: { selects: { ...selects, labelSelector: { matchLabels: { tier: 'batch' } } } },
    });
    await isHeld(admin, others[0]!);
    await isFree(admin, web);
  });
});

describe('a new object that a closed Gate selects', () => {
  const isSuspended = ({ object }: { object: AnyObject }) => {
    expect(object.spec.suspend).toBe(true);
    expect(object.metadata.annotations).toMatchObject({ [SELECTED_BY]: expect.stringMatching(/\/freeze$/) });
  };

  it('is returned suspended by the call that creates it, whatever its kind', async () => {
    const ns = await newNamespace();
    await sre.create(gate(ns, 'freeze', { spec: { default: 'closed', selects: {} } }));
    for (const { kind } of GOVERNED) isSuspended(await developer.create(gated(kind, ns, 'new')));
    const named = gated('Kustomization', ns, 'gets-its-name');
    const { name: _, ...metadata } = named.metadata;
    isSuspended(await developer.create({ ...named, metadata: { ...metadata, generateName: 'new-' } } as AnyObject));
    const marked = gated('Kustomization', ns, 'marked');
    marked.metadata.annotations = { 'gate.fluxcd.io/x': '' };
    isSuspended(await developer.create(marked));
    isSuspended(await developer.apply(gated('Kustomization', ns, 'applied'), { manager: 'kustomize-controller' }));
  });

  it('in a Namespace that was made a moment ago', async () => {
    const platform = await newNamespace();
    const team = `new-${platform}`;
    const selects = { namespaceSelector: { matchLabels: { team } } };
    await sre.create(gate(platform, 'freeze', { spec: { default: 'closed', selects } }));
    const ns = await newNamespace({ team });
    isSuspended(await developer.create(gated('HelmRelease', ns, 'app')));
  });
});

describe('a Rollout waits', () => {
  async function releasing(extras: { spec?: Record<string, unknown>; annotations?: Record<string, string> }) {
    const ns = await newNamespace();
    await sre.create(gate(ns, 'freeze', opened));
    await developer.create(rollout(ns, 'app', { spec: extras.spec ?? {} }));
    await developer.create(
      kustomization(ns, 'app', { variables: { APP_VERSION: 'app' }, annotations: extras.annotations ?? {} }),
    );
    await publish(ns, 'app', '1.0.0');
    await variablesArrive(admin, ns, 'app', { APP_VERSION: '1.0.0' });
    return ns;
  }

  const holds = [
    { by: 'its own spec.gates', extras: { spec: { gates: [{ name: 'freeze' }] } } },
    { by: 'the gates of an object bound to it', extras: { annotations: { [GATES]: 'freeze' } } },
  ];

  it.each(holds)('for $by, whatever asks it to deploy, and goes on at the opening', async ({ extras }) => {
    const ns = await releasing(extras);
    await ask(sre, ns, 'freeze', 'close');
    await publish(ns, 'app', '1.1.0');
    await waitFor(
      async () => (await admin.get(ref('rollout', ns, 'app'))).status.releaseCandidates?.[0]?.tag === '1.1.0',
      'the candidate',
    );
    await developer.mergePatch(ref('rollout', ns, 'app'), {
      metadata: {
        annotations: { 'rollout.kuberik.com/force-deploy': '1.1.0', 'rollout.kuberik.com/bypass-gates': '1.1.0' },
      },
    });
    await developer.mergePatch(ref('rollout', ns, 'app'), { spec: { wantedVersion: '1.1.0' } });
    await staysTrue(async () => (await history(admin, ns, 'app')).length === 1, 'one deployment only', 1500);
    expect(await substitutes(admin, ns, 'app')).toEqual({ APP_VERSION: '1.0.0' });
    const held = await admin.get(ref('rollout', ns, 'app'));
    expect(JSON.stringify(held.status.conditions)).toContain('freeze');
    await ask(sre, ns, 'freeze', 'open');
    await variablesArrive(admin, ns, 'app', { APP_VERSION: '1.1.0' });
  });

  it('a closed Gate holds the first deployment too', async () => {
    const ns = await newNamespace();
    await sre.create(gate(ns, 'freeze'));
    await developer.create(rollout(ns, 'app', { spec: { gates: [{ name: 'freeze' }] } }));
    await publish(ns, 'app', '1.0.0');
    await waitFor(
      async () => (await admin.get(ref('rollout', ns, 'app'))).status?.releaseCandidates?.length > 0,
      'the candidate',
    );
    await staysTrue(async () => (await history(admin, ns, 'app')).length === 0, 'no deployment', 1000);
    await ask(sre, ns, 'freeze', 'open');
    await waitFor(async () => (await history(admin, ns, 'app'))[0]?.[1] === '1.0.0', 'the first deployment');
  });

  it('an approval bound to one version lets that tag through and no other, and nothing but Rollouts', async () => {
    const ns = await releasing({ spec: { gates: [{ name: 'freeze' }] } });
    const other = gated('Kustomization', ns, 'other', 'freeze');
    await developer.create(other);
    await ask(sre, ns, 'freeze', 'close');
    await isHeld(admin, other);
    await ask(sre, ns, 'freeze', 'open', { more: { 'open.gate.fluxcd.io/for': '1.2.0' } });
    const gateSays = async () => conditionText(await admin.get(ref('gate', ns, 'freeze')), 'Opened');
    await waitFor(async () => (await gateSays())?.includes("Gate opened for version '1.2.0' only"), 'the approval');
    await publish(ns, 'app', '1.1.0');
    await developer.mergePatch(ref('rollout', ns, 'app'), { spec: { wantedVersion: '1.1.0' } });
    await staysTrue(async () => (await history(admin, ns, 'app')).length === 1, '1.1.0 is not deployed', 1500);
    await developer.mergePatch(ref('rollout', ns, 'app'), { spec: { wantedVersion: null } });
    await publish(ns, 'app', '1.2.0');
    await variablesArrive(admin, ns, 'app', { APP_VERSION: '1.2.0' });
    expect((await history(admin, ns, 'app')).map(([, tag]) => tag)).toEqual(['1.2.0', '1.0.0']);
    expect(suspension(await read(other))).toEqual([true, 'unset']);
    await publish(ns, 'app', '1.3.0');
    await staysTrue(async () => (await history(admin, ns, 'app')).length === 2, '1.3.0 is not deployed', 1000);
  });
});
