/**
 * What a tenant could make so large that a freeze doesn't reach an object is refused, and what is allowed is held. On
 * the real API server; test/manifests/sizes.test.ts has the limits.
 */
import { describe, expect, it } from 'vitest';
import { type AnyObject, gate, ref, sharedCluster, waitFor } from './support/cluster.ts';
import { gated, isFree, isHeld } from './support/gates.ts';
import { grant } from './support/grant.ts';

const { admin, developer, sre, flux, newNamespace } = sharedCluster();

const everything = { default: 'closed', selects: {} };
const many = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`x/${i}`, '']));
const bypass = (object: AnyObject, spec: object) =>
  sre.mergePatch(object as never, { metadata: { annotations: { 'gate.fluxcd.io/bypass-reason': 'INC-42' } }, spec });
const withAnnotations = (object: AnyObject, annotations: Record<string, string>): AnyObject => ({
  ...object,
  metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, ...annotations } },
});

it('an object is refused that is created with a status too large for a review', async () => {
  const ns = await newNamespace();
  await sre.create(gate(ns, 'freeze', { spec: everything }));
  const app = { ...gated('Kustomization', ns, 'app'), status: { lastAppliedRevision: '<'.repeat(600_000) } };
  await expect(developer.create(app)).rejects.toThrow(/has not read this write/);
});

describe('an object of a governed kind', () => {
  it('field managers that fill it are refused', async () => {
    const ns = await newNamespace();
    const text = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`VARIABLE_${i}`, '1']));
    const app = gated('Kustomization', ns, 'app', undefined, { postBuild: { substitute: text } });
    await developer.create(app);
    const applies = async () => {
      for (let i = 0; i < 40; i++) await developer.apply(app, { manager: `m-${i}`, force: true });
    };
    await expect(applies()).rejects.toThrow(/metadata.managedFields take about \d+ bytes, and at most 196608/);
  });

  it('has a status that is Flux’s to write', async () => {
    const ns = await newNamespace();
    const app = gated('Kustomization', ns, 'app');
    await developer.create(app);
    await expect(developer.patchStatus(app as never, { observedGeneration: 1 })).rejects.toThrow(
      /developer is not allowed to write the status of .*report-status/,
    );
    await flux.patchStatus(app as never, { observedGeneration: 1 });
  });

  it.each([
    ['version', (filler: string) => `none=1/${filler}/u`],
    ['uid', (filler: string) => `none=1/1.0.0/${filler}`],
  ])('full of a long %s in the annotation of its deployments is suspended all the same', async (_, deployed) => {
    const ns = await newNamespace();
    const filler = 'z'.repeat(132_000);
    const text = deployed(filler);
    const [, version = ''] = text.split('/');
    const app = withAnnotations(
      gated('Kustomization', ns, 'app', undefined, { postBuild: { substitute: { V: version } } }),
      {
        'rollout.kuberik.com/substitute.V.from': 'none',
        'rollout.kuberik.com/deployed': text,
        'x/a': 'y'.repeat(130_000),
      },
    );
    await developer.create(app);
    await sre.create(gate(ns, 'freeze', { spec: everything }));
    await isHeld(admin, app);
  });

  it('with as many annotations as are allowed is suspended all the same', async () => {
    const ns = await newNamespace();
    const app = withAnnotations(gated('Kustomization', ns, 'app'), many(512));
    await developer.create(app);
    await sre.create(gate(ns, 'freeze', { spec: everything }));
    await isHeld(admin, app);
    await expect(developer.mergePatch(app as never, { metadata: { annotations: { 'x/more': '' } } })).rejects.toThrow(
      /metadata.annotations has 513 entries, and at most 512/,
    );
  });

  it.each([
    ['with as many annotations', many(512)],
    ['with annotations as large', { 'x/a': 'y'.repeat(131_069) }],
  ])('%s as are allowed is written with a bypass all the same', async (_, most) => {
    const ns = await newNamespace();
    const app = withAnnotations(gated('Kustomization', ns, 'app'), most);
    await developer.create(app);
    await sre.create(gate(ns, 'freeze', { spec: everything }));
    await isHeld(admin, app);
    await bypass(app, { suspend: false });
    expect((await admin.get(app as never))?.spec?.suspend).toBe(false);
  });

  it('at the limit of everything is suspended all the same, and resumed', async () => {
    const ns = await newNamespace();
    const substitute = { A: 'z'.repeat(440_000) };
    const app = withAnnotations(gated('Kustomization', ns, 'app', undefined, { postBuild: { substitute } }), {
      'x/a': 'y'.repeat(130_000),
    });
    await developer.create(app);
    const entries = Array.from({ length: 700 }, (_, i) => ({
      id: `${ns}_${'n'.repeat(100)}-${i}_apps_Deployment`,
      v: 'v1',
    }));
    await admin.patchStatus(app as never, { inventory: { entries } });
    await sre.create(gate(ns, 'freeze', { spec: everything }));
    await isHeld(admin, app);
    await sre.mergePatch(ref('gate', ns, 'freeze'), { spec: { default: 'opened' } });
    await isFree(admin, app);
  });
});

describe('an object that is related to others is refused if it is too large', () => {
  const rollout = (ns: string, annotations: Record<string, string> = {}): AnyObject => ({
    apiVersion: 'kuberik.com/v1alpha1',
    kind: 'Rollout',
    metadata: { namespace: ns, name: 'big', annotations },
    spec: { releasesImagePolicy: { name: 'none' } },
  });
  const healthCheck = (ns: string, annotations: Record<string, string>): AnyObject => ({
    apiVersion: 'kuberik.com/v1alpha1',
    kind: 'HealthCheck',
    metadata: { namespace: ns, name: 'big', annotations },
    spec: {},
  });

  it('by its field owners, and not by several controllers’ applies', async () => {
    const ns = await newNamespace();
    const annotations = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`x/${'n'.repeat(50)}-${i}`, '1']));
    const object = healthCheck(ns, annotations);
    const applies = async (count: number) => {
      for (let i = 0; i < count; i++) await admin.apply(object, { manager: `m-${i}`, force: true });
    };
    await applies(5);
    await expect(applies(20)).rejects.toThrow(/metadata.managedFields take about \d+ bytes, and at most 196608/);
  });

  it.each([
    ['annotations as many', many(512)],
    ['annotations as large', { 'x/a': 'y'.repeat(65_300) }],
  ])('not a Rollout with %s as are allowed when a version bypasses a Gate', async (_, most) => {
    const ns = await newNamespace();
    const big = rollout(ns, most);
    await developer.create(big);
    await sre.create(gate(ns, 'freeze', { spec: { default: 'closed', selects: { kinds: ['Rollout'] } } }));
    await bypass(big, { wantedVersion: '1.1.0' });
    const { annotations } = (await admin.get(big as never))!.metadata;
    expect(annotations?.['gate.fluxcd.io/bypassed-gates']).toContain(`: ${ns}/freeze`);
  });

  it('and where it passes itself off as one of a schedule', async () => {
    const ns = await newNamespace();
    const own: AnyObject = {
      apiVersion: 'kuberik.com/v1alpha1',
      kind: 'RolloutGate',
      metadata: { namespace: ns, name: 'big', labels: { 'controller-uid': 'u-1' } },
      spec: { rolloutRef: { name: 'app' } },
    };
    const rules = [{ apiGroups: ['kuberik.com'], resources: ['rolloutgates'], verbs: ['create'] }];
    await grant(admin, ns, 'gates', ['developer'], rules);
    // The authorizer sees a new binding with a delay.
    await waitFor(
      () =>
        expect(developer.create(own))
          .rejects.toThrow(/marks a RolloutGate as one of a schedule/)
          .then(() => true),
      'the refusal of the policy',
    );
    await admin.create(own);
    const annotate = (size: number) =>
      admin.mergePatch(own as never, { metadata: { annotations: { 'x/a': 'y'.repeat(size) } } });
    await annotate(2000);
    await expect(annotate(5000)).rejects.toThrow(/at most 4096 are allowed: write on a RolloutGate of your own/);
  });
});
