/** Closed Gates at the admission webhook, in cases of several writes, other identities or live reads. */
import { describe, expect, it } from 'vitest';
import type { FluxObject } from '../../../api/flux.ts';
import { mutateFlux, validateFlux } from '../../../webhooks/flux/fluxAdmission.ts';
import { deployment, gate, kustomization, NOW, ociRepository, owner, rollout } from '../../core/admission/objects.ts';
import { type Context, send, type Write } from '../../support/admission.ts';
import { namespaceOf } from '../../support/objects.ts';

const REASON = 'gate.fluxcd.io/bypass-reason';
const BY = 'gate.fluxcd.io/bypassed-by';
const annotations = {
  'gate.fluxcd.io/gates': 'freeze',
  'gate.fluxcd.io/suspended': 'unset',
  'gate.fluxcd.io/state': 'closed: shop/freeze',
};
const frozen = (more: Record<string, string> = {}, spec: Record<string, unknown> = {}): FluxObject =>
  kustomization({ annotations: { ...annotations, ...more }, spec: { suspend: true, ...spec } });
const namespace = (deletionTimestamp?: string) => namespaceOf('shop', deletionTimestamp ? { deletionTimestamp } : {});
const closed = gate('shop/freeze');
const opened = gate('shop/freeze', { default: 'opened' });
const user = (username: string) => ({ username });
const given = (by: string, secondsAgo: number) => ({
  [REASON]: 'INC-1',
  [BY]: `${new Date(NOW - secondsAgo * 1000).toISOString().slice(0, 19)}Z ${by}`,
});

describe('DELETE', () => {
  const ROBOT = 'system:serviceaccount:ci:robot';
  const bypass = { may: ['admin bypass shop/freeze', `${ROBOT} bypass shop/freeze`] };
  const deleting = (by: string, reasonBy = by, secondsAgo = 10): Write => ({
    user: user(by),
    oldObject: frozen(given(reasonBy, secondsAgo)),
  });
  const bound = frozen({ 'rollout.kuberik.com/substitute.APP.from': 'my-app' });
  const rows: [title: string, write: Write, context: Context, answer: RegExp | 'allowed'][] = [
    ['behind a closed gate', {}, {}, /cannot be deleted: Gate 'shop\/freeze' is closed \(Gate closed by default\)/],
    ['of a whole collection: no name', { name: '' }, {}, /cannot be deleted/],
    [
      'by Metacontroller',
      { user: user('system:serviceaccount:metacontroller:metacontroller') },
      {},
      /cannot be deleted/,
    ],
    [
      'by the garbage collector',
      { user: user('system:serviceaccount:kube-system:generic-garbage-collector') },
      {},
      'allowed',
    ],
    ['in a Namespace that goes', {}, { objects: [closed, namespace('2026-03-04T10:00:00Z')] }, 'allowed'],
    [
      'behind a Gate that its Rollout requires too, and that is named once',
      { oldObject: bound },
      { objects: [namespace(), closed, bound, rollout('my-app')] },
      /: Gate 'shop\/freeze' is closed \(Gate closed by default\)\. To bypass it/,
    ],
    ['with all gates open', { oldObject: kustomization() }, { objects: [namespace(), opened] }, 'allowed'],
    ['while our suspension is still on it', {}, { objects: [namespace(), opened] }, /it is still suspended/],
    ['with a bypass', deleting('admin', 'admin', 299), bypass, 'allowed'],
    ['with a reason of six minutes ago', deleting('admin', 'admin', 360), bypass, /cannot be deleted/],
    ['with a reason of the future', deleting('admin', 'admin', -10), bypass, /cannot be deleted/],
    ["with somebody else's reason", deleting('admin', 'other'), bypass, /cannot be deleted/],
    ['with a reason but no verb', deleting('developer'), bypass, /developer isn't allowed to bypass Gate shop\/freeze/],
    ['by a ServiceAccount that has the verb', deleting(ROBOT), bypass, /is a ServiceAccount and not listed/],
    [
      'by a ServiceAccount that is listed, too',
      deleting(ROBOT),
      { ...bypass, settings: { bypassServiceAccounts: [ROBOT] } },
      'allowed',
    ],
  ];
  it.each(rows)('%s', async (_, write, context, expected) => {
    const answer = await send(
      validateFlux,
      { oldObject: frozen(), ...write },
      { objects: [namespace(), closed], ...context },
    );
    if (expected === 'allowed') expect(answer).toMatchObject({ allowed: true });
    else expect(answer).toMatchObject({ allowed: false, message: expect.stringMatching(expected) });
  });

  it('a DELETE without a matching stored state records nothing', async () => {
    const write = deleting('admin');
    for (const stored of [[], [frozen()], [frozen(given('admin', 9))]]) {
      const answer = await send(validateFlux, write, { objects: [namespace(), closed, ...stored], ...bypass });
      expect(answer.events).toEqual([]);
    }
  });

  it('with a bypass is recorded with user and reason', async () => {
    const write = deleting('admin');
    const stored = { objects: [namespace(), closed, write.oldObject!], ...bypass };
    const answer = await send(validateFlux, write, stored);
    const message = 'admin bypassed shop/freeze (DELETE): INC-1';
    expect(answer.audit).toEqual({ bypass: message });
    expect(answer.events).toEqual([expect.objectContaining({ reason: 'GateBypassed', type: 'Warning', message })]);
  });
});

describe('a bypass', () => {
  const context = { objects: [closed], may: ['admin bypass shop/freeze'] };
  const edit = (reason: string | undefined, spec = { path: './fix' }) =>
    frozen(reason === undefined ? {} : { [REASON]: reason }, spec);

  it('takes the verb and a new reason, and leaves a record', async () => {
    const answer = await send(mutateFlux, { object: edit('INC-1'), oldObject: frozen(), user: user('admin') }, context);
    expect(answer.object?.spec?.path).toBe('./fix');
    expect(answer.object?.metadata.annotations?.[BY]).toBe('2026-03-04T10:00:00Z admin');
    expect(answer.audit).toEqual({ bypass: 'admin bypassed shop/freeze (UPDATE): INC-1' });
    expect(answer.events).toHaveLength(1);
    expect(answer.counts).toMatchObject([{ name: 'rollout_hooks_gate_bypasses_total', labels: {} }]);
    const final = { object: answer.object!, oldObject: frozen(), user: user('admin') };
    expect(await send(validateFlux, final, context)).toMatchObject({ allowed: true });
  });

  describe('of a sync whose source is held too names both', () => {
    const held = { annotations, spec: { suspend: true } };
    const source = (parts: typeof held | object) => ociRepository({ tag: '1.0.0' }, parts);
    const ref = { kind: 'OCIRepository', name: 'web' };
    const told = ["its source is held too and fetches nothing: also bypass the Gates of OCIRepository 'shop/web'"];
    it.each<[string, Record<string, unknown>, FluxObject[], string[]]>([
      ['a Kustomization', { sourceRef: ref }, [source(held)], told],
      ['a HelmRelease by chartRef', { sourceRef: undefined, chartRef: ref }, [source(held)], told],
      [
        'a HelmRelease by its chart',
        { sourceRef: undefined, chart: { spec: { sourceRef: ref } } },
        [source(held)],
        told,
      ],
      ['not where the source goes on', { sourceRef: ref }, [source({})], []],
      ['not where it was bypassed', { sourceRef: ref }, [source({ annotations, spec: { suspend: false } })], []],
      ['not where there is none', { sourceRef: ref }, [], []],
      ['not where the spec names none', {}, [source(held)], []],
    ])('%s', async (_title, spec, sources, warnings) => {
      const more = { ...spec, suspend: false };
      const write = {
        object: edit('INC-1', { path: './fix', ...more }),
        oldObject: frozen({}, spec),
        user: user('admin'),
      };
      const { warnings: said } = await send(mutateFlux, write, { ...context, objects: [closed, ...sources] });
      expect(said).toEqual(warnings);
    });
  });

  it('leaves no Event in a dry run', async () => {
    const write = { object: edit('INC-1'), oldObject: frozen(), user: user('admin'), dryRun: true };
    expect(await send(mutateFlux, write, context)).toMatchObject({ allowed: true, events: [] });
  });

  const refusals: [title: string, write: Write, context?: Context][] = [
    ['without the verb', { object: edit('INC-1'), user: user('developer') }],
    ['without a reason', { object: edit(undefined), user: user('admin') }],
    ['with an empty reason', { object: edit('  '), user: user('admin') }],
    [
      'with the reason of before',
      { object: edit('INC-0'), oldObject: frozen({ [REASON]: 'INC-0' }), user: user('admin') },
    ],
    [
      'with the verb on one gate of two',
      {
        object: frozen({ 'gate.fluxcd.io/gates': 'freeze,ops/two', [REASON]: 'INC-1' }, { path: 'x' }),
        oldObject: frozen({ 'gate.fluxcd.io/gates': 'freeze,ops/two' }),
        user: user('admin'),
      },
      { objects: [closed, gate('ops/two')], may: ['admin bypass shop/freeze'] },
    ],
  ];
  it.each(refusals)('not %s', async (_, write, other) => {
    const answer = await send(mutateFlux, { oldObject: frozen(), ...write }, other ?? context);
    expect(answer).toMatchObject({ allowed: false, audit: {}, events: [] });
  });

  it('leaves alone a reason where nothing is closed', async () => {
    const object = kustomization({ annotations: { 'gate.fluxcd.io/gates': 'freeze', [REASON]: 'x' } });
    const oldObject = kustomization({ annotations: { 'gate.fluxcd.io/gates': 'freeze' } });
    const answer = await send(mutateFlux, { object, oldObject, user: user('admin') }, { objects: [opened] });
    expect(answer).toMatchObject({ allowed: true, audit: {}, events: [] });
  });
});

describe('an apply that changes nothing', () => {
  const old = kustomization({
    annotations: { ...annotations, 'gate.fluxcd.io/state': 'opening: 2026-03-04T10:00:00Z' },
    labels: { 'kustomize.toolkit.fluxcd.io/name': 'apps' },
    managedFields: [{ ...owner('Apply', 'spec.path'), manager: 'kustomize-controller' }],
    spec: { suspend: true },
  });

  it("resumes the object when it is the owner's", async () => {
    const options = { fieldManager: 'kustomize-controller' };
    const answer = await send(mutateFlux, { object: old, oldObject: old, options }, { objects: [opened] });
    expect(answer.object?.spec).not.toHaveProperty('suspend');
    expect(answer.object?.metadata.annotations).not.toHaveProperty('gate.fluxcd.io/suspended');
  });

  it('is not evaluated when finalizers are removed', async () => {
    const object = { ...old, metadata: { ...old.metadata, finalizers: ['x'] } };
    expect((await send(mutateFlux, { object: old, oldObject: object }, { objects: [opened] })).reads).toEqual([]);
  });
});

it.each([
  ['a controller that applies from Git is reverted', 'kustomize-controller', true],
  ['any other client is denied', 'argocd', false],
])('an apply behind a closed Gate by %s', async (_, manager, allowed) => {
  const applied = (path: string) =>
    kustomization({
      annotations,
      managedFields: [{ ...owner('Apply', 'spec.path'), manager }],
      spec: { suspend: true, path },
    });
  const write = { object: applied('b'), oldObject: applied('a'), options: { fieldManager: manager } };
  const answer = await send(mutateFlux, write, { objects: [closed] });
  expect([answer.allowed, answer.object?.spec?.path]).toEqual([allowed, allowed ? 'a' : undefined]);
});

describe('a write of an older resourceVersion', () => {
  const at = (resourceVersion: string, spec = {}) => {
    const object = frozen({}, spec);
    return { ...object, metadata: { ...object.metadata, resourceVersion } };
  };
  const rows: [version: string, left: boolean][] = [
    ['353', true],
    ['355', true],
    ['354', false],
    ['0354', false],
    ['+354', false],
    ['0', false],
    ['', false],
  ];
  it.each(rows)('%j is left to the conflict: %s', async (version, left) => {
    const write = { object: at(version, { path: 'x' }), oldObject: at('354') };
    const answer = await send(mutateFlux, write, { objects: [closed] });
    expect(answer.allowed).toBe(left);
  });
});

describe('a new object that a closed Gate selects', () => {
  const everywhere = gate('ops/all', { selects: { namespaceSelector: { matchLabels: { team: 'shop' } } } });
  const here = gate('shop/all', { selects: {} });
  const shop = { ...namespace(), metadata: { name: 'shop', labels: { team: 'shop' } } };
  const plain = kustomization({ annotations: {} });
  const { name: _, ...generated } = { ...plain.metadata, generateName: 'web-' };
  const rows: [title: string, handler: typeof mutateFlux, object: FluxObject, gates: any[]][] = [
    ['from its own namespace', mutateFlux, plain, [here]],
    ['from another', mutateFlux, plain, [everywhere]],
    ['and gets its name from the API server', mutateFlux, { ...plain, metadata: generated } as FluxObject, [here]],
    ['and carries a mark of another kind', mutateFlux, kustomization(), [here]],
    ['and carries any word of ours', mutateFlux, kustomization({ annotations: { 'gate.fluxcd.io/x': '' } }), [here]],
    [
      'and says that open ones do',
      mutateFlux,
      kustomization({ annotations: { 'gate.fluxcd.io/selected-by': '' } }),
      [here],
    ],
  ];
  it.each(rows)('is suspended in the request that creates it: %s', async (_says, handler, object, gates) => {
    const answer = await send(handler, { object }, { objects: [shop, ...gates] });
    expect(answer.object?.spec?.suspend).toBe(true);
    const { namespace: ns, name } = gates[0].metadata;
    expect(answer.object?.metadata.annotations).toMatchObject({
      'gate.fluxcd.io/selected-by': `${ns}/${name}`,
      'gate.fluxcd.io/state': `closed: ${ns}/${name}`,
      'gate.fluxcd.io/suspended': 'unset',
    });
    expect(answer.warnings.join()).toContain(`is suspended: Gate '${ns}/${name}' is closed`);
  });
});

describe('user and reason of the closure of a Gate in another namespace', () => {
  const request = { action: 'close' as const, at: '2026-03-04T09:00:00Z', by: 'anna', reason: 'INC-42' };
  const withRequest = (at: string) => ({ ...gate(at, { default: 'opened' }), status: { request } }) as any;
  const named = (gates: string, spec = {}) => kustomization({ annotations: { 'gate.fluxcd.io/gates': gates }, spec });
  const TOLD = /closed by anna: INC-42/;
  const writes = (gates: string): [string, typeof mutateFlux, Write][] => [
    ['an edit', mutateFlux, { object: named(gates, { path: 'x' }), oldObject: named(gates) }],
    ['a DELETE', validateFlux, { oldObject: named(gates) }],
  ];
  const objects = (at: string) => [withRequest(at), namespace()];

  it.each(writes('ops/freeze'))('is named to readers of the Gate: %s', async (_, handler, of) => {
    const untold = await send(handler, of, { objects: objects('ops/freeze') });
    expect(untold).toMatchObject({ allowed: false, message: expect.stringContaining("Gate 'ops/freeze' is closed (") });
    expect(untold.message).not.toMatch(/anna|INC-42/);
    const may = ['alice get ops/freeze'];
    expect((await send(handler, of, { objects: objects('ops/freeze'), may })).message).toMatch(TOLD);
  });

  it('is named for the one of two Gates that the user may read', async () => {
    const bob = { ...gate('sec/freeze', { default: 'opened' }), status: { request: { ...request, by: 'bob' } } } as any;
    const [, handler, of] = writes('ops/freeze,sec/freeze')[0]!;
    const context = { objects: [...objects('ops/freeze'), bob], may: ['alice get ops/freeze'] };
    expect((await send(handler, of, context)).message).toMatch(/^(?!.*bob).*anna/s);
  });

  it.each(writes('freeze'))('is named for a Gate in its own namespace: %s', async (_, handler, of) => {
    expect((await send(handler, of, { objects: objects('shop/freeze') })).message).toMatch(TOLD);
  });
});

describe('live reads', () => {
  it('take effect at the second of a window edge, without an event', async () => {
    const window = gate('shop/freeze', { window: '1h' }, { 'open.gate.fluxcd.io/requestedAt': '2026-03-04T09:00:01Z' });
    const oldObject = kustomization({ annotations: { 'gate.fluxcd.io/gates': 'freeze' } });
    const object = kustomization({ annotations: { 'gate.fluxcd.io/gates': 'freeze' }, spec: { path: 'x' } });
    const at = (now: number) => send(mutateFlux, { object, oldObject }, { objects: [window], now });
    expect(await at(NOW)).toMatchObject({ allowed: true });
    expect(await at(NOW + 1000)).toMatchObject({ allowed: false });
  });

  it('are of the Gates that a decorator names, and of the Namespace only if one selects by its labels', async () => {
    const user = { username: 'system:serviceaccount:metacontroller:metacontroller' };
    const marked = kustomization({ annotations: { 'gate.fluxcd.io/selected-by': 'shop/all' } });
    const write = { object: marked, oldObject: frozen(), user };
    const readsWith = async (all: any) => (await send(mutateFlux, write, { objects: [closed, all] })).reads.sort();
    const named = ['gates/all', 'gates/freeze'];
    expect(await readsWith(gate('shop/all', { selects: {} }))).toEqual(named);
    expect(await readsWith(gate('shop/all', { selects: { namespaceSelector: {} } }))).toEqual([
      ...named,
      'namespaces/shop',
    ]);
  });
});

describe('validating', () => {
  const rows: [title: string, object: FluxObject, objects: any[], denied: boolean][] = [
    ['a held object as it was', frozen({ note: 'x' }), [closed], false],
    ['suspension undone by another webhook', frozen({}, { suspend: false }), [closed], true],
    ['a spec changed by another webhook', frozen({}, { path: 'x' }), [closed], true],
    [
      'a gate that closed between the two calls',
      kustomization({
        annotations: { 'gate.fluxcd.io/gates': 'freeze', 'gate.fluxcd.io/state': 'open' },
        spec: { path: 'x' },
      }),
      [closed],
      false,
    ],
  ];
  it.each(rows)('%s', async (_, object, objects, denied) => {
    const answer = await send(validateFlux, { object, oldObject: frozen() }, { objects });
    expect(answer.allowed).toBe(!denied);
  });

  it('labels by which a closed Gate selects the object, taken away by another webhook', async () => {
    const object = frozen({ 'gate.fluxcd.io/selected-by': 'shop/all' });
    const oldObject = { ...object, metadata: { ...object.metadata, labels: { team: 'shop' } } };
    const all = gate('shop/all', { selects: { labelSelector: { matchLabels: { team: 'shop' } } } });
    const { allowed, message } = await send(validateFlux, { object, oldObject }, { objects: [closed, all] });
    expect([allowed, message]).toEqual([false, expect.stringContaining('changed metadata.labels')]);
  });

  it.each([
    ['allowed with', ['alice bypass shop/freeze'], true],
    ['denied without', [], false],
  ])('a changed spec with a reason is %s the verb bypass', async (_, may, isAllowed) => {
    const write = { object: frozen({ [REASON]: 'INC-1' }, { path: 'x' }), oldObject: frozen() };
    expect((await send(validateFlux, write, { objects: [closed], may })).allowed).toBe(isAllowed);
  });

  it.each([
    ['stays if its bypass has ended between the two calls', 'bypassing: shop/freeze', '1.1.0', true],
    ['of a held object is denied', 'closed: shop/freeze', '1.1.0', false],
    ['stays if the Gate closed between the two calls', 'open', '1.1.0', true],
    ['that another webhook set while the Gate closed is denied', 'open', '6', false],
  ])('a version %s', async (_, state, version, isAllowed) => {
    const bound = { 'rollout.kuberik.com/substitute.APP.from': 'my-app', 'gate.fluxcd.io/state': state };
    const at = (deployed: string, APP: string) =>
      kustomization({
        annotations: { ...annotations, ...bound },
        deployed,
        substitute: { APP },
        spec: { suspend: state.startsWith('closed') },
      });
    const oldObject = at(deployment('my-app', 1, '1.0.0'), '1.0.0');
    const write = { object: at(deployment('my-app', 2, '1.1.0'), version), oldObject };
    const answer = await send(validateFlux, write, { objects: [closed, rollout('my-app', '1.1.0', '1.0.0')] });
    expect(answer.allowed).toBe(isAllowed);
  });
});

it('warns once, in 120 characters, about an apply that is reverted, whatever the names', async () => {
  const name = 'a'.repeat(253);
  const old = kustomization({
    annotations: { 'gate.fluxcd.io/gates': name },
    managedFields: [owner('Apply', 'spec.path')],
    spec: { suspend: true, path: 'a' },
  });
  const object = { ...old, spec: { ...old.spec, path: 'b' } };
  const options = { fieldManager: 'kustomize-controller' };
  const answer = await send(mutateFlux, { object, oldObject: old, options }, { objects: [gate(`shop/${name}`)] });
  expect(answer.allowed).toBe(true);
  expect(answer.warnings).toHaveLength(1);
  expect(answer.warnings[0]!.length).toBeLessThanOrEqual(120);
});
