import fc from 'fast-check';
import { expect, it } from 'vitest';
import { GATE_STATE, SUSPENDED } from '../../../api/annotations.ts';
import type { FluxObject } from '../../../api/flux.ts';
import { governedChanges } from '../../../core/admission/governedChanges.ts';
import { decide, gate, gatesByName, kustomization, NOW, owner, rollout, rolloutsByName } from './objects.ts';

/** Any write that a user or a controller could make on an object. */
const object: fc.Arbitrary<FluxObject> = fc
  .record({
    gates: fc.constantFrom(undefined, 'a', 'b', 'a,b', 'a/b/c'),
    rollout: fc.constantFrom(undefined, 'my-app', 'x,y'),
    app: fc.constantFrom(undefined, '1.0.0', '1.1.0', '9'),
    path: fc.constantFrom(undefined, './a', './b'),
    suspend: fc.constantFrom(undefined, true, false),
    memory: fc.constantFrom(undefined, 'true', 'false', 'unset', 'nonsense'),
    state: fc.constantFrom(
      undefined,
      'open',
      'closed: shop/a',
      'bypassed: shop/a',
      'bypassing: shop/a',
      'opening: 2026-03-04T10:00:00Z',
    ),
    owned: fc.boolean(),
    operation: fc.constantFrom('Apply' as const, 'Update' as const),
  })
  .map((o) => {
    const annotations: Record<string, string> = {};
    if (o.gates) annotations['gate.fluxcd.io/gates'] = o.gates;
    if (o.rollout) annotations['rollout.kuberik.com/substitute.APP.from'] = o.rollout;
    if (o.memory) annotations[SUSPENDED] = o.memory;
    if (o.state) annotations[GATE_STATE] = o.state;
    const paths = [
      'spec.path',
      'spec.suspend',
      'spec.postBuild.substitute.APP',
      'annotation:gate.fluxcd.io/gates',
      'annotation:rollout.kuberik.com/substitute.APP.from',
    ];
    return kustomization({
      annotations,
      substitute: o.app === undefined ? {} : { APP: o.app },
      ...(o.owned && { labels: { 'kustomize.toolkit.fluxcd.io/name': 'apps' } }),
      managedFields: [{ ...owner(o.operation, ...paths), manager: 'm' }],
      spec: { ...(o.path && { path: o.path }), ...(o.suspend !== undefined && { suspend: o.suspend }) },
    });
  });

const state = fc.constantFrom('opened' as const, 'closed' as const, undefined);
const rollouts = rolloutsByName(rollout('my-app', '1.1.0', '1.0.0'));

function gatesOf(a: 'opened' | 'closed' | undefined, b: 'opened' | 'closed' | undefined) {
  const gates = [...(a ? [gate('shop/a', { default: a })] : []), ...(b ? [gate('shop/b', { default: b })] : [])];
  return { rollouts, gates: gatesByName(...gates), now: NOW };
}

it('an object written again as stored stays so, whatever the Gates are', () => {
  fc.assert(
    fc.property(object, fc.option(object, { nil: undefined }), state, state, (wanted, before, a, b) => {
      const context = gatesOf(a, b);
      const stored = before && decide({ object: before, context: gatesOf(b, a), user: 'u', fieldManager: 'm' });
      const old = stored && 'object' in stored ? stored.object : undefined;
      const write = { object: wanted, old, context, user: 'u', fieldManager: 'm' };
      const first = decide(write);
      if (first.denial !== undefined) return;
      const again = decide({ ...write, object: first.object, old: first.object });
      expect(again).toMatchObject({ object: first.object });
    }),
    { numRuns: 500 },
  );
});

it('behind a closed gate nothing that gates govern moves but the suspension, and an apply is never denied', () => {
  fc.assert(
    fc.property(object, object, state, (wanted, before, b) => {
      const gated = {
        ...before,
        metadata: { ...before.metadata, annotations: { ...before.metadata.annotations, 'gate.fluxcd.io/gates': 'a' } },
      };
      const created = decide({ object: gated, context: gatesOf('opened', b), user: 'u' });
      if (!('object' in created)) throw new Error('a CREATE is never denied');
      const old = created.object;
      const outcome = decide({
        object: wanted,
        old,
        context: gatesOf('closed', b),
        user: 'u',
        fieldManager: 'm',
      });
      const isApply = wanted.metadata.managedFields?.[0]?.operation === 'Apply';
      if (outcome.denial !== undefined) {
        expect(isApply, outcome.denial).toBe(false);
        return;
      }
      const moved: string[] = [];
      governedChanges(outcome.object, old, ({ path }) => moved.push(path.join('.')));
      expect(moved.filter((path) => path !== 'spec.suspend')).toEqual([]);
      expect(outcome.object.spec?.suspend).toBe(true);
    }),
    { numRuns: 500 },
  );
});
