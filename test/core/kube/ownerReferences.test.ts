import { describe, expect, it } from 'vitest';
import { gainsOwner } from '../../../core/kube/ownerReferences.ts';

const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: '1' };
const of = (...ownerReferences: (typeof owner & { controller?: boolean; blockOwnerDeletion?: boolean })[]) => ({
  metadata: { ownerReferences },
});

describe('an object gains an owner', () => {
  it.each([
    ['with a reference more', of(owner, { ...owner, name: 'other', uid: '2' }), of(owner)],
    ['with another uid', of({ ...owner, uid: '2' }), of(owner)],
    // The garbage collector finds the owner by all four fields, and deletes the object if it doesn't exist.
    ['with another name for the same uid', of({ ...owner, name: 'does-not-exist' }), of(owner)],
    ['with another kind for the same uid', of({ ...owner, kind: 'Secret' }), of(owner)],
    ['with another API group for the same uid', of({ ...owner, apiVersion: 'apps/v1' }), of(owner)],
    ['with a second reference for the same uid', of(owner, { ...owner, name: 'does-not-exist' }), of(owner)],
    ['where it had none', of(owner), { metadata: {} }],
  ])('%s', (_, object, before) => {
    expect(gainsOwner(object, before)).toBe(true);
  });

  it.each([
    ['by keeping those it has, in another order', of({ ...owner, uid: '2' }, owner), of(owner, { ...owner, uid: '2' })],
    ['by losing one', { metadata: {} }, of(owner)],
    ['by what says nothing of its deletion', of({ ...owner, controller: true, blockOwnerDeletion: false }), of(owner)],
  ])('not %s', (_, object, before) => {
    expect(gainsOwner(object, before)).toBe(false);
  });
});
