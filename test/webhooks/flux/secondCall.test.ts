/**
 * The calls for one write of a Flux object: no mutating webhook of ours sees the suspension by another, and the
 * validating one gets every update that another webhook could have made refusable.
 */
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BYPASS_REASON, REQUIRED_GATES, SELECTED_BY } from '../../../api/annotations.ts';
import type { FluxObject } from '../../../api/flux.ts';
import { verifyWrite } from '../../../core/admission/validate.ts';
import { annotate } from '../../../core/kube/annotate.ts';
import { fakeWebhookCall } from '../../../dev/fakes/ports.ts';
import { requestOf } from '../../../dev/fakes/requests.ts';
import { readManifests } from '../../../dev/local/install/manifests.ts';
import { REPOSITORY } from '../../../dev/repository.ts';
import { mutate } from '../../../dev/sim/apiServer/admission.ts';
import { compile } from '../../../dev/sim/apiServer/cel.ts';
import {
  asRead,
  decide,
  gate,
  gatesByName,
  kustomization,
  NOW,
  ociRepository,
  owner,
  rollout,
  rolloutsByName,
} from '../../core/admission/objects.ts';
import { responseOf } from '../../support/admission.ts';

const [{ webhooks }] = readManifests(join(REPOSITORY, 'manifests/webhooks')).filter(
  ({ kind }) => kind === 'ValidatingWebhookConfiguration',
) as any[];
const { expression } = webhooks[0].matchConditions.find(({ name }: { name: string }) => name === 'not-as-stored');
const holds = compile(expression);
const isSent = (object: FluxObject, oldObject: FluxObject) =>
  holds({ object, oldObject, request: { operation: 'UPDATE' } } as any);

const SUBSTITUTE_FROM = 'rollout.kuberik.com/substitute.APP.from';
/** By these the Gate also selects the objects that name it. */
const LABELS = { team: 'shop' };
type Context = { state: 'opened' | 'closed'; versions: string[] };

const contextOf = ({ state, versions }: Context) => ({
  rollouts: rolloutsByName(rollout('my-app', ...versions)),
  gates: gatesByName(gate('shop/a', { default: state, selects: { labelSelector: { matchLabels: LABELS } } })),
  now: NOW,
});

/** The object after the mutating webhook. */
function stored(object: FluxObject, oldObject: FluxObject | undefined, context: Context, isBypass = false) {
  const who = { user: 'u', fieldManager: 'kustomize-controller' };
  const bypass = isBypass ? { granted: true as const, gates: [], reason: '' } : undefined;
  const outcome = decide({ object, old: oldObject, context: contextOf(context), ...who, bypass });
  return 'object' in outcome ? outcome.object : undefined;
}

const withSpec = (object: FluxObject, spec: Record<string, unknown>): FluxObject => ({
  ...object,
  spec: { ...object.spec, ...spec } as NonNullable<FluxObject['spec']>,
});

/** The object after a user has bypassed the closed Gate. */
const bypassed = (object: FluxObject): FluxObject =>
  stored(
    annotate(withSpec(object, { suspend: false }), BYPASS_REASON, 'INC-42'),
    object,
    { state: 'closed', versions: ['1.0.0'] },
    true,
  ) ?? object;

/** A change by another webhook after ours. */
const CHANGES: Record<string, (object: FluxObject) => FluxObject> = {
  'another path': (object) => withSpec(object, { path: './other' }),
  'no path': (object) => withSpec(object, { path: undefined }),
  'a new field': (object) => withSpec(object, { targetNamespace: 'other' }),
  'not suspended': (object) => withSpec(object, { suspend: false }),
  'suspension taken away': (object) => withSpec(object, { suspend: undefined }),
  'another variable': (object) => withSpec(object, { postBuild: { substitute: { APP: '9.9.9' } } }),
  'no variable': (object) => withSpec(object, { postBuild: {} }),
  'another tag': (object) => withSpec(object, { ref: { tag: '9.9.9' } }),
  'a digest': (object) =>
    withSpec(object, { ref: { ...(object.spec?.ref as object), digest: `sha256:${'0'.repeat(64)}` } }),
  'a Gate less': (object) => annotate(object, REQUIRED_GATES, undefined),
  'a binding': (object) => annotate(object, SUBSTITUTE_FROM, 'my-app'),
  'an owner': (object) => ({
    ...object,
    metadata: { ...object.metadata, ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'x' }] },
  }),
  'no labels': ({ metadata: { labels: _, ...metadata }, ...rest }) => ({ ...rest, metadata }),
};

const context: fc.Arbitrary<Context> = fc.record({
  state: fc.constantFrom('opened' as const, 'closed' as const),
  versions: fc.constantFrom(['1.0.0'], ['1.1.0', '1.0.0'], ['1.2.0', '1.1.0', '1.0.0']),
});
const managedFields = [{ ...owner('Apply', 'spec.path'), manager: 'kustomize-controller' }];
const wanted = fc
  .record({ gated: fc.constantFrom(true, true, false), managed: fc.boolean(), path: fc.constantFrom('./a', './b') })
  .map(({ gated, managed, path }) => (isSource: boolean) => {
    const annotations = { ...(gated && { [REQUIRED_GATES]: 'a', [SELECTED_BY]: 'shop/a' }) };
    if (isSource) {
      const binding = managed && { 'rollout.kuberik.com/rollout': 'my-app' };
      return ociRepository({ tag: '1.0.0' }, { annotations: { ...annotations, ...binding }, managedFields });
    }
    const binding = managed && { [SUBSTITUTE_FROM]: 'my-app' };
    return kustomization({
      annotations: { ...annotations, ...binding },
      ...(gated && { labels: LABELS }),
      substitute: { APP: '1.0.0' },
      spec: { path },
      managedFields,
    });
  });

describe('the validating webhook', () => {
  const situation = fc.record({
    first: wanted,
    next: wanted,
    before: context,
    now: context,
    isSource: fc.boolean(),
    isBypass: fc.boolean(),
  });

  it.each(Object.entries(CHANGES))('gets every update that it would refuse: %s', (_, change) => {
    let refused = 0;
    for (const { first, next, before, now, isSource, isBypass } of fc.sample(situation, 1500)) {
      if (refused === 25) break;
      const created = stored(first(isSource), undefined, before)!;
      const oldObject = isBypass ? bypassed(created) : created;
      const reason = oldObject.metadata.annotations?.[BYPASS_REASON];
      const settled = stored(annotate(next(isSource), BYPASS_REASON, reason), oldObject, now);
      const object = settled && change(settled);
      if (!object || !verifyWrite(asRead({ object, old: oldObject, context: contextOf(now), user: 'u' }))) continue;
      refused += 1;
      expect(isSent(object, oldObject), JSON.stringify({ oldObject, object, now })).toBe(true);
    }
    expect(refused).toBe(25);
  });

  const named = (gates: string) =>
    kustomization({ annotations: { [REQUIRED_GATES]: gates, 'gate.fluxcd.io/state': 'open' } });
  it.each<[title: string, before: FluxObject | undefined, isRefused: boolean]>([
    ['refuses a closed Gate that another webhook names on a new object, which ours has let run', undefined, true],
    ['refuses a closed Gate that another webhook names on an object, which ours has let run', named('a'), true],
    ['allows a Gate to close between the calls', named('a,freeze'), false],
  ])('%s', (_, oldObject, isRefused) => {
    const gates = gatesByName(gate('shop/a', { default: 'opened' }), gate('shop/freeze'));
    const context = { rollouts: rolloutsByName(), gates, now: NOW };
    const denial = verifyWrite(asRead({ object: named('a,freeze'), old: oldObject, context, user: 'u' }));
    expect(denial?.text).toEqual(
      isRefused ? expect.stringMatching(/closed during this write, or another .* too late/) : undefined,
    );
  });

  it.each(['opened', 'closed'] as const)(
    'refuses the resumption of an object that waits for its applier: %s',
    (state) => {
      const annotations = { [REQUIRED_GATES]: 'a', 'gate.fluxcd.io/state': 'opening: 2026-03-01T11:59:00Z' };
      const waits = kustomization({
        annotations: { ...annotations, 'gate.fluxcd.io/suspended': 'unset' },
        labels: { 'kustomize.toolkit.fluxcd.io/name': 'apps' },
        spec: { suspend: true },
      });
      const object = CHANGES['not suspended']!(waits);
      expect(isSent(object, waits)).toBe(true);
      const context = contextOf({ state, versions: ['1.0.0'] });
      const denial = verifyWrite(asRead({ object, old: waits, context, user: 'u' }));
      expect(denial?.text).toMatch(/another mutating webhook changed spec.suspend/);
    },
  );

  const open: Context = { state: 'opened', versions: ['1.0.0'] };
  const closed: Context = { ...open, state: 'closed' };
  const app = kustomization({
    annotations: { [REQUIRED_GATES]: 'a', [SUBSTITUTE_FROM]: 'my-app' },
    substitute: { APP: '1.0.0' },
    spec: { path: './a' },
    managedFields,
  });

  it.each<[string, Context, (object: FluxObject) => FluxObject]>([
    ['an apply that changes nothing', open, (object) => object],
    ['an apply that changes what no Rollout sets', open, CHANGES['another path']!],
    ['a label', open, (object) => ({ ...object, metadata: { ...object.metadata, labels: { team: 'shop' } } })],
    ['an apply that a closed Gate holds', closed, CHANGES['another path']!],
    ['the suspension by a Gate that has closed', closed, (object) => object],
  ])('is spared %s', (_, now, change) => {
    const oldObject = stored(app, undefined, open)!;
    expect(isSent(stored(change(oldObject), oldObject, now)!, oldObject)).toBe(false);
  });
});

describe('the mutating webhooks', () => {
  const { call } = fakeWebhookCall({ now: NOW, objects: [gate('shop/a')] });
  const metacontroller = { username: 'system:serviceaccount:metacontroller:metacontroller' };
  const unmarked = kustomization({ annotations: {} });
  const gated = kustomization({ annotations: { [REQUIRED_GATES]: 'a', 'gate.fluxcd.io/state': 'open' } });
  const withMetadata = (object: FluxObject, metadata: Partial<FluxObject['metadata']>): FluxObject => ({
    ...object,
    metadata: { ...object.metadata, ...metadata },
  });

  it.each<[title: string, object: FluxObject, oldObject: FluxObject | null, userInfo?: { username: string }]>([
    ['of finalizers', withMetadata(gated, { finalizers: ['x.example/y'] }), gated],
    ['of a label', withMetadata(gated, { labels: { team: 'shop' } }), gated],
    ['of a decorator', annotate(gated, 'gate.fluxcd.io/state', 'closed: shop/a'), gated, metacontroller],
    ['that names the Gate', gated, unmarked],
    ['that creates the object', gated, null],
  ])('suspend the object in one call: a write %s', async (_, object, oldObject, userInfo = { username: 'alice' }) => {
    const calls: string[] = [];
    const mutated = await mutate(
      requestOf({ object, oldObject, userInfo }),
      (path, request) => {
        calls.push(path);
        return responseOf(path.replace('/admission/', ''), request, call);
      },
      (each) => each,
      (each, isFirst) =>
        isFirst ? each : { ...each, metadata: { ...each.metadata, labels: { 'other.example/webhook': 'seen' } } },
    );
    expect(mutated?.spec.suspend).toBe(true);
    expect(calls).toHaveLength(1);
  });

  it('suspend an unmarked object in a second call if a Gate selects it by the label of another webhook', async () => {
    const labels = { 'other.example/webhook': 'seen' };
    const all = gate('shop/all', { selects: { labelSelector: { matchLabels: labels } } });
    const { call } = fakeWebhookCall({ now: NOW, objects: [all] });
    const mutated = await mutate(
      requestOf({ object: unmarked, oldObject: null, userInfo: { username: 'alice' } }),
      (path, request) => responseOf(path.replace('/admission/', ''), request, call),
      (each) => each,
      (each, isFirst) => (isFirst ? each : { ...each, metadata: { ...each.metadata, labels } }),
    );
    expect(mutated?.spec.suspend).toBe(true);
    expect(mutated?.metadata.annotations?.['gate.fluxcd.io/suspended']).toBe('unset');
  });
});
