/**
 * The decorator's report with the Rollouts that it relates and the Gates that it reads, next to the report of the
 * FluxBinding.
 */
import { describe, expect, it } from 'vitest';
import { DEPLOYED } from '../../../api/annotations.ts';
import type { FluxObject } from '../../../api/flux.ts';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { FluxBinding, FluxBindingStatus, Gate } from '../../../api/types.ts';
import { fakeHookCall } from '../../../dev/fakes/ports.ts';
import { controller, decorating } from '../../../dev/fakes/requests.ts';
import { fluxBindingHook } from '../../../hooks/flux/fluxBindingHook.ts';
import { fluxHook } from '../../../hooks/flux/fluxHook.ts';
import { createSharedReads } from '../../../server/cluster/sharedReads.ts';
import {
  deployment,
  gate,
  helmRelease,
  kustomization,
  NOW,
  ociRepository,
  rollout,
} from '../../core/admission/objects.ts';
import { Cluster } from './cluster.ts';

const named = { 'gate.fluxcd.io/gates': 'freeze' };
const managed = { 'rollout.kuberik.com/substitute.APP.from': 'my-app' };
const at1 = { deployed: deployment('my-app', 1, '1.0.0'), substitute: { APP: '1.0.0' } };
const twoDeployed = rollout('my-app', '1.1.0', '1.0.0');
const closed = gate('shop/freeze');
const opened = gate('shop/freeze', { default: 'opened' });
const reported = (opened: boolean): FluxBindingStatus => ({ gates: [{ namespace: 'shop', name: 'freeze', opened }] });
const atOne: FluxBindingStatus = {
  deployed: deployment('my-app', 1, '1.0.0'),
  fields: [{ rollout: 'my-app', variable: 'APP', state: 'Applied', id: 1, version: '1.0.0', uid: 'uid-my-app' }],
};

interface Row {
  title: string;
  object: FluxObject;
  sent?: KubeObject<any, any>[];
  /** The Gates there are. */
  gates?: Gate[];
  /** The report of a binding that no other hook has seen. */
  binding?: FluxBindingStatus;
  /** The annotation that triggers the webhook. */
  asks?: Record<string, unknown>;
  /** The binding has the decorator's report, and relates Rollouts and Gates only without one. */
  tells?: boolean;
}

const when = (title: string, object: FluxObject, rest: Omit<Row, 'title' | 'object'>): Row => ({
  title,
  object,
  ...rest,
});
const asksFor = (id: number, version: string) => ({ [DEPLOYED]: deployment('my-app', id, version) });

const rows: Row[] = [
  when('a Rollout that it is sent has deployed something, and the binding does not say so yet', kustomization(at1), {
    sent: [twoDeployed],
    binding: atOne,
    asks: asksFor(2, '1.1.0'),
  }),
  when('the tag of an OCIRepository', ociRepository({ tag: '1.0.0' }, { deployed: deployment('my-app', 1, '1.0.0') }), {
    sent: [twoDeployed],
    asks: asksFor(2, '1.1.0'),
  }),
  when(
    'a Gate has closed, and the binding says that it is open: the other decorator suspends',
    kustomization({ annotations: named }),
    { gates: [closed], binding: reported(true) },
  ),
  when(
    'a version that arrives with its source follows the source, which only the binding relates',
    kustomization({ ...at1, spec: { sourceRef: { kind: 'OCIRepository', name: 'web' } } }),
    { sent: [twoDeployed], binding: atOne, tells: false },
  ),
  when('a HelmRelease has no field to bring up to date', helmRelease(), { sent: [twoDeployed], tells: false }),
];

describe('the Flux decorator relates the objects that the annotations name', () => {
  it.each(rows)('$title', async ({ object, sent = [], gates = [], binding: status, asks, tells = true }) => {
    const { call } = fakeHookCall({ now: NOW, objects: gates });
    const sync = (attachments: KubeObject<any, any>[], related: KubeObject<any, any>[]) =>
      fluxHook.sync(decorating(object, { related, attachments }), call);
    const [binding] = (await sync([], [])).attachments as FluxBinding[];
    const answer = await sync(status && binding ? [{ ...binding, status }] : [], sent);
    expect(answer.annotations).toEqual(asks && expect.objectContaining(asks));
    expect((answer.attachments[0] as FluxBinding).spec?.report !== undefined).toBe(tells);
  });

  it('relates the Rollouts that it names, and no Gate: in a freeze of many it is not woken before they are written', async () => {
    const { call } = fakeHookCall({ now: NOW });
    const parent = kustomization({ annotations: { ...managed, ...named } }) as KubeObject;
    const { relatedResources } = await fluxHook.customize!({ controller, parent }, call);
    expect(relatedResources.map(({ resource, namespace, names }) => [resource, namespace, names])).toEqual([
      ['rollouts', 'shop', ['my-app']],
    ]);
  });
});

describe('the Gates of many objects are read once a second', () => {
  it.each([
    ['an object that was suspended since then', 'closed: shop/freeze', false],
    ['one that has not is not asked for twice', 'open', true],
  ])('%s', async (_, state, opens) => {
    let passed = 0;
    const sharedReads = createSharedReads(() => passed);
    const syncAfter = async (ms: number, gate: Gate, state: string) => {
      passed = ms;
      const object = kustomization({ annotations: { ...named, 'gate.fluxcd.io/state': state } });
      const { call } = fakeHookCall({ now: NOW, objects: [gate] });
      const { attachments } = await fluxHook.sync(decorating(object), { ...call, sharedReads });
      const [binding] = attachments as FluxBinding[];
      return binding?.spec?.report?.gates?.[0]?.opened;
    };
    expect(await syncAfter(0, opened, 'open')).toBe(true);
    expect(await syncAfter(500, closed, state)).toBe(opens);
  });
});

describe('a FluxBinding with the decorator’s report', () => {
  const object = kustomization({ ...at1, annotations: { ...managed, ...named } });
  const { call } = fakeHookCall({ now: NOW });
  const tell = async (...gates: Gate[]) => {
    const asked = decorating(object, { related: [twoDeployed] });
    const [binding] = (await fluxHook.sync(asked, fakeHookCall({ now: NOW, objects: gates }).call)).attachments;
    return binding as FluxBinding;
  };

  it('relates no Rollout and no Gate', async () => {
    const resources = async (parent: FluxBinding) =>
      (await fluxBindingHook.customize!({ controller, parent }, call)).relatedResources.map(({ resource }) => resource);
    expect(await resources(await tell(opened))).toEqual(['gitrepositories']);
    expect(await resources(await tell())).toEqual(['rollouts', 'gates', 'gitrepositories']);
  });

  it('has the content of the report', async () => {
    const parent = await tell(closed);
    const { status } = await fluxBindingHook.sync(
      { controller, parent, children: {}, related: {}, finalizing: false },
      call,
    );
    expect(status).toMatchObject({
      fields: [{ rollout: 'my-app', state: 'Waiting', id: 2, version: '1.1.0', uid: 'uid-my-app' }],
      gates: [{ namespace: 'shop', name: 'freeze', opened: false }],
    });
  });
});

describe('the condition of a held object', () => {
  it.each([
    { closedAt: '2026-03-04T09:59:58Z', isWritten: false, again: 13.5 },
    { closedAt: '2026-03-04T09:59:45Z', isWritten: true, again: 1 },
  ])(
    'is not updated in the first seconds, in which all objects are suspended: closed at $closedAt, updated: $isWritten',
    async (row) => {
      const cluster = await Cluster.settled(kustomization({ annotations: named }), { gates: [closed] });
      const conditions = [
        { type: 'Opened', status: 'False', reason: 'x', message: '', lastTransitionTime: row.closedAt },
      ];
      cluster.gates = [{ ...closed, status: { conditions } } as Gate];
      cluster.object = { ...cluster.object, status: {} };
      const answer = await cluster.decorate();
      expect(answer.status !== undefined).toBe(row.isWritten);
      expect(answer.resyncAfterSeconds).toBe(row.again);
    },
  );
});
