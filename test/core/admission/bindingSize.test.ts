/** The size limit of a FluxBinding: without one, an object would not be informed of its closed Gate. */
import { expect, it } from 'vitest';
import type { FluxBinding } from '../../../api/types.ts';
import { limitDenial } from '../../../core/admission/writeLimits.ts';
import { provesApply } from '../../../core/binding/appliedDeployment.ts';
import { makeBinding } from '../../../core/binding/bindingSpec.ts';
import { closedText } from '../../../core/gate/closedGates.ts';
import { ANY_REF } from '../../../core/gate/gateRefs.ts';
import { LIMITS } from '../../../core/limits.ts';
import { managedFieldsOf } from '../../../core/managedField/managedFields.ts';
import { evaluateObjectGates } from '../../../core/objectGates/objectGates.ts';
import { deployment, gatesByName, kustomization, NO_SELECTING_GATES, NOW, ociRepository } from './objects.ts';

const gates = { refs: [{ namespace: 'shop', name: 'freeze' }], problems: [] };
const HUGE = 'x'.repeat(1_400_000);
const size = (binding: FluxBinding | undefined) => JSON.stringify(binding).length;

it('a revision beyond the limit is no proof, and is not copied', () => {
  const deployed = deployment('my-app', 1, '1.0.0');
  const source = ociRepository({ tag: '1.0.0' }, { deployed });
  source.status = { observedGeneration: 3, artifact: { revision: `1.0.0@${HUGE}` } };
  const binding = makeBinding(source, gates, undefined, false)!;
  expect(size(binding)).toBeLessThan(2000);
  expect(binding.spec?.observed?.fetched).toBeUndefined();
  const head = { rollout: 'my-app', id: 1, version: '1.0.0', uid: 'uid-my-app' };
  expect(provesApply(binding, undefined, head)).toBe(false);
});

it('a source with a name that nothing can have is not copied', () => {
  const object = kustomization({ spec: { sourceRef: { kind: 'GitRepository', name: HUGE } } });
  expect(size(makeBinding(object, gates, undefined, false))).toBeLessThan(2000);
});

it('an object with more marked variables than the limit counts as held, with the cause', () => {
  const annotations = Object.fromEntries(
    Array.from({ length: 500 }, (_, i) => [`rollout.kuberik.com/substitute.V${i}.from`, 'a']),
  );
  const object = kustomization({ annotations });
  const context = { ...ANY_REF, gates: gatesByName(), selectingGates: NO_SELECTING_GATES, now: NOW };
  expect(managedFieldsOf(object).fields).toHaveLength(LIMITS.managedFields);
  expect(closedText(evaluateObjectGates(object, context).closed!)).toContain(`${LIMITS.managedFields} variables`);
  expect(limitDenial(object, undefined, ANY_REF)?.text).toContain(`${LIMITS.managedFields} variables`);
  expect(size(makeBinding(object, gates, undefined, false))).toBeLessThan(100_000);
});
