import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Gate, GateStatus } from '../../api/types.ts';
import { fakeCluster, fakeHookCall } from '../../dev/fakes/ports.ts';
import { composing } from '../../dev/fakes/requests.ts';
import { gateHook } from '../../hooks/gateHook.ts';
import { gate } from '../core/gate/gate.ts';
import { namespaceOf, objectOf } from '../support/objects.ts';

const OPEN = 'open.gate.fluxcd.io/requestedAt';
const T = (time: string) => `2021-03-26T${time}Z`;

async function sync(parent: Gate, { at, ...around }: { at: string } & Omit<Parameters<typeof fakeHookCall>[0], 'now'>) {
  const { call, events } = fakeHookCall({ now: Date.parse(at), ...around });
  const { status, resyncAfterSeconds } = await gateHook.sync(composing(parent), call);
  return { status: status as GateStatus, resyncAfterSeconds: resyncAfterSeconds!, events };
}

const hour: Gate['spec'] = { interval: '30s', default: 'closed', window: '1h' };

it('a Gate doesn’t report approvals of a Rollout that is gone or was re-created', async () => {
  const rollout = (name: string) =>
    objectOf('Rollout', `apps/${name}`, { metadata: { uid: `uid-${name}` }, spec: { releasesImagePolicy: {} } });
  const given = ['living:uid-living', 'anew:uid-before', 'gone:uid-gone'].map((each) => {
    const [name, uid] = each.split(':');
    return { version: '1.0.0', rollout: `apps/${name}`, uid, by: 'alice', at: T('09:00:00') };
  });
  const parent = gate(
    { default: 'closed', approvals: { required: 1 } },
    { 'gate.fluxcd.io/approvals': JSON.stringify({ given }) },
  );
  const { status } = await sync(parent, { at: T('09:01:00'), objects: [rollout('living'), rollout('anew')] });
  expect(status.approvals?.versions?.map((each) => each.rollout)).toEqual(['apps/living']);
});

describe('the status of a Gate', () => {
  it('is the RFC’s, for a new gate', async () => {
    const { status } = await sync(gate(hour), { at: T('09:00:00') });
    expect(status).toEqual({
      observedGeneration: 1,
      requiredByCount: 0,
      conditions: [
        {
          lastTransitionTime: T('09:00:00'),
          message: 'Gate closed by default',
          reason: 'ReconciliationSucceeded',
          status: 'False',
          type: 'Opened',
        },
        {
          lastTransitionTime: T('09:00:00'),
          message: 'Gate closed by default',
          observedGeneration: 1,
          reason: 'GateClosed',
          status: 'False',
          type: 'Ready',
        },
      ],
    });
  });

  it('has an opening for one version as a field of its own, with user, reason and end', async () => {
    const exception = { action: 'open', at: T('10:00:00'), by: 'alice', reason: 'CHG-1', for: '1.2.0' };
    const copy = JSON.stringify({ exception, handled: {} });
    const { status } = await sync(gate(hour, { 'gate.fluxcd.io/accepted-request': copy }), { at: T('10:00:01') });
    expect(status.exception).toEqual({ ...exception, until: T('11:00:00') });
    for (const ofState of ['request', 'requestedAt', 'nextTransition', 'openedBy', 'reason'])
      expect(status).not.toHaveProperty(ofState);
    expect(status.conditions?.[0]).toMatchObject({
      status: 'False',
      message: `Gate closed by default; open for version '1.2.0' until ${T('11:00:00')}, opened by alice: CHG-1`,
    });
  });

  it('names no user once the request is over; the request stays as a record', async () => {
    const current = { action: 'close', at: T('10:00:00'), by: 'alice', reason: 'INC-42' };
    const copy = JSON.stringify({ current, handled: {} });
    const maintenance = gate({ ...hour, default: 'opened' }, { 'gate.fluxcd.io/accepted-request': copy });
    const { status: held } = await sync(maintenance, { at: T('10:59:59') });
    expect(held).toMatchObject({ closedBy: 'alice', reason: 'INC-42' });
    expect(held.conditions?.[0]?.message).toBe(
      `Gate scheduled for opening at ${T('11:00:00')}, closed by alice: INC-42`,
    );
    const { status } = await sync({ ...maintenance, status: held }, { at: T('11:00:00') });
    expect(status).toMatchObject({ request: { by: 'alice', reason: 'INC-42' } });
    expect(status).not.toHaveProperty('closedBy');
    expect(status).not.toHaveProperty('reason');
    expect(status.conditions?.[0]?.message).toBe('Gate opened by default');
  });

  it('keeps conditions of others, and drops Stalled when the cause is gone', async () => {
    const foreign = {
      type: 'Seen',
      status: 'True' as const,
      reason: 'X',
      message: '',
      lastTransitionTime: T('08:00:00'),
    };
    const bad = { ...gate(hour, { [OPEN]: 'now' }), status: { conditions: [foreign] } };
    const { status } = await sync(bad, { at: T('09:00:00') });
    expect(status.conditions?.map(({ type, reason }) => [type, reason])).toEqual([
      ['Seen', 'X'],
      ['Opened', 'ReconciliationSucceeded'],
      ['Stalled', 'InvalidRequest'],
      ['Ready', 'GateClosed'],
    ]);
    const mended = await sync({ ...gate(hour), status }, { at: T('09:00:05') });
    expect(mended.status.conditions?.map(({ type }) => type)).toEqual(['Seen', 'Opened', 'Ready']);
  });

  it('reports that it selects beyond its namespace if that is forbidden, and stays as closed as it was', async () => {
    const wide = gate({ default: 'closed', selects: { namespaceSelector: {} } });
    const { status } = await sync(wide, { at: T('09:00:00'), settings: { noCrossNamespaceRefs: true } });
    expect(status.conditions).toMatchObject([
      { type: 'Opened', status: 'False' },
      { type: 'Stalled', status: 'True', message: expect.stringContaining('NO_CROSS_NAMESPACE_REFS') },
      { type: 'Ready', status: 'False' },
    ]);
    const allowed = await sync(wide, { at: T('09:00:00') });
    expect(allowed.status.conditions).toMatchObject([
      { type: 'Opened', status: 'False' },
      { type: 'Ready', status: 'False' },
    ]);
  });
});

describe('any requests, and no webhook to keep their order', () => {
  const seconds = fc.integer({ min: -7200, max: 7200 });
  const now = Date.parse(T('12:00:00'));
  const at = (offset: number) => new Date(now + offset * 1000).toISOString();

  it('a second sync before the next edge changes nothing', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('opened' as const, 'closed' as const),
        fc.option(fc.constantFrom('0s', '1m', '1h'), { nil: undefined }),
        fc.option(seconds, { nil: undefined }),
        fc.option(seconds, { nil: undefined }),
        fc.integer({ min: 0, max: 120_000 }),
        async (fallback, window, open, close, later) => {
          // Only the webhook has the order of two planned requests.
          fc.pre(!(open !== undefined && open > 60 && close !== undefined && close > 60));
          const annotations: Record<string, string> = {};
          if (open !== undefined) annotations[OPEN] = at(open);
          if (close !== undefined) annotations['close.gate.fluxcd.io/requestedAt'] = at(close);
          const asked = gate({ default: fallback, ...(window && { window }) }, annotations);
          const first = (await sync(asked, { at: at(0) })).status;
          const edge = Math.min(
            ...[first.nextTransition, first.planned?.at, '2099-01-01T00:00:00Z'].flatMap((time) =>
              time ? [Date.parse(time)] : [],
            ),
          );
          const second = await sync(
            { ...asked, status: first },
            { at: new Date(Math.min(now + later, edge - 1)).toISOString() },
          );
          expect(second.status).toEqual(first);
        },
      ),
      { numRuns: 300 },
    );
  });
});

describe('the next requeue', () => {
  it.each([
    ['at the edge, exactly', '10:59:47', 13],
    ['at the edge, from within a second', '10:59:59.750', 0.25],
    ['after at most the interval, and not much less', '10:00:00', [27, 30]],
  ])('%s', async (_rule, at, seconds) => {
    const { resyncAfterSeconds } = await sync(gate(hour, { [OPEN]: T('10:00:00') }), { at: T(at) });
    const [low, high] = [seconds].flat() as [number, number?];
    expect(resyncAfterSeconds).toBeGreaterThanOrEqual(low);
    expect(resyncAfterSeconds).toBeLessThanOrEqual(high ?? low);
  });

  it.each([
    ['1s', [27, 30]],
    ['45s', [40.5, 45]],
    ['2h', [3240, 3600]],
  ] as const)('with an interval of %s comes after 30 seconds to an hour', async (interval, [low, high]) => {
    const { resyncAfterSeconds } = await sync(gate({ default: 'closed', interval }), { at: T('10:00:00') });
    expect(resyncAfterSeconds).toBeGreaterThanOrEqual(low);
    expect(resyncAfterSeconds).toBeLessThanOrEqual(high);
  });

  it('is spread over Gates, but always the same for one', async () => {
    const delays = await Promise.all(
      ['a', 'b', 'c', 'a'].map(
        async (uid) => (await sync(gate(hour, undefined, { uid }), { at: T('09:00:00') })).resyncAfterSeconds,
      ),
    );
    expect(new Set(delays).size).toBe(3);
    expect(delays[0]).toBe(delays[3]);
  });
});

describe('the objects that it holds', () => {
  const binding = (name: string) =>
    objectOf('FluxBinding', `apps/${name}`, {
      spec: {
        target: { apiVersion: 'kustomize.toolkit.fluxcd.io/v1', kind: 'Kustomization', name, uid: 'u' },
        gates: [{ namespace: 'platform', gate: 'freeze' }],
      },
    });

  it('is counted', async () => {
    const objects = Array.from({ length: 1000 }, (_, i) => binding(`app-${i}`));
    const { status } = await sync(gate(hour), { at: T('09:00:00'), objects });
    expect(status).toMatchObject({ requiredByCount: 1000 });
    expect(status.requiredBy).toHaveLength(100);
    expect(status.requiredBy?.[0]).toEqual({ kind: 'Kustomization', namespace: 'apps', name: 'app-0' });
  });

  const rollout = (name: string, namespace: string, gates: { name: string; namespace?: string }[] = []) =>
    objectOf('Rollout', `${namespace}/${name}`, {
      metadata: { labels: { app: name } },
      spec: { releasesImagePolicy: {}, gates },
    });

  it('are the Rollouts that name it, and those that it selects, each once', async () => {
    const objects = [
      namespaceOf('shop', { labels: { env: 'production' } }),
      namespaceOf('lab', { labels: { env: 'test' } }),
      binding('web'),
      rollout('named', 'lab', [{ name: 'freeze', namespace: 'platform' }]),
      rollout('namesake', 'lab', [{ name: 'freeze' }]),
      rollout('selected', 'shop'),
      rollout('both', 'shop', [{ name: 'freeze', namespace: 'platform' }]),
      rollout('other', 'lab'),
    ];
    const selects = { kinds: ['Rollout' as const], namespaceSelector: { matchLabels: { env: 'production' } } };
    const { status } = await sync(gate({ default: 'opened', selects }), { at: T('09:00:00'), objects });
    expect(status.requiredByCount).toBe(4);
    expect(status.requiredBy?.map(({ kind, namespace: ns, name }) => `${kind} ${ns}/${name}`)).toEqual([
      'Kustomization apps/web',
      'Rollout lab/named',
      'Rollout shop/both',
      'Rollout shop/selected',
    ]);
  });

  describe('the objects that report its closing', () => {
    const inNamespace = (name: string) => ({
      ...binding(`${name}-app`),
      metadata: { name: `kustomization-${name}`, namespace: name },
    });
    async function closing() {
      const opened = gate({ ...hour, default: 'opened' });
      const { status } = await sync(opened, { at: T('09:00:00') });
      const current = { action: 'close', at: T('10:00:00'), by: 'alice', reason: 'INC-42' };
      const copy = JSON.stringify({ current, handled: {} });
      const closed = gate(opened.spec, { 'gate.fluxcd.io/accepted-request': copy });
      const objects = ['apps', 'platform', 'shop'].map(inNamespace);
      return (await sync({ ...closed, status }, { at: T('10:00:01'), objects })).events;
    }

    it('are one object in each namespace, its own first; the others’ texts have neither requester nor reason', async () => {
      const events = await closing();
      const notified = events.filter(({ quiet }) => !quiet);
      expect(notified).toMatchObject([
        {
          reason: 'GateClosed',
          message: expect.stringContaining('closed by alice: INC-42'),
          forOthers: expect.not.stringMatching(/alice|INC-42/),
          involvedObjects: ['platform', 'apps', 'shop'].map((ns) => ({
            kind: 'Kustomization',
            namespace: ns,
            name: `${ns}-app`,
          })),
        },
      ]);
      expect(events.map(({ reason }) => reason)).toEqual(['CloseRequested', 'GateClosed']);
    });

    it('are the earlier ones if the cluster does not answer', async () => {
      const requiredBy = [{ kind: 'Rollout', namespace: 'platform', name: 'web' }];
      const before = (await sync(gate({ ...hour, default: 'opened' }), { at: T('09:00:00') })).status;
      const listMetadata = () => Promise.reject(new Error('etcd is gone'));
      const { events } = await sync(
        { ...gate(hour), status: { ...before, requiredBy } },
        { at: T('10:00:01'), cluster: { ...fakeCluster([]), listMetadata } },
      );
      expect(events).toMatchObject([{ reason: 'GateClosed', involvedObjects: requiredBy }]);
    });
  });

  it.each([
    ['the Gate is new', { creationTimestamp: T('09:00:00') }, true],
    ['it was written', { managedFields: [{ manager: 'kubectl', time: T('09:00:00') }] }, true],
    ['only its status was written', { managedFields: [{ time: T('09:00:00'), subresource: 'status' }] }, false],
    ['that was a minute ago', { creationTimestamp: T('08:59:30') }, false],
  ])('is counted again soon while %s', async (_, metadata, soon) => {
    const long = gate({ default: 'opened', interval: '1h' }, undefined, metadata);
    const { resyncAfterSeconds } = await sync(long, { at: T('09:00:30') });
    if (soon) expect(resyncAfterSeconds).toBeLessThanOrEqual(5);
    else expect(resyncAfterSeconds).toBeGreaterThan(3000);
  });

  const large = (count: number, annotations: Record<string, string>) =>
    Array.from({ length: count }, (_, i) =>
      objectOf('Kustomization', `apps/large-${i}`, { metadata: { annotations } }),
    );

  it.each([
    ['counted, however large other objects are', { 'x/a': 'y'.repeat(100_000) }, 1],
    [
      'those of before while objects name too many Gates to be kept',
      { 'gate.fluxcd.io/gates': 'y'.repeat(100_000) },
      7,
    ],
  ])('is %s', async (_, annotations, held) => {
    const parent = { ...gate(hour), status: { requiredByCount: 7 } };
    const objects = [binding('web'), ...large(400, annotations)];
    expect((await sync(parent, { at: T('09:00:00'), objects })).status.requiredByCount).toBe(held);
  });

  it('is not listed again for each Gate while they are too large', async () => {
    const cluster = fakeCluster(large(400, { 'gate.fluxcd.io/gates': 'y'.repeat(100_000) }));
    const { call } = fakeHookCall({ now: Date.parse(T('09:00:00')), cluster });
    await gateHook.sync(composing(gate(hour)), call);
    const lists = cluster.requests.length;
    await gateHook.sync(composing(gate(hour)), call);
    expect(cluster.requests).toHaveLength(lists);
  });
});

describe('Events', () => {
  it('report a request and a flip once each', async () => {
    const before = (await sync(gate(hour), { at: T('09:00:00') })).status;
    const copy = JSON.stringify({
      current: { action: 'open', at: T('10:00:00'), by: 'alice', reason: 'CHG-1' },
      handled: {},
    });
    const opened = gate(hour, { 'gate.fluxcd.io/accepted-request': copy });
    const first = await sync({ ...opened, status: before }, { at: T('10:00:00') });
    expect(first.events.map(({ reason, message }) => [reason, message])).toEqual([
      ['OpenRequested', 'Gate open requested by alice: CHG-1'],
      ['GateOpened', 'Gate scheduled for closing at 2021-03-26T11:00:00Z, opened by alice: CHG-1'],
    ]);
    expect((await sync({ ...opened, status: first.status }, { at: T('10:00:01') })).events).toEqual([]);
    const over = await sync({ ...opened, status: first.status }, { at: T('11:00:00') });
    expect(over.events.map(({ reason }) => reason)).toEqual(['GateClosed']);
  });

  it.each([
    ['open', 'OpenPlanned'],
    ['close', 'ClosePlanned'],
  ])('report a request to %s that is planned, once', async (action, reason) => {
    const copy = JSON.stringify({ planned: { action, at: T('12:00:00'), by: 'alice' }, handled: {} });
    const asked = gate(hour, { 'gate.fluxcd.io/accepted-request': copy });
    const first = await sync(asked, { at: T('10:00:00') });
    expect(first.events.map((event) => event.reason)).toEqual([reason]);
    expect((await sync({ ...asked, status: first.status }, { at: T('10:00:01') })).events).toEqual([]);
  });

  it.each([
    ['10:00:00', 'OpenRequested', "Gate open requested for version '1.2.0' by alice"],
    ['12:00:00', 'OpenPlanned', "Gate open planned for 2021-03-26T12:00:00Z for version '1.2.0' by alice"],
  ])('report an opening for one version at %s, once', async (at, reason, message) => {
    const copy = JSON.stringify({ exception: { action: 'open', at: T(at), by: 'alice', for: '1.2.0' }, handled: {} });
    const asked = gate(hour, { 'gate.fluxcd.io/accepted-request': copy });
    const first = await sync(asked, { at: T('10:00:00') });
    expect(first.events.map((event) => [event.reason, event.message])).toEqual([[reason, message]]);
    expect((await sync({ ...asked, status: first.status }, { at: T('10:00:01') })).events).toEqual([]);
  });

  it('report a planned closure that a request cancels', async () => {
    const recorded = (record: object) =>
      gate(hour, { 'gate.fluxcd.io/accepted-request': JSON.stringify({ ...record, handled: {} }) });
    const planned = { action: 'close', at: T('16:00:00'), by: 'sre' };
    const { status } = await sync(recorded({ planned }), { at: T('09:00:00') });
    const opened = recorded({ current: { action: 'open', at: T('10:00:00'), by: 'alice' } });
    const { events } = await sync({ ...opened, status }, { at: T('10:00:00') });
    expect(events[0]?.message).toBe(
      'Gate open requested by alice; cancels the closure planned for 2021-03-26T16:00:00Z by sre',
    );
  });
});
