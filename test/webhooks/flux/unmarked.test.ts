/** Objects that a closed Gate holds, with or without annotations. */
import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../api/kubernetes.ts';
import { mutateFlux, validateFlux } from '../../../webhooks/flux/fluxAdmission.ts';
import { deployment, gate, kustomization, ociRepository, rollout } from '../../core/admission/objects.ts';
import { send } from '../../support/admission.ts';

const closed = gate('shop/freeze');
const metacontroller = { username: 'system:serviceaccount:metacontroller:metacontroller' };

/** Changes of nothing that Gates govern. */
const ASIDE: [string, Partial<KubeObject['metadata']>][] = [
  ['finalizers', { finalizers: ['dev.example/a'] }],
  ['managedFields', { managedFields: [{ manager: 'm-1', operation: 'Apply', fieldsV1: { 'f:spec': {} } }] }],
];

describe('a Gate that selects the object and has not marked it yet', () => {
  const all = gate('ops/all', { selects: { namespaceSelector: {} } });
  const stored = kustomization({ annotations: {} });

  it('refuses an edit', async () => {
    const object = kustomization({ annotations: {}, spec: { path: './evil' } });
    const answer = await send(mutateFlux, { object, oldObject: stored }, { objects: [all] });
    expect(answer).toMatchObject({ allowed: false, message: expect.stringContaining("Gate 'ops/all' is closed") });
  });

  it('marks it, and denies what another webhook changes in the same write', async () => {
    const annotations = { note: 'x' };
    const written = { object: kustomization({ annotations }), oldObject: stored };
    const { object } = await send(mutateFlux, written, { objects: [all] });
    const verify = (spec: object) =>
      send(
        validateFlux,
        { ...written, object: { ...object!, spec: { ...object!.spec, ...spec } } },
        { objects: [all] },
      );
    expect(await verify({})).toMatchObject({ allowed: true });
    expect(await verify({ path: './evil' })).toMatchObject({ allowed: false });
  });

  it.each(ASIDE)(
    'suspends it in a write of its %s alone: many of them would keep a decorator from it',
    async (_, change) => {
      const object = { ...stored, metadata: { ...stored.metadata, ...change } };
      const answer = await send(mutateFlux, { object, oldObject: stored }, { objects: [all] });
      expect(answer.object?.spec?.suspend).toBe(true);
      expect(answer.object?.metadata).toMatchObject(change);
    },
  );

  it('keeps the object suspended, also in the write by which a decorator resumes it after another Gate', async () => {
    const marked = (state: string) =>
      kustomization({
        annotations: {
          'gate.fluxcd.io/gates': 'freeze',
          'gate.fluxcd.io/state': state,
          'gate.fluxcd.io/suspended': 'unset',
        },
        spec: { suspend: true },
      });
    const write = { object: marked('open'), oldObject: marked('closed: shop/freeze'), user: metacontroller };
    const answer = await send(mutateFlux, write, { objects: [all, gate('shop/freeze', { default: 'opened' })] });
    expect(answer.object?.spec?.suspend).toBe(true);
    expect(answer.object?.metadata.annotations?.['gate.fluxcd.io/state']).toBe('closed: ops/all');
  });

  it('refuses a deletion of an object that carries something of ours', async () => {
    const bound = kustomization({ annotations: { 'rollout.kuberik.com/substitute.APP.from': 'my-app' } });
    const answer = await send(validateFlux, { oldObject: bound }, { objects: [all, gate('x/y'), terminatingNot] });
    expect(answer.allowed).toBe(false);
  });
});

// The API server calls no webhook for the first time after another one has changed the object.
it.each([
  ['in its creation', null, {}, false],
  ['in an update', kustomization({ annotations: {} }), {}, false],
  ['during its deletion', kustomization({ annotations: {} }), { deletionTimestamp: '2026-03-04T09:00:00Z' }, true],
])('an object on which another webhook names a closed Gate after ours, %s', async (_, oldObject, more, isAllowed) => {
  const object = kustomization({ annotations: { 'gate.fluxcd.io/gates': 'freeze' } });
  Object.assign(object.metadata, more);
  const verify = (freeze: typeof closed) => send(validateFlux, { object, oldObject }, { objects: [freeze] });
  expect((await verify(closed)).allowed).toBe(isAllowed);
  expect((await verify(gate('shop/freeze', { default: 'opened' }))).allowed).toBe(true);
});

describe('an object that runs for a deployment whose bypass is over', () => {
  const stored = kustomization({
    annotations: {
      'gate.fluxcd.io/gates': 'freeze',
      'gate.fluxcd.io/state': 'bypassing: shop/freeze',
      'gate.fluxcd.io/suspended': 'unset',
    },
  });

  it.each(ASIDE)('is suspended in a write of its %s alone', async (_, change) => {
    const object = { ...stored, metadata: { ...stored.metadata, ...change } };
    const answer = await send(mutateFlux, { object, oldObject: stored }, { objects: [closed] });
    expect(answer.object?.spec?.suspend).toBe(true);
    expect(answer.object?.metadata).toMatchObject(change);
  });
});

it('a bypass that waits for its artifact continues when that is fetched', async () => {
  const hotfix = rollout('my-app', '1.1.0', '1.0.0') as KubeObject<any, any>;
  hotfix.status.history[0] = {
    ...hotfix.status.history[0],
    timestamp: '2026-03-04T09:59:50Z',
    bakeStatus: 'Deploying',
  };
  hotfix.metadata.annotations = {
    'gate.fluxcd.io/bypassed-gates': '1.1.0 (2) 2026-03-04T09:59:40Z: shop/freeze',
    'gate.fluxcd.io/bypassed-by': '2026-03-04T09:59:40Z sre',
  };
  const sourceAt = (observedGeneration: number, revision: string) => {
    const status = { observedGeneration, artifact: { revision } };
    const source = ociRepository({ tag: '1.1.0' }, { deployed: deployment('my-app', 2, '1.1.0'), status });
    return { ...source, metadata: { ...source.metadata, name: 'web' } };
  };
  const stored = kustomization({
    annotations: {
      'rollout.kuberik.com/substitute.APP.from': 'my-app',
      'rollout.kuberik.com/artifact': '1.0.0',
      'gate.fluxcd.io/gates': 'freeze',
      'gate.fluxcd.io/state': 'bypassing: shop/freeze',
      'gate.fluxcd.io/suspended': 'unset',
    },
    substitute: { APP: '1.0.0' },
    deployed: deployment('my-app', 1, '1.0.0'),
    spec: { sourceRef: { kind: 'OCIRepository', name: 'web' } },
    status: { lastAppliedRevision: '1.0.0@sha256:a' },
  });
  const woken = (object: typeof stored, by: string) => {
    const annotations = { ...object.metadata.annotations, 'rollout.kuberik.com/awaits-artifact': by };
    return { ...object, metadata: { ...object.metadata, annotations } };
  };
  const before = { objects: [closed, hotfix, sourceAt(2, '1.0.0@sha256:a')] };
  const first = await send(mutateFlux, { object: woken(stored, 'x'), oldObject: stored }, before);
  expect(first.object?.spec?.suspend).toBe(true);
  const arrived = { objects: [closed, hotfix, sourceAt(3, '1.1.0@sha256:b')] };
  const awaiting = first.object!;
  const second = await send(mutateFlux, { object: woken(awaiting, 'y'), oldObject: awaiting }, arrived);
  expect(second.object?.spec).toMatchObject({ postBuild: { substitute: { APP: '1.1.0' } } });
  expect(second.object?.spec?.suspend).toBeFalsy();
});

it.each([
  [
    'oci',
    'freeze',
    [
      'a Gate on a HelmRepository of type oci holds nothing: require the Gate on the HelmReleases that use the repository',
    ],
  ],
  ['default', 'freeze', []],
])('a HelmRepository of type %s that begins to require a Gate: Warnings', async (type, gates, warnings) => {
  const stored = { ...kustomization({ annotations: {} }), kind: 'HelmRepository', spec: { type } };
  const annotated = { ...stored.metadata, annotations: { 'gate.fluxcd.io/gates': gates } };
  const object = { ...stored, apiVersion: 'source.toolkit.fluxcd.io/v1', metadata: annotated };
  const opened = { objects: [gate('shop/freeze', { default: 'opened' })] };
  const oldObject = { ...stored, apiVersion: 'source.toolkit.fluxcd.io/v1' };
  expect((await send(mutateFlux, { object, oldObject }, opened)).warnings ?? []).toEqual(warnings);
  expect((await send(mutateFlux, { object, oldObject: object }, opened)).warnings ?? []).toEqual([]);
});

const terminatingNot = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels: {} } };
