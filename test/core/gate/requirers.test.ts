/** The index of the objects that may require a Gate: it leaves out only objects that don't. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Gate } from '../../../api/types.ts';
import { type RequiringObjects, requirersOf, requiringIndex } from '../../../core/gate/requirers.ts';
import { unheldOf, unresumedOf } from '../../../core/suspension/unreachedObjects.ts';
import { objectOf } from '../../support/objects.ts';

const namespace = fc.constantFrom('shop', 'lab', 'unlisted');
const name = fc.constantFrom('freeze', 'audit');
const labels = fc.constantFrom<Record<string, string>>({}, { team: 'a' }, { team: 'b' });
const selector = fc.constantFrom({}, { matchLabels: { team: 'a' } }, { matchLabels: { team: '-does not compile-' } });
const kind = fc.constantFrom('Kustomization' as const, 'OCIRepository' as const);

const gate = fc
  .record({
    namespace,
    name,
    selects: fc.option(
      fc.record({
        kinds: fc.option(fc.subarray(['Kustomization', 'Rollout'] as const), { nil: undefined }),
        labelSelector: fc.option(selector, { nil: undefined }),
        namespaceSelector: fc.option(selector, { nil: undefined }),
      }),
      { nil: undefined },
    ),
  })
  .map(({ namespace, name, selects }) =>
    objectOf('Gate', `${namespace}/${name}`, { spec: { default: 'closed', selects } as Gate['spec'] }),
  );

const refs = fc.array(fc.record({ namespace, name }), { maxLength: 3 });
const object = fc.record({ kind, namespace, labels, refs, state: fc.constantFrom('open', 'closed', 'opening') });
const rollout = fc.record({ namespace, labels, refs });

const all = fc
  .record({ objects: fc.array(object), rollouts: fc.array(rollout), namespaces: fc.dictionary(namespace, labels) })
  .map(({ objects, rollouts, namespaces }): RequiringObjects => {
    const flux = objects.map(({ kind, namespace, labels, refs, state }, i) => {
      const annotations = {
        'gate.fluxcd.io/gates': refs.map((ref) => (i % 2 ? ref.name : `${ref.namespace}/${ref.name}`)).join(','),
        'gate.fluxcd.io/state': state,
        ...(state !== 'open' && { 'gate.fluxcd.io/suspended': 'unset' }),
      };
      return objectOf(kind, `${namespace}/app-${i}`, { metadata: { labels, annotations } });
    });
    return {
      objects: flux,
      bindings: objects.map(({ kind, namespace, refs }, i) => {
        const target = { apiVersion: 'kustomize.toolkit.fluxcd.io/v1', kind, name: `app-${i}`, uid: `u-${i}` };
        const gates = refs.map((ref) => ({ namespace: ref.namespace, gate: ref.name, selected: i % 3 === 0 }));
        return objectOf('FluxBinding', `${namespace}/app-${i}`, { spec: { target, gates } });
      }),
      rollouts: rollouts.map(({ namespace, labels, refs }, i) => {
        const spec = { releasesImagePolicy: {}, gates: refs };
        return objectOf('Rollout', `${namespace}/app-${i}`, { metadata: { labels }, spec });
      }),
      namespaces: new Map(Object.entries(namespaces)),
    };
  });

it('with the index a Gate has the same requirers, and the same objects that it has not reached', () => {
  fc.assert(
    fc.property(gate, all, (gate, all) => {
      const report = (of: RequiringObjects) => ({
        requirers: requirersOf(gate, of),
        unheld: unheldOf(gate, undefined, of.objects, of.namespaces),
        unresumed: unresumedOf(gate, of.objects, of.namespaces),
      });
      expect(report(requiringIndex(all)(gate))).toEqual(report(all));
    }),
    { numRuns: 300 },
  );
});
