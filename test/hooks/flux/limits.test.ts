/** More Gates than one decision reads: the object is held, with the cause, and can be repaired. */
import { describe, expect, it } from 'vitest';
import { mutateFlux, validateFlux } from '../../../webhooks/flux/fluxAdmission.ts';
import { gate, kustomization, rollout } from '../../core/admission/objects.ts';
import { send } from '../../support/admission.ts';
import { Cluster } from './cluster.ts';

const everywhere = { selects: { namespaceSelector: {} } };
const openGates = (count: number, namespace = 'aaa') =>
  Array.from({ length: count }, (_, i) => gate(`${namespace}/open-${i}`, { ...everywhere, default: 'opened' }));
const names = (count: number, prefix = 'gate') => Array.from({ length: count }, (_, i) => `${prefix}-${i}`).join();
const LIMIT =
  /the object requires too many Gates \(limits requiredGates, selectingGates, selectingGatesBytes\): require fewer/;

const edit = (cluster: Cluster, path: string) =>
  cluster.write({ ...cluster.object, spec: { ...cluster.object.spec, path } });
const rename = (cluster: Cluster, gates: string, spec = {}) => {
  const { metadata } = cluster.object;
  const annotations = { ...metadata.annotations, 'gate.fluxcd.io/gates': gates };
  return cluster.write({
    ...cluster.object,
    metadata: { ...metadata, annotations },
    spec: { ...cluster.object.spec, ...spec },
  });
};

describe('Gates beyond the limit lift no freeze', () => {
  it('200 open Gates and a closed one that select the same object', async () => {
    const cluster = await Cluster.settled(kustomization({ annotations: {} }), {
      gates: [gate('w2/freeze', everywhere), ...openGates(200)],
    });
    expect(cluster.object.spec?.suspend).toBe(true);
    expect(await edit(cluster, './evil')).toBe(false);
    expect(cluster.answer?.message).toMatch(LIMIT);
    expect(cluster.object.metadata.annotations).toMatchObject({
      'gate.fluxcd.io/selected-by': '(too-many)',
      'gate.fluxcd.io/state': 'closed: (too-many)',
    });
    expect(cluster.object.status?.conditions?.[0]).toMatchObject({ type: 'Approved', status: 'False' });
    expect(cluster.object.status?.conditions?.[0]?.message).toMatch(LIMIT);
    expect(cluster.binding?.spec?.problems).toEqual([expect.stringMatching(LIMIT)]);
    expect(cluster.binding?.spec?.gates).toEqual([{ namespace: '', gate: '(too-many)' }]);
  });

  it('they are created while the object is held already', async () => {
    const cluster = await Cluster.settled(kustomization({ annotations: {} }), {
      gates: [gate('w2/freeze', everywhere)],
    });
    cluster.gates.push(...openGates(200));
    expect(await edit(cluster, './evil')).toBe(false);
    await cluster.settle();
    expect(await edit(cluster, './evil')).toBe(false);
    expect(cluster.object.spec?.suspend).toBe(true);
  });

  it('a bypass counts for the write that makes it, and not for the next freeze', async () => {
    const cluster = await Cluster.settled(kustomization({ annotations: {} }), {
      gates: [gate('w2/freeze', everywhere), ...openGates(200)],
    });
    cluster.may = ['admin bypass'];
    const { metadata, spec } = cluster.object;
    const annotations = { ...metadata.annotations, 'gate.fluxcd.io/bypass-reason': 'INC-1' };
    const resumed = { ...cluster.object, metadata: { ...metadata, annotations }, spec: { ...spec, suspend: false } };
    expect(await cluster.write(resumed, { username: 'admin' })).toBe(true);
    expect(cluster.object.spec?.suspend).toBe(false);
    await cluster.settle();
    expect(cluster.object.spec?.suspend).toBe(true);
  });

  it('no write replaces the mark by one with open Gates only', async () => {
    const cluster = await Cluster.settled(kustomization({ annotations: {} }), {
      gates: [gate('w2/freeze', everywhere), ...openGates(200)],
    });
    const { metadata } = cluster.object;
    const annotations = { ...metadata.annotations, 'gate.fluxcd.io/selected-by': 'aaa/open-1' };
    await cluster.write({ ...cluster.object, metadata: { ...metadata, annotations } });
    expect(cluster.object.spec?.suspend).toBe(true);
    expect(cluster.object.metadata.annotations).toMatchObject({ 'gate.fluxcd.io/selected-by': '(too-many)' });
  });

  it('closed or open, the object is held; and free again when they are fewer', async () => {
    const cluster = await Cluster.settled(kustomization({ annotations: {} }), { gates: openGates(201) });
    expect(cluster.object.spec?.suspend).toBe(true);
    expect(await edit(cluster, './x')).toBe(false);
    cluster.gates = openGates(200);
    await cluster.settle();
    expect(cluster.object.spec?.suspend).toBeUndefined();
    expect(await edit(cluster, './x')).toBe(true);
  });

  it('named and selecting ones count together', async () => {
    const cluster = new Cluster(kustomization({ annotations: { 'gate.fluxcd.io/gates': names(150) } }));
    const named = Array.from({ length: 150 }, (_, i) => gate(`shop/gate-${i}`, { default: 'opened' }));
    cluster.gates = [...named, ...openGates(50)];
    await cluster.settle();
    expect(cluster.object.spec?.suspend).toBeUndefined();
    cluster.gates.push(...openGates(1, 'bbb'));
    await cluster.settle();
    expect(cluster.object.spec?.suspend).toBe(true);
  });
});

it('open Gates of its namespace that are too large to be read hold a new object, and no other namespace', async () => {
  const large = Array.from({ length: 150 }, (_, i) =>
    gate(`tenant/g-${i}`, { default: 'opened', selects: { kinds: ['Bucket'] } }, { 'x/a': 'x'.repeat(60_000) }),
  );
  const suspended = async (namespace: string) => {
    const web = kustomization({ annotations: {} });
    const object = { ...web, metadata: { ...web.metadata, namespace } };
    return (await send(mutateFlux, { object, oldObject: null }, { objects: large })).object?.spec?.suspend;
  };
  expect([await suspended('tenant'), await suspended('shop')]).toEqual([true, undefined]);
});

describe('an object beyond the limit is mended', () => {
  it('by naming fewer Gates, whatever their number was', async () => {
    const cluster = await Cluster.settled(kustomization({ annotations: { 'gate.fluxcd.io/gates': names(300) } }), {
      gates: [gate('shop/mine', { default: 'opened' })],
    });
    expect(cluster.object.spec?.suspend).toBe(true);
    expect(cluster.binding?.spec?.problems).toEqual([expect.stringMatching(LIMIT)]);
    expect(await edit(cluster, './x')).toBe(false);
    expect(await rename(cluster, 'mine')).toBe(true);
    await cluster.settle();
    expect(cluster.object.spec?.suspend).toBeUndefined();
    expect(await edit(cluster, './x')).toBe(true);
  });

  it('but not with another value of a managed field', async () => {
    const bound = { 'rollout.kuberik.com/substitute.APP.from': 'my-app' };
    const cluster = await Cluster.settled(
      kustomization({ annotations: { ...bound, 'gate.fluxcd.io/gates': names(300) }, substitute: { APP: '1.1.0' } }),
      { gates: [gate('shop/mine', { default: 'opened' })], rollouts: [rollout('my-app', '1.1.0')] },
    );
    expect(await rename(cluster, 'mine', { postBuild: { substitute: { APP: 'other' } } })).toBe(false);
    expect(await rename(cluster, 'mine')).toBe(true);
  });

  it('but not by leaving a closed one', async () => {
    const cluster = await Cluster.settled(kustomization({ annotations: { 'gate.fluxcd.io/gates': 'freeze,open-1' } }), {
      gates: [gate('shop/freeze'), gate('shop/open-1', { default: 'opened' }), ...openGates(199)],
    });
    expect(cluster.object.metadata.annotations).toMatchObject({ 'gate.fluxcd.io/state': 'closed: (too-many)' });
    expect(await rename(cluster, 'open-1')).toBe(false);
    expect(await rename(cluster, 'freeze', { path: './evil' })).toBe(false);
    expect(await rename(cluster, 'freeze')).toBe(true);
    await cluster.settle();
    expect(cluster.object.metadata.annotations).toMatchObject({ 'gate.fluxcd.io/state': 'closed: shop/freeze' });
  });
});

describe('where references to other namespaces are forbidden', () => {
  it('a new one is refused, and an existing one holds the object until it is removed', async () => {
    const cluster = await Cluster.settled(kustomization({ annotations: { 'gate.fluxcd.io/gates': 'ops/open' } }), {
      gates: [gate('ops/open', { default: 'opened' }), gate('shop/mine', { default: 'opened' })],
    });
    expect(cluster.object.spec?.suspend).toBeUndefined();
    cluster.noCrossNamespaceRefs = true;
    expect(await rename(cluster, 'ops/open,ops/other')).toBe(false);
    expect(cluster.answer?.message).toMatch(/NO_CROSS_NAMESPACE_REFS forbids Gate 'ops\/other': remove it/);
    await cluster.settle();
    expect(cluster.object.spec?.suspend).toBe(true);
    expect(cluster.binding?.spec?.problems).toEqual([expect.stringContaining("'ops/open'")]);
    expect(await rename(cluster, 'mine')).toBe(true);
    await cluster.settle();
    expect(cluster.object.spec?.suspend).toBeUndefined();
  });
});

describe('a review reads no more than its limits', () => {
  const many = (annotation: string) => kustomization({ annotations: { 'gate.fluxcd.io/gates': annotation } });
  const rollouts = Object.fromEntries(
    Array.from({ length: 100 }, (_, i) => [`rollout.kuberik.com/substitute.V${i}.from`, `app-${i}`]),
  );
  const rows: [title: string, object: ReturnType<typeof many>, old: ReturnType<typeof many>, reads: number][] = [
    ['200 names before and 200 others after', many(names(200, 'a')), many(names(200, 'b')), 0],
    ['300 names', many(names(300)), many('freeze'), 4],
    ['100 Rollouts', kustomization({ annotations: rollouts }), kustomization({ annotations: {} }), 0],
    ['a mark of 300 Gates', kustomization({ annotations: { 'gate.fluxcd.io/selected-by': names(300) } }), many(''), 3],
  ];
  it.each(rows)('%s', async (_, object, oldObject, reads) => {
    for (const handler of [mutateFlux, validateFlux]) {
      const answer = await send(handler, { object, oldObject }, { objects: [gate('shop/freeze')] });
      expect(answer.reads.length).toBeLessThanOrEqual(reads);
      if (reads === 0) expect(answer).toMatchObject({ allowed: false, message: expect.stringMatching(/\blimits?\b/) });
    }
  });
});
