import { describe, expect, it } from 'vitest';
import { DEPLOYED } from '../../../api/annotations.ts';
import type { FluxObject } from '../../../api/flux.ts';
import type { Rollout } from '../../../api/types.ts';
import { fakeWebhookCall } from '../../../dev/fakes/ports.ts';
import { mutateFlux, validateFlux } from '../../../webhooks/flux/fluxAdmission.ts';
import {
  APP_PATH,
  deployment,
  gate,
  helmRelease,
  kustomization,
  NOW,
  ociRepository,
  owner,
  rollout,
} from '../../core/admission/objects.ts';
import { responseOf, send } from '../../support/admission.ts';

const at = (id: number, version: string) => ({
  deployed: deployment('my-app', id, version),
  substitute: { APP: version },
});
const context = { objects: [rollout('my-app', '1.1.0', '1.0.0'), rollout('other', '5')] };

describe('mutating', () => {
  it('sets every variable of a Rollout and the annotation in one patch, and no other', async () => {
    const annotations = Object.fromEntries(
      ['A', 'B'].map((v) => [`rollout.kuberik.com/substitute.${v}.from`, 'my-app']),
    );
    const object = kustomization({ annotations, substitute: { A: '1.0.0', REGION: 'eu-1' } });
    const answer = await send(mutateFlux, { object }, context);
    expect(answer.object?.spec?.postBuild).toEqual({ substitute: { A: '1.1.0', B: '1.1.0', REGION: 'eu-1' } });
    expect(answer.object?.metadata.annotations?.[DEPLOYED]).toBe(deployment('my-app', 2, '1.1.0'));
  });

  it('reads only the Rollouts that are named, once each', async () => {
    const annotations = {
      'rollout.kuberik.com/substitute.A.from': 'my-app',
      'rollout.kuberik.com/substitute.B.from': 'my-app',
      'rollout.kuberik.com/substitute.C.from': 'gone',
      'rollout.kuberik.com/substitute.D.from': '../other',
    };
    const answer = await send(mutateFlux, { object: kustomization({ annotations }) }, context);
    expect(answer.reads.filter((read) => read.startsWith('rollouts')).sort()).toEqual([
      'rollouts/gone',
      'rollouts/my-app',
    ]);
  });

  it('denies with 403 a write that gives the field a new value', async () => {
    const object = kustomization({
      ...at(2, '1.1.0'),
      substitute: { APP: '2.0.0' },
      managedFields: [owner('Update', APP_PATH)],
    });
    const answer = await send(mutateFlux, { object, oldObject: kustomization(at(2, '1.1.0')) }, context);
    expect(answer.response.status).toMatchObject({ code: 403, reason: 'Forbidden' });
    expect(answer.message).toContain("Rollout 'my-app' manages it");
  });
});

const OWNER = { apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', uid: 'gone' };
const OTHER = { 'rollout.kuberik.com/rollout': 'other' };

describe('an object that requires no Gate, of a Rollout that requires a closed one', () => {
  const mine = rollout('my-app', '1.1.0', '1.0.0');
  const waiting = { ...mine, spec: { ...mine.spec, gates: [{ name: 'freeze' }] } } as Rollout;
  const behind = { objects: [waiting, gate('shop/freeze')] };
  const oldObject = kustomization(at(2, '1.1.0'));
  const MINE = { 'rollout.kuberik.com/substitute.APP.from': 'my-app' };
  const leaving: [title: string, annotations: Record<string, string>][] = [
    ['unmarks its field', { note: 'x' }],
    ['hands its field to another Rollout', { 'rollout.kuberik.com/substitute.APP.from': 'other' }],
    ['claims its field for two', { 'rollout.kuberik.com/substitute.APP.from': 'my-app,other' }],
    ['claims it again', { ...MINE, 'rollout.kuberik.com/rollout': 'b', 'rollout.kuberik.com/substitute': 'APP' }],
  ];
  const gone = { objects: [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }] };

  it.each(leaving)('is refused when it %s', async (_, annotations) => {
    const object = kustomization({ ...at(2, '1.1.0'), annotations, substitute: { APP: '6' } });
    const answer = await send(mutateFlux, { object, oldObject }, behind);
    expect(answer).toMatchObject({ allowed: false, message: expect.stringMatching(/Gate 'shop\/freeze' is closed/) });
    const open = { objects: [waiting, gate('shop/freeze', { default: 'opened' })] };
    expect(await send(mutateFlux, { object, oldObject }, open)).toMatchObject({ allowed: true });
  });

  it('is refused, too, where only another object of the Rollout requires the Gate', async () => {
    const source = ociRepository(
      { tag: '1.1.0' },
      { annotations: { 'rollout.kuberik.com/rollout': 'my-app', 'gate.fluxcd.io/gates': 'freeze' } },
    );
    const object = kustomization({ ...at(2, '1.1.0'), annotations: { note: 'x' }, substitute: { APP: '6' } });
    const withGate = (state: 'closed' | 'opened') => ({
      objects: [...gone.objects, mine, source, oldObject, gate('shop/freeze', { default: state })],
    });
    const answer = await send(mutateFlux, { object, oldObject }, withGate('closed'));
    expect(answer).toMatchObject({ allowed: false, message: expect.stringMatching(/Gate 'shop\/freeze' is closed/) });
    expect(await send(mutateFlux, { object, oldObject }, withGate('opened'))).toMatchObject({ allowed: true });
    const deletion = await send(validateFlux, { oldObject }, withGate('closed'));
    expect(deletion).toMatchObject({ allowed: false, message: expect.stringMatching(/Gate 'shop\/freeze' is closed/) });
  });

  it('is refused, too, where the Gate selects the Rollout', async () => {
    const selecting = gate('shop/freeze', { selects: { kinds: ['Rollout'] } });
    selecting.metadata.labels = { 'gate.fluxcd.io/selects': 'own-namespace-rollouts' };
    const object = kustomization({ ...at(2, '1.1.0'), annotations: { note: 'x' }, substitute: { APP: '6' } });
    const answer = await send(mutateFlux, { object, oldObject }, { objects: [mine, selecting] });
    expect(answer).toMatchObject({ allowed: false, message: expect.stringMatching(/Gate 'shop\/freeze' is closed/) });
    const open = gate('shop/freeze', { default: 'opened', selects: { kinds: ['Rollout'] } });
    open.metadata.labels = selecting.metadata.labels;
    expect(await send(mutateFlux, { object, oldObject }, { objects: [mine, open] })).toMatchObject({ allowed: true });
  });

  it('is refused when it names so many Rollouts that one would be left out', async () => {
    const many = Array.from({ length: 64 }, (_, i) => [`rollout.kuberik.com/substitute.A${i}.from`, `r${i}`]);
    const object = kustomization({ ...at(2, '1.1.0'), annotations: { ...Object.fromEntries(many), ...MINE } });
    const answer = await send(mutateFlux, { object, oldObject }, behind);
    expect(answer).toMatchObject({ allowed: false, message: expect.stringContaining('more than 64 Rollouts') });
    expect(answer.reads).toEqual([]);
  });

  it('is neither deleted nor given to an owner that would delete it', async () => {
    const owned = { ...oldObject, metadata: { ...oldObject.metadata, ownerReferences: [OWNER] } };
    const context = (value: string) => ({
      objects: [...gone.objects, waiting, gate('shop/freeze', { default: value as 'opened' })],
    });
    for (const [default_, expected] of [
      ['closed', false],
      ['opened', true],
    ] as const) {
      const deletion = await send(validateFlux, { oldObject }, context(default_));
      const adoption = await send(mutateFlux, { object: owned as FluxObject, oldObject }, context(default_));
      expect([deletion.allowed, adoption.allowed]).toEqual([expected, expected]);
      if (!expected) expect(deletion.message).toMatch(/cannot be deleted: Gate 'shop\/freeze' is closed/);
    }
  });

  it('that is a HelmRelease, which follows without a managed field, is held to its Rollout in the same way', async () => {
    const follower = helmRelease();
    const owned = { ...follower, metadata: { ...follower.metadata, ownerReferences: [OWNER] } };
    const edits = [helmRelease({ annotations: {} }), helmRelease({ annotations: OTHER }), owned];
    for (const default_ of ['closed', 'opened'] as const) {
      const objects = [...gone.objects, waiting, gate('shop/freeze', { default: default_ })];
      const isOpen = default_ === 'opened';
      for (const object of edits) {
        expect((await send(mutateFlux, { object, oldObject: follower }, { objects })).allowed).toBe(isOpen);
      }
      expect((await send(validateFlux, { oldObject: follower }, { objects })).allowed).toBe(isOpen);
    }
    const object = helmRelease({ spec: { values: { replicas: 2 } } });
    expect(await send(mutateFlux, { object, oldObject: follower }, behind)).toMatchObject({ allowed: true, object });
  });

  it('is deleted with its Namespace, and by the garbage collector', async () => {
    const going = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop', deletionTimestamp: 'now' } };
    expect((await send(validateFlux, { oldObject }, { objects: [...behind.objects, going] })).allowed).toBe(true);
    const user = { username: 'system:serviceaccount:kube-system:generic-garbage-collector' };
    expect(
      (await send(validateFlux, { oldObject, user }, { objects: [...behind.objects, ...gone.objects] })).allowed,
    ).toBe(true);
  });

  it('is reverted where a Git sync does so', async () => {
    const managedFields = [{ ...owner('Apply', 'spec.path'), manager: 'kustomize-controller' }];
    const object = kustomization({ annotations: { note: 'x' }, substitute: { APP: '6' }, managedFields });
    const applied = kustomization({
      ...at(2, '1.1.0'),
      managedFields: [{ ...owner('Apply', APP_PATH), manager: 'kustomize-controller' }],
    });
    const options = { fieldManager: 'kustomize-controller' };
    const write = { object: { ...object, spec: applied.spec }, oldObject: applied, options } as Parameters<
      typeof send
    >[1];
    const answer = await send(mutateFlux, write, behind);
    expect(answer.object).toEqual(applied);
    expect(answer.warnings).toEqual([expect.stringMatching(/^not applied: Gate 'shop\/freeze' is closed/)]);
  });

  it('may be written otherwise', async () => {
    const object = kustomization({ ...at(2, '1.1.0'), spec: { path: './hotfix' } });
    expect(await send(mutateFlux, { object, oldObject }, behind)).toMatchObject({ allowed: true, object });
  });

  it('may lose its annotations in a write that bypasses the Gate', async () => {
    const annotations = { 'gate.fluxcd.io/bypass-reason': 'INC-1' };
    const object = kustomization({ annotations, substitute: { APP: '6' } });
    const user = { username: 'admin' };
    const answer = await send(
      mutateFlux,
      { object, oldObject, user },
      { ...behind, may: ['admin bypass shop/freeze'] },
    );
    expect(answer).toMatchObject({ allowed: true, audit: { bypass: expect.stringContaining('shop/freeze') } });
    expect(answer.object?.spec?.postBuild).toEqual({ substitute: { APP: '6' } });
  });
});

describe('the denial for a managed field', () => {
  const oldObject = kustomization(at(2, '1.1.0'));
  const edit = (parts: Parameters<typeof kustomization>[0] = {}) =>
    kustomization({
      ...at(2, '1.1.0'),
      substitute: { APP: '2.0.0' },
      managedFields: [owner('Update', APP_PATH)],
      ...parts,
    });
  const command =
    'kubectl -n shop annotate --overwrite rollout.kuberik.com/my-app rollout.kuberik.com/force-deploy=2.0.0';
  const app = rollout('my-app', '1.1.0', '1.0.0');
  const behindFreeze = { ...app, spec: { ...app.spec, gates: [{ name: 'freeze' }] } } as Rollout;

  it('says that the deployment would wait for a closed Gate, how to open and how to bypass it', async () => {
    const { message } = await send(
      mutateFlux,
      { object: edit(), oldObject },
      { objects: [behindFreeze, gate('shop/freeze')] },
    );
    expect(message).toContain(command);
    expect(message).toContain("A deployment would wait: Gate 'shop/freeze' is closed (Gate closed by default).");
    expect(message).toContain('\nTo open Gate shop/freeze:\n  kubectl -n shop');
    expect(message).toContain(`\n  ${command} gate.fluxcd.io/bypass-reason="<why>"\n`);
  });

  it('names the Gates and the bypass only of the Rollouts whose fields the user changes', async () => {
    const annotations = {
      'rollout.kuberik.com/substitute.A.from': 'just-committed',
      'rollout.kuberik.com/substitute.B.from': 'edited',
      'rollout.kuberik.com/substitute.C.from': 'edited',
    };
    const object = (b: string, c: string) =>
      kustomization({
        annotations,
        deployed: [deployment('edited', 1, '1.0.0'), deployment('just-committed', 1, '1.0.0')].join(','),
        substitute: { A: '1.0.0', B: b, C: c },
      });
    const behind = (name: string, ...tags: string[]): Rollout => {
      const { spec, ...others } = rollout(name, ...tags);
      return { ...others, spec: { ...spec!, gates: [{ name: `gate-of-${name}` }] } };
    };
    const { message } = await send(
      mutateFlux,
      { object: object('2.0.0', '3.0.0'), oldObject: object('1.0.0', '1.0.0') },
      {
        objects: [
          behind('just-committed', '1.1.0', '1.0.0'),
          behind('edited', '1.0.0'),
          gate('shop/gate-of-just-committed'),
          gate('shop/gate-of-edited'),
        ],
      },
    );
    expect(message).toContain("A deployment would wait: Gate 'shop/gate-of-edited' is closed");
    expect(message).not.toContain('just-committed');
    const bypasses = message.match(/force-deploy=\S+ gate\.fluxcd\.io\/bypass-reason/g);
    expect(bypasses).toEqual([
      'force-deploy=2.0.0 gate.fluxcd.io/bypass-reason',
      'force-deploy=3.0.0 gate.fluxcd.io/bypass-reason',
    ]);
  });

  it('of a frozen object says that opening is not enough, and what to do', async () => {
    const gates = { 'gate.fluxcd.io/gates': 'freeze' };
    const annotations = { ...oldObject.metadata.annotations, ...gates };
    const frozen = { ...oldObject, metadata: { ...oldObject.metadata, annotations } };
    const object = edit({ annotations });
    const { message } = await send(mutateFlux, { object, oldObject: frozen }, { objects: [app, gate('shop/freeze')] });
    expect(message).toContain("Gate 'shop/freeze' is closed");
    expect(message).toContain(
      "Deploy the version on Rollout 'my-app' instead, or change its spec.wantedVersion if that is set: only the Rollout sets spec.postBuild.substitute.APP, even when the Gate is open.",
    );
    expect(message).toContain(`\n  ${command}\n`);
    expect(message).toContain(`\n  ${command} gate.fluxcd.io/bypass-reason="<why>"\n`);
    expect(message).not.toContain('in the same write');
  });
});

const deleted = (object: FluxObject): FluxObject => ({
  ...object,
  metadata: { ...object.metadata, deletionTimestamp: '2026-03-04T09:59:00Z', finalizers: ['finalizers.fluxcd.io'] },
});
const untouched: [title: string, write: Parameters<typeof send>[1]][] = [
  [
    'finalizers only',
    {
      object: { ...kustomization(at(1, '1.0.0')), status: { observedGeneration: 3 } },
      oldObject: kustomization(at(1, '1.0.0')),
    },
  ],
  [
    'the end of a deletion, in a PUT without deletionTimestamp',
    {
      object: kustomization(at(1, '1.0.0')),
      oldObject: deleted(kustomization(at(1, '1.0.0'))),
    },
  ],
];

describe.each([
  ['mutating', mutateFlux],
  ['validating', validateFlux],
])('%s leaves alone and looks nothing up', (_, handler) => {
  it.each(untouched)('%s', async (_, write) => {
    const answer = await send(handler, write, context);
    expect(answer).toMatchObject({ allowed: true, warnings: [] });
    expect(answer.response.patch).toBeUndefined();
    expect(answer.reads).toEqual([]);
  });
});

describe('validating', () => {
  const young = rollout('my-app', '1.2.0', '1.1.0', '1.0.0');
  const first = rollout('my-app', '1.1.0');
  for (const { status } of [young, first]) status!.history![0]!.timestamp = new Date(NOW - 2000).toISOString();
  const rows: [title: string, object: ReturnType<typeof kustomization>, objects: any[], denied?: RegExp][] = [
    ['the value of the head', kustomization(at(2, '1.1.0')), context.objects],
    ['the value of the head before, with its annotation', kustomization(at(1, '1.0.0')), context.objects],
    [
      'that value without its annotation',
      kustomization({ substitute: { APP: '1.0.0' } }),
      context.objects,
      /another mutating webhook bound spec\.postBuild\.substitute\.APP to Rollout 'my-app' too late\. Rename that webhook's/,
    ],
    [
      'another value',
      kustomization({ ...at(2, '1.1.0'), substitute: { APP: '6' } }),
      context.objects,
      /another mutating webhook set .* to '6'; Rollout 'my-app' has deployed '1\.1\.0'\. Exclude this field/,
    ],
    [
      'no value',
      kustomization({ ...at(2, '1.1.0'), substitute: {} }),
      context.objects,
      /another mutating webhook removed .*; Roll/,
    ],
    ['a head that came between the two calls', kustomization(at(2, '1.1.0')), [young]],
    [
      'a value that no head ever had, however young the head is',
      kustomization({ ...at(2, '1.1.0'), substitute: { APP: '6' } }),
      [young],
      /another mutating webhook/,
    ],
    ['a first deployment that came between the two calls', kustomization({ substitute: { APP: '6' } }), [first]],
    [
      'another value than that of a first deployment, however young it is',
      kustomization({ ...at(1, '1.1.0'), substitute: { APP: '6' } }),
      [first],
      /another mutating webhook set .* to '6'; Rollout 'my-app' has deployed '1\.1\.0'/,
    ],
    [
      'a first deployment of an hour ago',
      kustomization({ substitute: { APP: '6' } }),
      [rollout('my-app', '1')],
      /too late/,
    ],
    ['a Rollout that is gone', kustomization({ substitute: { APP: '6' } }), []],
    ['a Rollout without history', kustomization({ substitute: { APP: '6' } }), [rollout('my-app')]],
  ];
  it.each(rows)('%s', async (_, object, objects, denied) => {
    const answer = await send(validateFlux, { object }, { objects });
    expect(answer.allowed).toBe(denied === undefined);
    if (denied) expect(answer.message).toMatch(denied);
  });

  it.each([
    ['fetches', 'Reconciling'],
    ['cannot fetch', 'FetchFailed'],
  ])('a variable that a write binds and sets while the source %s the version', async (_, type) => {
    const spec = { sourceRef: { kind: 'OCIRepository', name: 'web' } };
    const conditions = [{ type, status: 'True', observedGeneration: 3 }];
    const source = ociRepository({ tag: '1.1.0' }, { ...at(2, '1.1.0'), status: { conditions } });
    const oldObject = kustomization({ annotations: {}, substitute: { APP: '0.9.0' }, spec });
    const object = kustomization({ substitute: { APP: '1.0.0' }, spec });
    const answer = await send(
      [mutateFlux, validateFlux],
      { object, oldObject },
      { objects: [...context.objects, source] },
    );
    expect(answer).toMatchObject({ allowed: true, object: { spec: { postBuild: { substitute: { APP: '1.0.0' } } } } });
  });
});

it.each(['mutate/flux', 'validate/flux'])('%s leaves a write of the status alone', async (webhook) => {
  const object = kustomization({ ...at(1, '1.0.0'), substitute: { APP: '0.9.0' } });
  const write = { object, oldObject: kustomization(at(1, '1.0.0')), subResource: 'status' };
  const { call } = fakeWebhookCall({ now: NOW, ...context });
  expect(await responseOf(webhook, write, call)).toEqual({ uid: 'request-uid', allowed: true });
});
