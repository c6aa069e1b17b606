/** The decorator that suspends and resumes: its related objects, its writes and its next sync. */
import { describe, expect, it } from 'vitest';
import type { FluxObject } from '../../../api/flux.ts';
import type { KubeObject } from '../../../api/kubernetes.ts';
import { fakeCluster, fakeHookCall } from '../../../dev/fakes/ports.ts';
import { controller, decorating } from '../../../dev/fakes/requests.ts';
import { holdHook } from '../../../hooks/flux/holdHook.ts';
import { gate, kustomization, NOW } from '../../core/admission/objects.ts';

const SELECTED_BY = 'gate.fluxcd.io/selected-by';
const STATE = 'gate.fluxcd.io/state';
const GATES = 'gate.fluxcd.io/gates';

const named = kustomization({ annotations: { [GATES]: 'freeze' } });
const closed = gate('shop/freeze');
const opened = gate('shop/freeze', { default: 'opened' });
const everywhere = gate('ops/all', { selects: { namespaceSelector: {} } });
const inState = (state: string, annotations = {}) =>
  kustomization({ annotations: { [GATES]: 'freeze', [STATE]: state, ...annotations } });
const applied = (state: string, annotations = {}, spec = {}) =>
  kustomization({
    spec,
    annotations: { [GATES]: 'freeze', [STATE]: state, ...annotations },
    labels: { 'kustomize.toolkit.fluxcd.io/name': 'apps', 'kustomize.toolkit.fluxcd.io/namespace': 'flux-system' },
  });
const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', labels: {} } };

async function sync(object: FluxObject, sent: KubeObject<any, any>[], live: KubeObject<any, any>[] = []) {
  const cluster = fakeCluster(live);
  const { call } = fakeHookCall({ now: NOW, cluster });
  const answer = await holdHook.sync(decorating(object, { related: sent }), call);
  return { ...answer, read: cluster.requests.map(({ resource, name }) => `${resource}/${name}`) };
}

interface Row {
  title: string;
  object: FluxObject;
  sent?: KubeObject<any, any>[];
  live?: KubeObject<any, any>[];
  writes?: Record<string, string | null>;
  again?: number;
}

const when = (
  title: string,
  object: FluxObject,
  sent: Row['sent'] = [],
  writes?: Row['writes'],
  rest: Pick<Row, 'live' | 'again'> = {},
): Row => ({ title, object, sent, ...(writes && { writes }), ...rest });
/** As the webhook stores an object that a Gate suspends. */
const suspended = (state: string, annotations = {}) => {
  const object = inState(state, { 'gate.fluxcd.io/suspended': 'unset', ...annotations });
  return { ...object, spec: { ...object.spec, suspend: true } };
};
const unsuspended = ({ spec, ...object }: FluxObject): FluxObject => ({ ...object, spec: { ...spec, suspend: false } });
const SHUT = { [STATE]: 'closed@2026-03-04T10:00:00Z' };
const OPEN = { [STATE]: 'open@2026-03-04T10:00:00Z' };

const rows: Row[] = [
  when('a Gate that it names has closed', named, [closed], SHUT),
  when('it is held already', suspended('closed: shop/freeze'), [closed]),
  when('its mark of this minute did not reach the webhook', inState('closed@2026-03-04T10:00:00Z'), [closed]),
  when('nor did that of the minute before', inState('closed@2026-03-04T09:59:00Z'), [closed], SHUT),
  when('nor did that of an older version', inState('closed: shop/freeze@2026-03-04T09:59:00Z'), [closed], SHUT),
  when('a client resumed it while the webhook was away', unsuspended(suspended('closed: shop/freeze')), [closed], SHUT),
  when('its Gate is open', inState('open'), [opened]),
  when('its Gate is open, and it does not say so yet', named, [opened], OPEN),
  when('its Gate has opened again', suspended('closed: shop/freeze'), [opened], OPEN),
  when('the mark of the opening did not reach the webhook', suspended('open@2026-03-04T09:59:00Z'), [opened], OPEN),
  when('nor did that of an older version, without a minute', suspended('open'), [opened], OPEN),
  when(
    'its Gate is open, and its source still fetches the version',
    suspended('open', { 'rollout.kuberik.com/awaits-artifact': 'my-app=1/1.0.0/u' }),
    [opened],
  ),
  when(
    'the same, and it requires no Gate',
    kustomization({
      annotations: { 'rollout.kuberik.com/awaits-artifact': 'my-app=1/1.0.0/u', 'gate.fluxcd.io/suspended': 'unset' },
    }),
  ),
  when('that mark did not, and a client has resumed it since', inState('open@2026-03-04T09:59:00Z'), [opened], OPEN),
  when('its Gate opens while it runs behind it', inState('bypassing: shop/freeze'), [opened], OPEN),
  when(
    'it waits for its applier: only the other decorator knows for how long',
    applied('opening: 2026-03-04T09:59:00.000Z', { 'gate.fluxcd.io/suspended': 'unset' }, { suspend: true }),
    [opened],
  ),
  when('a client has resumed it while it waited', applied('opening: 2026-03-04T09:59:00.000Z'), [opened], OPEN),
  when('it waits, and nothing applies it any more', inState('opening: 2026-03-04T09:59:00.000Z'), [opened], OPEN),
  when(
    'it requires no Gate any more, and is suspended still',
    kustomization({
      annotations: { [STATE]: 'closed: shop/freeze', 'gate.fluxcd.io/suspended': 'unset' },
      spec: { suspend: true },
    }),
    [],
    OPEN,
  ),
  when('it requires no Gate any more: no trace is left', kustomization({ annotations: { [STATE]: 'open' } }), [], {
    [STATE]: null,
  }),
  when('its Gate closes while it waits for its applier', inState('opening: 2026-03-04T09:59:00.000Z'), [closed], SHUT),
  when('a Gate begins to select it', kustomization({ annotations: {} }), [everywhere, namespace], {
    [SELECTED_BY]: 'ops/all',
    ...SHUT,
  }),
  when('the Gate that selected it is gone', kustomization({ annotations: { [SELECTED_BY]: 'ops/all' } }), [], {
    [SELECTED_BY]: null,
  }),
  when('no Gate concerns it', kustomization({ annotations: {} })),
  when('the same, and open', inState('open'), [], undefined, { live: [opened], again: 2 }),
  when(
    'some of its Gates are never related, because they are in more than three namespaces',
    suspended('closed: a/x,b/x,c/x', { [GATES]: 'freeze,a/x,b/x,c/x' }),
    [],
    undefined,
    { live: [opened], again: 10 },
  ),
  when('a Gate that does not exist counts as closed', named, [], SHUT),
  when('and is looked for each minute', suspended('closed: shop/freeze'), [], undefined, { again: 60 }),
  when('a bypass of this closure', inState('bypassed: shop/freeze'), [closed]),
  when(
    'it passes for one deployment: only the webhook knows for how long',
    inState('bypassing: shop/freeze'),
    [closed],
    SHUT,
    { again: 60 },
  ),
  when(
    'it is being deleted',
    { ...named, metadata: { ...named.metadata, deletionTimestamp: '2026-03-04T09:00:00Z' } },
    [closed],
  ),
];

describe('the decorator that suspends and resumes', () => {
  it.each(rows)('$title', async ({ object, sent = [], live = [], writes, again: given }) => {
    // If Metacontroller loses an event, the change is handled within a minute.
    const quiet = sent.length > 0 && !object.metadata.deletionTimestamp ? 60 : undefined;
    const again = given ?? (writes ? 1 : quiet);
    const answer = await sync(object, sent, live);
    expect(answer).toMatchObject({ attachments: [] });
    expect(answer.annotations).toEqual(writes);
    expect(answer.resyncAfterSeconds).toBe(again);
    expect(answer).not.toHaveProperty('status');
  });

  it('is synced again just after the time at which its Gate closes by itself', async () => {
    const window = gate(
      'shop/freeze',
      { window: '30s' },
      { 'open.gate.fluxcd.io/requestedAt': '2026-03-04T09:59:45Z' },
    );
    expect((await sync(inState('open'), [window])).resyncAfterSeconds).toBe(16.5);
  });

  it('of many objects read an unrelated Gate once in a second', async () => {
    const cluster = fakeCluster([opened]);
    const { call } = fakeHookCall({ now: NOW, cluster });
    for (const name of ['web', 'api', 'db']) {
      const object = { ...inState('open'), metadata: { ...inState('open').metadata, name } };
      await holdHook.sync(decorating(object), call);
    }
    expect(cluster.requests.map(({ verb, name }) => `${verb} ${name}`)).toEqual(['get freeze']);
  });

  it('lists the Gates once for many objects without an event, and reads none of them', async () => {
    const object = kustomization({ annotations: { [GATES]: 'freeze,a/x,b/x,c/x,d/x' } });
    const answer = await sync(object, [], [closed]);
    expect(answer.annotations).toEqual(SHUT);
    expect(answer.read).toEqual(['gates/undefined']);
  });

  it('reads its Gates one by one where those of a tenant are too large to be listed', async () => {
    const object = kustomization({ annotations: { [GATES]: 'freeze,x,y,z' } });
    const large = Array.from({ length: 150 }, (_, i) => gate(`tenant/g-${i}`, {}, { 'x/a': 'x'.repeat(60_000) }));
    const answer = await sync(object, [], [...large, closed]);
    expect(answer.annotations).toEqual(SHUT);
    expect(answer.read).toEqual(['gates/undefined', 'gates/freeze', 'gates/x', 'gates/y', 'gates/z']);
  });

  it('is sent Gates and the Namespace, whatever the object names', async () => {
    const annotations = { [GATES]: 'freeze', 'rollout.kuberik.com/substitute.APP.from': 'my-app' };
    const { call } = fakeHookCall({ now: NOW, objects: [everywhere] });
    const parent = kustomization({ annotations }) as KubeObject;
    const { relatedResources } = await holdHook.customize!({ controller, parent }, call);
    expect(new Set(relatedResources.map(({ resource }) => resource))).toEqual(new Set(['gates', 'namespaces']));
  });

  it('lets the webhook read the Gates if a request is too large, once a minute if the mark does not reach it', () => {
    expect(holdHook.answerTooLarge!(NOW)).toEqual({
      attachments: [],
      annotations: { [SELECTED_BY]: '(too-many)', ...SHUT },
      resyncAfterSeconds: 60,
    });
  });
});
