/** Decorator, binding and webhook together, for one object whose Gates open and close. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KUSTOMIZATION_NAME_LABEL, RECONCILE_REQUESTED_AT, RESUME_LABEL } from '../../../api/annotations.ts';
import type { FluxObject } from '../../../api/flux.ts';
import type { KubeObject } from '../../../api/kubernetes.ts';
import { fakeHookCall } from '../../../dev/fakes/ports.ts';
import { controller } from '../../../dev/fakes/requests.ts';
import { fluxBindingHook } from '../../../hooks/flux/fluxBindingHook.ts';
import { fluxHook } from '../../../hooks/flux/fluxHook.ts';
import { gate, kustomization, owner, rollout } from '../../core/admission/objects.ts';
import { Cluster } from './cluster.ts';

const condition = (object: FluxObject, type: string) => object.status?.conditions?.find((c) => c.type === type);
const named = { 'gate.fluxcd.io/gates': 'freeze' };
const closed = gate('shop/freeze');
const opened = gate('shop/freeze', { default: 'opened' });

describe('a named Gate', () => {
  it('of the same namespace: the binding names user and reason; of another namespace it doesn’t', async () => {
    const current = { action: 'close', at: '2026-03-04T09:30:00Z', by: 'alice', reason: 'INC-42' };
    const byAlice = { 'gate.fluxcd.io/accepted-request': JSON.stringify({ current, handled: {} }) };
    const cluster = await Cluster.settled(
      kustomization({ annotations: { 'gate.fluxcd.io/gates': 'freeze,platform/freeze' } }),
      { gates: ['shop/freeze', 'platform/freeze'].map((name) => gate(name, { default: 'opened' }, byAlice)) },
    );
    expect(cluster.binding?.status?.gates).toMatchObject([
      { namespace: 'shop', message: 'Gate close requested, closed by alice: INC-42' },
      { namespace: 'platform', message: 'Gate close requested' },
    ]);
  });

  it('suspends and restores before it reports: in a freeze of many, a report doesn’t delay the next hold', async () => {
    const cluster = await Cluster.settled(kustomization({ annotations: named }), { gates: [closed] });
    for (const [gate, approved] of [
      [opened, 'False'],
      [closed, 'True'],
    ] as const) {
      cluster.gates = [gate];
      await cluster.bind();
      const first = await cluster.decorate();
      expect(first.annotations).toHaveProperty(['gate.fluxcd.io/state']);
      expect(first.status).toBeUndefined();
      expect(condition(cluster.object, 'Approved')?.status).toBe(approved);
      await cluster.settle();
      expect(condition(cluster.object, 'Approved')?.status).not.toBe(approved);
    }
  });

  it('suspends the object, reports it, and restores it', async () => {
    const cluster = new Cluster(kustomization({ annotations: named, status: { observedGeneration: 3 } }));
    const before = cluster.object.spec;
    cluster.gates = [closed];
    await cluster.settle();
    expect(cluster.object.spec?.suspend).toBe(true);
    expect(condition(cluster.object, 'Approved')).toMatchObject({
      status: 'False',
      reason: 'GateClosed',
      message: "Reconciliation is waiting approval, gate 'shop/freeze' is closed.",
    });
    expect(cluster.binding?.status).toMatchObject({
      heldSince: '2026-03-04T10:00:00Z',
      gates: [{ namespace: 'shop', name: 'freeze', opened: false, message: 'Gate closed by default' }],
    });
    cluster.gates = [opened];
    await cluster.bind();
    await cluster.settle();
    expect(cluster.object.spec).toEqual(before);
    expect(condition(cluster.object, 'Approved')).toMatchObject({ status: 'True', reason: 'GatesOpen' });
  });

  it('holds the managed field while closed, and releases it in the write that resumes', async () => {
    const annotations = { ...named, 'rollout.kuberik.com/substitute.APP.from': 'my-app' };
    const cluster = await Cluster.settled(kustomization({ annotations, substitute: { APP: '1.0.0' } }), {
      gates: [opened],
      rollouts: [rollout('my-app', '1.0.0')],
    });
    cluster.gates = [closed];
    await cluster.settle();
    cluster.rollouts = [rollout('my-app', '1.1.0', '1.0.0')];
    await cluster.settle();
    expect(cluster.object.spec?.postBuild).toEqual({ substitute: { APP: '1.0.0' } });
    cluster.gates = [opened];
    await cluster.settle();
    expect(cluster.object.spec).toMatchObject({ postBuild: { substitute: { APP: '1.1.0' } } });
    expect(cluster.object.spec).not.toHaveProperty('suspend');
  });

  it('lets a parent with wait: true succeed with a child that was created suspended', async () => {
    const cluster = await Cluster.settled(kustomization({ annotations: named, status: { observedGeneration: -1 } }), {
      gates: [closed],
    });
    expect(cluster.object.status?.observedGeneration).toBe(cluster.object.metadata.generation);
  });

  // The fixture's generation is 3; the suspension makes it 4.
  it.each([
    { what: 'was ready: parents go on', ready: 'True', readyAt: 3, observed: 3, after: 4 },
    { what: 'was not ready: its own trouble is not ours to hide', ready: 'False', readyAt: 3, observed: 3, after: 3 },
    { what: 'had not been reconciled since its last change', ready: 'True', readyAt: 2, observed: 2, after: 2 },
    { what: 'was ready for an older spec only', ready: 'True', readyAt: 2, observed: 3, after: 3 },
  ] as const)('a running object that $what', async ({ ready, readyAt, observed, after }) => {
    const condition = { type: 'Ready', status: ready, reason: 'x', message: '', lastTransitionTime: '' };
    const cluster = await Cluster.settled(
      kustomization({
        annotations: named,
        status: { observedGeneration: observed, conditions: [{ ...condition, observedGeneration: readyAt }] },
      }),
      { gates: [closed] },
    );
    expect(cluster.object.metadata.generation).toBe(4);
    expect(cluster.object.status?.observedGeneration).toBe(after);
  });

  it('keeps foreign conditions, and takes its own away when no gate is required', async () => {
    const ready = { type: 'Ready', status: 'True', reason: 'x', message: '', lastTransitionTime: '' };
    const cluster = await Cluster.settled(kustomization({ annotations: named, status: { conditions: [ready] } }), {
      gates: [opened],
    });
    expect(cluster.object.status?.conditions?.map(({ type }) => type)).toEqual(['Ready', 'Approved']);
    const { metadata } = cluster.object;
    expect(await cluster.write({ ...cluster.object, metadata: { ...metadata, annotations: {} } })).toBe(true);
    await cluster.settle();
    expect(cluster.object.status?.conditions).toEqual([ready]);
    expect(cluster.object.metadata.annotations ?? {}).toEqual({});
    expect(cluster.binding).toBeUndefined();
  });
});

describe('a Gate that selects', () => {
  const all = (spec = {}) => gate('ops/all', { selects: { namespaceSelector: {} }, ...spec });

  it('holds an object without gate annotations, and leaves no trace when it is gone', async () => {
    const cluster = new Cluster(kustomization({ annotations: { note: '' } }));
    const before = structuredClone(cluster.object);
    cluster.gates = [all()];
    await cluster.settle();
    expect(cluster.object.spec?.suspend).toBe(true);
    expect(cluster.object.metadata.annotations).toMatchObject({ 'gate.fluxcd.io/selected-by': 'ops/all' });
    expect(cluster.binding?.spec?.gates).toEqual([{ namespace: 'ops', gate: 'all', selected: true }]);
    // The API server drops fields that the CRD lacks, and Metacontroller would write them again at every sync.
    expect(cluster.binding?.spec?.report?.gates?.[0]).not.toHaveProperty('selected');
    expect(cluster.binding?.status?.gates?.[0]).not.toHaveProperty('selected');
    expect(await cluster.write({ ...cluster.object, spec: { ...cluster.object.spec, path: 'x' } })).toBe(false);
    cluster.gates = [];
    await cluster.settle();
    expect(cluster.object.spec).toEqual(before.spec);
    expect(cluster.object.metadata.annotations).toEqual({ note: '' });
    expect(cluster.binding).toBeUndefined();
  });
});

describe('an object that a Kustomization applies', () => {
  const labels = { [KUSTOMIZATION_NAME_LABEL]: 'apps', 'kustomize.toolkit.fluxcd.io/namespace': 'flux-system' };

  const inventory = { entries: [{ id: 'shop_web_kustomize.toolkit.fluxcd.io_Kustomization', v: 'v1' }] };
  const apps: FluxObject = {
    ...kustomization({ annotations: { note: '' }, status: { inventory } }),
    metadata: { name: 'apps', namespace: 'flux-system', annotations: { note: '' } },
  };

  async function opening(applier: FluxObject | null = apps) {
    const cluster = await Cluster.settled(
      kustomization({ annotations: named, labels, managedFields: [{ ...owner('Apply', 'spec.path'), manager: 'kc' }] }),
      { applier: applier ?? undefined, gates: [closed] },
    );
    cluster.gates = [opened];
    cluster.now += 60_000;
    await cluster.bind();
    await cluster.settle();
    return cluster;
  }

  it.each([
    ['none yet', [], true],
    ['one of Flux objects', ['shop_web_kustomize.toolkit.fluxcd.io_Kustomization'], true],
    ['one of others alone', ['shop_web_apps_Deployment'], false],
  ])('is looked for by a Kustomization with an inventory: %s', async (_, ids, looks) => {
    const inventory = { entries: ids.map((id) => ({ id, v: 'v1' })) };
    const parent = kustomization({ annotations: {}, status: { inventory } }) as KubeObject;
    const rules = await fluxHook.customize!({ controller, parent }, fakeHookCall({ now: 0 }).call);
    expect(rules.relatedResources.some(({ resource }) => resource === 'fluxbindings')).toBe(looks);
  });

  it('requests one apply from its owner, with the instant of the opening', async () => {
    const cluster = await opening();
    expect(cluster.object.spec?.suspend).toBe(true);
    expect(cluster.binding?.metadata.labels).toEqual({ [RESUME_LABEL]: 'flux-system.apps' });
    const rules = await fluxHook.customize!({ controller, parent: apps as KubeObject }, fakeHookCall({ now: 0 }).call);
    expect(rules.relatedResources).toContainEqual({
      apiVersion: 'kuberik.com/v1alpha1',
      resource: 'fluxbindings',
      labelSelector: { matchLabels: { [RESUME_LABEL]: 'flux-system.apps' } },
    });
    const parent = new Cluster(apps);
    parent.others = [cluster.binding!];
    expect((await parent.decorate()).annotations).toEqual({ [RECONCILE_REQUESTED_AT]: '2026-03-04T10:01:00Z' });
    await parent.settle();
    expect((await parent.decorate()).annotations).toBeUndefined();
    expect(parent.writes).toBe(1);
  });

  /** The owner after an attempt. */
  const tried = (status: string, reason: string): FluxObject => ({
    ...kustomization({
      annotations: { [RECONCILE_REQUESTED_AT]: '2026-03-04T10:01:00Z' },
      status: {
        lastHandledReconcileAt: '2026-03-04T10:01:00Z',
        conditions: [{ type: 'Ready', status, reason, message: '', lastTransitionTime: '', observedGeneration: 3 }],
        inventory,
      },
    }),
    metadata: { name: 'apps', namespace: 'flux-system', generation: 3 },
  });

  it('relates its owner while it waits for it, and at no other time', async () => {
    const cluster = await opening();
    const rules = async () => {
      const parent = cluster.binding!;
      const { call } = fakeHookCall({ now: cluster.now });
      const { relatedResources } = await fluxBindingHook.customize!({ controller, parent }, call);
      return relatedResources.filter(({ resource }) => resource === 'kustomizations');
    };
    expect(await rules()).toEqual([
      {
        apiVersion: 'kustomize.toolkit.fluxcd.io/v1',
        resource: 'kustomizations',
        namespace: 'flux-system',
        names: ['apps'],
      },
    ]);
    cluster.applier = tried('True', 'ReconciliationSucceeded');
    await cluster.bind();
    await cluster.settle();
    expect(await rules()).toEqual([]);
  });

  it('waits while the owner fails, reports it, and writes nothing at each retry', async () => {
    const cluster = await opening();
    cluster.applier = tried('False', 'BuildFailed');
    await cluster.bind();
    await cluster.settle();
    const why =
      "ntil Kustomization 'flux-system/apps' applies it again. That Kustomization's last attempt failed: BuildFailed";
    expect(condition(cluster.object, 'Approved')).toMatchObject({
      status: 'True',
      reason: 'GatesOpen',
      message: `All gates are open. Suspended u${why}.`,
    });
    expect(cluster.binding?.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Ready', status: 'False', reason: 'Resuming', message: `suspended u${why}` }),
    );
    const before = structuredClone([cluster.object, cluster.binding]);
    for (const retry of [tried('Unknown', 'Progressing'), tried('False', 'BuildFailed')]) {
      cluster.applier = retry;
      cluster.now += 3_600_000;
      await cluster.bind();
      expect((await cluster.decorate()).resyncAfterSeconds).toBe(60.5);
      await cluster.settle();
      expect([cluster.object, cluster.binding]).toEqual(before);
    }
  });

  it('waits for its owner also where the Gate itself is gone', async () => {
    const applier = tried('False', 'BuildFailed');
    const cluster = await Cluster.settled(kustomization({ annotations: { note: '' }, labels }), {
      applier,
      gates: [gate('ops/all', { selects: { namespaceSelector: {} } })],
    });
    cluster.gates = [];
    await cluster.settle();
    expect(cluster.object.spec?.suspend).toBe(true);
    expect(cluster.binding?.metadata.labels).toEqual({ [RESUME_LABEL]: 'flux-system.apps' });
    cluster.applier = {
      ...applier,
      metadata: { ...applier.metadata, deletionTimestamp: '2026-03-04T10:02:00Z' },
    };
    await cluster.bind();
    await cluster.settle();
    expect(cluster.object.spec).not.toHaveProperty('suspend');
    expect(cluster.object.metadata.annotations).toEqual({ note: '' });
    expect(cluster.binding).toBeUndefined();
  });
});

it('ten flips, in any order, restore exactly the state before', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ open: fc.boolean(), settle: fc.boolean() }), { maxLength: 10 }),
      fc.constantFrom(undefined, true, false),
      async (flips, suspend) => {
        const annotations = { ...named, 'rollout.kuberik.com/substitute.APP.from': 'my-app' };
        const cluster = new Cluster(kustomization({ annotations, spec: suspend === undefined ? {} : { suspend } }));
        const before = cluster.object.spec;
        cluster.rollouts = [rollout('my-app', '1.1.0')];
        for (const { open, settle } of flips) {
          cluster.gates = [open ? opened : closed];
          cluster.now += 1000;
          if (settle) await cluster.settle();
          else await cluster.decorate();
        }
        cluster.gates = [opened];
        await cluster.bind();
        await cluster.settle();
        expect(cluster.object.spec).toEqual(before);
        const { writes } = cluster;
        await cluster.settle();
        expect(cluster.writes, 'an idle cluster is idle').toBe(writes);
      },
    ),
    { numRuns: 60 },
  );
});
