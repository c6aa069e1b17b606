/** Reads of the webhook for a write of a Flux object, in either of its calls. */
import { expect, it } from 'vitest';
import type { UserInfo } from '../../../api/admission.ts';
import type { FluxObject } from '../../../api/flux.ts';
import { fakeCluster, fakeWebhookCall } from '../../../dev/fakes/ports.ts';
import { requestOf } from '../../../dev/fakes/requests.ts';
import { READS_AT_ONCE } from '../../../live/inParallel.ts';
import { mutateFlux, validateFlux } from '../../../webhooks/flux/fluxAdmission.ts';
import { deployment, gate, kustomization, NOW, ociRepository, rollout } from '../../core/admission/objects.ts';
import { applier, openGate, resumedAlone } from '../../core/admission/writes.ts';
import { send } from '../../support/admission.ts';

const DECORATOR = { username: 'system:serviceaccount:metacontroller:metacontroller' };

const following = (rollout: string, state?: string) =>
  kustomization({
    annotations: {
      'rollout.kuberik.com/substitute.APP.from': rollout,
      'gate.fluxcd.io/gates': 'freeze',
      ...(state && { 'gate.fluxcd.io/state': state }),
    },
    substitute: { APP: '1.0.0' },
    spec: { sourceRef: { kind: 'OCIRepository', name: 'apps' }, suspend: true },
  });

const moves = { object: following('next'), oldObject: following('before') };
const held = following('before', 'closed: shop/freeze');
const edits = { object: { ...held, spec: { ...held.spec, path: './next' } }, oldObject: held };
const selection = ['gates/*', 'gates/freeze'];

it.each([
  [
    'the Gates, the source, and the Rollouts of both versions',
    mutateFlux,
    moves,
    'opened',
    [...selection, 'ocirepositories/apps', 'rollouts/before', 'rollouts/next'],
  ],
  ['of an object that a closed Gate holds, no Rollout', mutateFlux, edits, 'closed', selection],
  ['and none when it is checked again', validateFlux, edits, 'closed', ['gates/freeze']],
])('%s', async (_, handler, write, state, expected) => {
  const { reads } = await send(handler, write, { objects: [gate('shop/freeze', { default: state as 'opened' })] });
  expect([...new Set(reads)].sort()).toEqual(expected);
});

it('no list of Gates in the write by which a decorator suspends the object: a freeze concerns thousands', async () => {
  const marks = {
    object: following('before', 'closed: shop/freeze'),
    oldObject: following('before', 'open'),
    user: DECORATOR,
  };
  const { reads } = await send(mutateFlux, marks, { objects: [gate('shop/freeze', { default: 'closed' })] });
  expect(reads).not.toContain('gates/*');
});

it('each Gate once in the write by which a decorator brings a version', async () => {
  const write = { object: following('next', 'open'), oldObject: following('before', 'open'), user: DECORATOR };
  const { reads } = await send(mutateFlux, write, { objects: [gate('shop/freeze', { default: 'opened' })] });
  expect(reads.filter((read) => read === 'gates/freeze')).toHaveLength(1);
});

it('reviews the bypass of many Gates a few at a time: all requests share the connections', async () => {
  const names = Array.from({ length: 100 }, (_, i) => `gate-${i}`).join();
  const named = (reason: object) => kustomization({ annotations: { 'gate.fluxcd.io/gates': names, ...reason } });
  let [running, most, reviews] = [0, 0, 0];
  const may = async () => {
    reviews++;
    most = Math.max(most, ++running);
    await new Promise(setImmediate);
    running--;
    return false;
  };
  const { call } = fakeWebhookCall({ now: NOW, access: { may } });
  const write = { object: named({ 'gate.fluxcd.io/bypass-reason': 'INC-1' }), oldObject: named({}) };
  await mutateFlux(requestOf(write), call);
  expect({ reviews, most }).toEqual({ reviews: 100, most: READS_AT_ONCE });
});

const ARTIFACT = 'rollout.kuberik.com/artifact';
const WAITS = { 'rollout.kuberik.com/awaits-artifact': 'my-app=2/1.1.0/uid-my-app' };
const sourced = (annotations: Record<string, string> = {}, spec: object = {}) => {
  const sourceRef = { kind: 'OCIRepository', name: 'apps' };
  const bound = { 'rollout.kuberik.com/substitute.APP.from': 'my-app', [ARTIFACT]: '1.1.0', ...annotations };
  const deployed = deployment('my-app', 2, '1.1.0');
  return kustomization({ annotations: bound, deployed, spec: { sourceRef, ...spec } });
};

it.each<[title: string, object: FluxObject, oldObject: FluxObject, reads: boolean]>([
  ['not of an object that has what its source has fetched', sourced({}, { path: './b' }), sourced(), false],
  ['if the write changes that', sourced({ [ARTIFACT]: '1.0.0' }), sourced(), true],
  ['if the object waits for what it fetches', sourced(WAITS, { path: './b' }), sourced(WAITS), true],
  [
    'if the write names another source',
    sourced({}, { sourceRef: { kind: 'OCIRepository', name: 'b' } }),
    sourced(),
    true,
  ],
])('the source: %s', async (_, object, oldObject, isRead) => {
  const { reads } = await send(mutateFlux, { object, oldObject }, { objects: [rollout('my-app', '1.1.0', '1.0.0')] });
  expect(reads.some((read) => read.startsWith('ocirepositories'))).toBe(isRead);
});

it('no source that reads a new spec, for which the object would be suspended', async () => {
  const deployed = deployment('my-app', 2, '1.1.0');
  const status = { observedGeneration: 1, artifact: { revision: '1.1.0@sha256:a' } };
  const source = ociRepository({ tag: '1.1.0' }, { deployed, status, generation: 2 });
  const reading = { ...source, metadata: { ...source.metadata, name: 'apps' } };
  const objects = [rollout('my-app', '1.1.0', '1.0.0'), reading];
  const answer = await send(mutateFlux, { object: sourced({ path: './b' }), oldObject: sourced() }, { objects });
  expect(answer.object?.spec?.suspend).toBeUndefined();
});

it('all Gates that may select the object, in a user’s write, whether the object is new, marked or neither', async () => {
  const all = ['gates/*', 'gates/*'];
  const stored = kustomization({ annotations: {} });
  const changed = kustomization({ annotations: {}, spec: { path: './other' } });
  expect((await send(mutateFlux, { object: changed, oldObject: stored }, { objects: [] })).reads.sort()).toEqual(all);
  const marked = kustomization({ annotations: { 'gate.fluxcd.io/selected-by': 'shop/all' } });
  expect((await send(mutateFlux, { object: marked }, { objects: [] })).reads.sort()).toEqual(all);
  const plain = kustomization({ annotations: {} });
  expect((await send(mutateFlux, { object: plain }, { objects: [] })).reads.sort()).toEqual(all);
});

const deployed = (more: Record<string, string> = {}, version = '1.1.0') =>
  kustomization({
    annotations: { 'rollout.kuberik.com/substitute.APP.from': 'my-app', ...more },
    deployed: deployment('my-app', 2, '1.1.0'),
    substitute: { APP: version },
  });

it.each<[title: string, object: FluxObject, user: UserInfo | undefined, reads: boolean]>([
  ['a decorator, with the version in the annotation', deployed(), DECORATOR, false],
  ['a decorator, with another version', deployed({}, '9.9.9'), DECORATOR, true],
  ['a decorator, without the annotation', kustomization({ substitute: { APP: '1.1.0' } }), DECORATOR, true],
  ['a decorator, with neither annotation nor version', kustomization({ substitute: {} }), DECORATOR, true],
  [
    'a decorator, by which a deployment bypasses a Gate',
    deployed({ 'gate.fluxcd.io/state': 'bypassing: shop/freeze' }),
    DECORATOR,
    true,
  ],
  ['a user', deployed(), undefined, true],
])('the Rollout after other webhooks, in a write by %s', async (_, object, user, isRead) => {
  const write = { object, oldObject: deployed({}, '1.0.0'), ...(user && { user }) };
  const { reads } = await send(validateFlux, write, { objects: [rollout('my-app', '1.1.0', '1.0.0')] });
  expect(reads.includes('rollouts/my-app')).toBe(isRead);
});

it('at most eight Gates and as many Rollouts at once: others share the connections', async () => {
  const names = Array.from({ length: 60 }, (_, i) => `n-${i}`);
  const annotations = {
    'gate.fluxcd.io/gates': names.join(),
    ...Object.fromEntries(names.map((name, i) => [`rollout.kuberik.com/substitute.V${i}.from`, name])),
  };
  const running = new Map<string, number>();
  const most = new Map<string, number>();
  const cluster = fakeCluster([]);
  const get: typeof cluster.get = async ({ resource }) => {
    const now = (running.get(resource) ?? 0) + 1;
    running.set(resource, now);
    most.set(resource, Math.max(now, most.get(resource) ?? 0));
    await Promise.resolve();
    running.set(resource, running.get(resource)! - 1);
    return undefined;
  };
  const { call } = fakeWebhookCall({ now: NOW, cluster: { ...cluster, get } });
  await mutateFlux(requestOf({ object: kustomization({ annotations }) }), call);
  expect(Object.fromEntries(most)).toMatchObject({ gates: 8, rollouts: 8 });
});

const inventory = { entries: [{ id: 'shop_web_kustomize.toolkit.fluxcd.io_Kustomization', v: 'v1' }] };

it.each([
  ['is done, at once', applier('True', 'ReconciliationSucceeded'), 1000, undefined],
  ['fails, never', applier('False', 'BuildFailed'), 3_600_000, true],
])('the applier of an object that its decorator wants to resume: while it %s', async (_, state, ms, suspend) => {
  const apps = { ...state, status: { ...state.status, inventory } };
  Object.assign(apps.metadata, { namespace: 'flux-system', name: 'apps' });
  const write = { object: resumedAlone.object, oldObject: resumedAlone.old };
  const { reads, object } = await send(mutateFlux, write, { objects: [openGate, apps], now: NOW + ms });
  expect(object?.spec?.suspend).toBe(suspend);
  expect(reads).toContain('kustomizations/apps');
});

it('no applier, if the write does not end the wait', async () => {
  const write = { object: resumedAlone.old, oldObject: resumedAlone.old };
  expect((await send(mutateFlux, write, { objects: [openGate] })).reads).not.toContain('kustomizations/apps');
});

it('of an object that leaves many Rollouts, one list of bindings: each Rollout has no list of its own', async () => {
  const names = Array.from({ length: 64 }, (_, i) => `app-${i}`);
  const annotations = Object.fromEntries(names.map((name, i) => [`rollout.kuberik.com/substitute.V${i}.from`, name]));
  const oldObject = kustomization({ annotations });
  const objects = [oldObject, ...names.map((name) => rollout(name, '1.0.0'))];
  const { allowed, reads } = await send(validateFlux, { oldObject }, { objects });
  expect(allowed).toBe(true);
  expect(reads.filter((read) => read === 'fluxbindings/*')).toHaveLength(1);
});
