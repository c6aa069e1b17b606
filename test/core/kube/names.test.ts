/** Lists of names in annotations are limited, and a longer list opens nothing. */
import { describe, expect, it } from 'vitest';
import { ANY_REF } from '../../../core/gate/gateRefs.ts';
import { refKey, splitNames } from '../../../core/kube/names.ts';
import { LIMITS } from '../../../core/limits.ts';
import { managedFieldsOf } from '../../../core/managedField/managedFields.ts';
import { requiredByObject } from '../../../core/objectGates/objectGates.ts';
import { kustomization, NO_SELECTING_GATES } from '../admission/objects.ts';

const many = (count: number, part: string) => new Array(count).fill(part).join(',');
const LIMIT = LIMITS.namesInAnnotation;

it.each([
  ['', ['']],
  ['a', ['a']],
  [' a ,ns/b,', ['a', 'ns/b', '']],
])('%j has the parts %j', (text, parts) => {
  expect(splitNames(text)).toEqual(parts);
});

it('the key of a cluster-scoped object is its name', () => {
  expect(refKey({ namespace: 'demo', name: 'app' })).toBe('demo/app');
  expect(refKey({ namespace: '', name: 'admin' })).toBe('admin');
});

it('is read up to the limit, and not beyond', () => {
  expect(splitNames(many(LIMIT, 'a'))).toHaveLength(LIMIT);
  expect(splitNames(many(LIMIT + 1, 'a'))).toBeUndefined();
});

describe('an annotation with more names than are read', () => {
  it.each(['a', '', '!/'])('closes the object, whatever the names are: %j', (part) => {
    const object = kustomization({ annotations: { 'gate.fluxcd.io/gates': `a,${many(LIMIT, part)}` } });
    expect(requiredByObject(object, NO_SELECTING_GATES, ANY_REF).limit).toBeDefined();
  });

  it('binds no field, and reports that', () => {
    const annotations = { 'rollout.kuberik.com/substitute.APP.from': many(LIMIT + 1, 'my-app') };
    expect(managedFieldsOf(kustomization({ annotations }))).toMatchObject({
      fields: [],
      problems: [`rollout.kuberik.com/substitute.APP.from has more than ${LIMIT} names: the field is not changed`],
    });
  });
});
