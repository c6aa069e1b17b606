/** The Gates that an object requires: of one name in two namespaces, and beyond the limit. */
import { expect, it } from 'vitest';
import { REQUIRED_GATES } from '../../../api/annotations.ts';
import { gateKeys, LIMIT_OF_GATES } from '../../../core/gate/closedGates.ts';
import { ANY_REF } from '../../../core/gate/gateRefs.ts';
import { LIMITS } from '../../../core/limits.ts';
import { subjectOf } from '../../../core/objectGates/gateTexts.ts';
import { escapesSelection, evaluateObjectGates } from '../../../core/objectGates/objectGates.ts';
import { gate, gatesByName, kustomization, NO_SELECTING_GATES, NOW } from '../admission/objects.ts';

it.each(['apps', 'platform'])('of two Gates of one name, the closed one of %s holds', (closed) => {
  const gates = gatesByName(
    ...['apps', 'platform'].map((each) => gate(`${each}/freeze`, { default: each === closed ? 'closed' : 'opened' })),
  );
  const object = kustomization({ annotations: { [REQUIRED_GATES]: 'apps/freeze,platform/freeze' } });
  const found = evaluateObjectGates(object, { ...ANY_REF, gates, selectingGates: NO_SELECTING_GATES, now: 0 });
  expect(gateKeys(found.closed!)).toEqual([`${closed}/freeze`]);
});

it('a label by which one closed Gate of more than are counted selects the object stays', () => {
  const tier = { labelSelector: { matchLabels: { tier: 'front' } } };
  const open = Array.from({ length: LIMITS.requiredGates + 50 }, (_, i) =>
    gate(`shop/open-${i}`, { default: 'opened', selects: {} }),
  );
  const all = [...open, gate('shop/z-freeze', { selects: tier })];
  const context = {
    ...ANY_REF,
    gates: gatesByName(...all),
    selectingGates: { gates: all, namespaceLabels: {} },
    now: NOW,
  };
  const [front, back] = ['front', 'back'].map((tier) => kustomization({ labels: { tier } }));
  expect(escapesSelection(back!, front!, context)).toBe(true);
  expect(evaluateObjectGates(front!, context).closed).toEqual({ gates: [], limit: LIMIT_OF_GATES });
});

it('a new object whose name the API server makes is called (new)', () => {
  const { name: _, ...metadata } = kustomization().metadata;
  expect(subjectOf({ ...kustomization(), metadata })).toBe("Kustomization 'shop/(new)'");
});
