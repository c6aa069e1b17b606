/** The decorator that suspends and resumes: what it is sent, what it writes, and when it looks again. */
import { describe, expect, it } from 'vitest';
import type { FluxObject } from '../../../api/flux.ts';
import type { KubeObject } from '../../../api/kubernetes.ts';
import { fakeCluster, fakeHookCall } from '../../../dev/fakes/ports.ts';
import { holdHook } from '../../../hooks/flux/holdHook.ts';
import { gate, kustomization, NOW } from '../../core/admission/objects.ts';
import { controller, decorating } from '../../support/metacontroller.ts';

const SELECTED_BY = 'gate.fluxcd.io/selected-by';
const STATE = 'gate.fluxcd.io/state';
const GATES = 'gate.fluxcd.io/gates';

const named = kustomization({ annotations: { [GATES]: 'freeze' } });
const closed = gate('shop/freeze');
const opened = gate('shop/freeze', { default: 'opened' });
const everywhere = gate('ops/all', { selects: { namespaceSelector: {} } });
const inState = (state: string, annotations = {}) =>
  kustomization({ annotations: { [GATES]: 'freeze', [STATE]: state, ...annotations } });
const applied = (state: string) =>
  kustomization({
    annotations: { [GATES]: 'freeze', [STATE]: state },
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
  says: string;
  object: FluxObject;
  sent?: KubeObject<any, any>[];
  live?: KubeObject<any, any>[];
  writes?: Record<string, string | null>;
  again?: number;
}

const rows: Row[] = [
  {
    says: 'a Gate that it names has closed',
    object: named,
    sent: [closed],
    writes: { [STATE]: 'closed: shop/freeze' },
  },
  { says: 'it is held already', object: inState('closed: shop/freeze'), sent: [closed] },
  { says: 'its Gate is open', object: inState('open'), sent: [opened] },
  { says: 'its Gate is open, and it does not say so yet', object: named, sent: [opened], writes: { [STATE]: 'open' } },
  {
    says: 'its Gate has opened again',
    object: inState('closed: shop/freeze'),
    sent: [opened],
    writes: { [STATE]: 'open' },
  },
  {
    says: 'its Gate opens while it runs behind it',
    object: inState('passing: shop/freeze'),
    sent: [opened],
    writes: { [STATE]: 'open' },
  },
  {
    says: 'it waits for its applier: only the other decorator knows for how long',
    object: applied('opening: 2026-03-04T09:59:00.000Z'),
    sent: [opened],
  },
  {
    says: 'it waits, and nothing applies it any more',
    object: inState('opening: 2026-03-04T09:59:00.000Z'),
    sent: [opened],
    writes: { [STATE]: 'open' },
  },
  {
    says: 'it requires no Gate any more, and is suspended still',
    object: kustomization({ annotations: { [STATE]: 'closed: shop/freeze', 'gate.fluxcd.io/suspended': 'unset' } }),
    writes: { [STATE]: 'open' },
  },
  {
    says: 'it requires no Gate any more: no trace is left',
    object: kustomization({ annotations: { [STATE]: 'open' } }),
    writes: { [STATE]: null },
  },
  {
    says: 'its Gate closes while it waits for its applier',
    object: inState('opening: 2026-03-04T09:59:00.000Z'),
    sent: [closed],
    writes: { [STATE]: 'closed: shop/freeze' },
  },
  {
    says: 'a Gate begins to select it',
    object: kustomization({ annotations: {} }),
    sent: [everywhere, namespace],
    writes: { [SELECTED_BY]: 'ops/all', [STATE]: 'closed: ops/all' },
  },
  {
    says: 'the Gate that selected it is gone',
    object: kustomization({ annotations: { [SELECTED_BY]: 'ops/all' } }),
    writes: { [SELECTED_BY]: null },
  },
  { says: 'no Gate concerns it', object: kustomization({ annotations: {} }) },
  {
    says: 'a Gate that it has come to name is sent by no rule yet, and closed: it is read, and soon again',
    object: named,
    live: [closed],
    writes: { [STATE]: 'closed: shop/freeze' },
  },
  { says: 'the same, and open', object: inState('open'), live: [opened], again: 2 },
  { says: 'a Gate that does not exist counts as closed', object: named, writes: { [STATE]: 'closed: shop/freeze' } },
  { says: 'and is looked for each minute', object: inState('closed: shop/freeze'), again: 60 },
  {
    says: 'what names no Gate counts as closed',
    object: kustomization({ annotations: { [GATES]: 'a/b/c' } }),
    writes: { [STATE]: 'closed: (invalid)' },
  },
  { says: 'a bypass of this closing', object: inState('bypassed: shop/freeze'), sent: [closed] },
  {
    says: 'it passes for one deployment: only the webhook knows for how long',
    object: inState('passing: shop/freeze'),
    sent: [closed],
    writes: { [STATE]: 'closed: shop/freeze' },
    again: 60,
  },
  {
    says: 'it is being deleted',
    object: { ...named, metadata: { ...named.metadata, deletionTimestamp: '2026-03-04T09:00:00Z' } },
    sent: [closed],
  },
];

describe('the decorator that suspends and resumes', () => {
  it.each(rows)('$says', async ({ object, sent = [], live = [], writes, again: given }) => {
    // An event that Metacontroller has lost costs a minute.
    const quiet = sent.length > 0 && !object.metadata.deletionTimestamp ? 60 : undefined;
    const again = given ?? (writes ? 2 : quiet);
    const answer = await sync(object, sent, live);
    expect(answer).toMatchObject({ attachments: [] });
    expect(answer.annotations).toEqual(writes);
    expect(answer.resyncAfterSeconds).toBe(again);
    expect(answer).not.toHaveProperty('status');
  });

  it('looks again just after the edge at which its Gate closes by itself', async () => {
    const window = gate(
      'shop/freeze',
      { window: '30s' },
      { 'open.gate.fluxcd.io/requestedAt': '2026-03-04T09:59:45Z' },
    );
    expect((await sync(inState('open'), [window])).resyncAfterSeconds).toBe(16.5);
  });

  it('lists the Gates once where many come with no event, and reads none of them', async () => {
    const object = kustomization({ annotations: { [GATES]: 'freeze,a/x,b/x,c/x,d/x' } });
    const answer = await sync(object, [], [closed]);
    expect(answer.annotations).toEqual({ [STATE]: 'closed: a/x,b/x,c/x,d/x,shop/freeze' });
    expect(answer.read).toEqual(['gates/undefined']);
  });

  it('is sent Gates and the Namespace, whatever the object names', async () => {
    const annotations = { [GATES]: 'freeze', 'rollout.kuberik.com/substitute.APP.from': 'my-app' };
    const { call } = fakeHookCall({ now: NOW, objects: [everywhere] });
    const parent = kustomization({ annotations }) as KubeObject;
    const { relatedResources } = await holdHook.customize!({ controller, parent }, call);
    expect(new Set(relatedResources.map(({ resource }) => resource))).toEqual(new Set(['gates', 'namespaces']));
  });

  it('has the webhook look itself where a request is too large to be read', () => {
    expect(holdHook.unseen!()).toEqual({
      attachments: [],
      annotations: { [SELECTED_BY]: '(too-many)', [STATE]: 'closed: (too-many)' },
      resyncAfterSeconds: 60,
    });
  });
});
