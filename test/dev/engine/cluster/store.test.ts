import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../api/kubernetes.ts';
import { ObjectStore } from '../../../../dev/engine/cluster/store.ts';

function object(namespace: string, name: string, owner?: string): KubeObject {
  const reference = owner && { apiVersion: 'x/v1', kind: 'Parent', name: owner, uid: owner, controller: true };
  return {
    apiVersion: 'x/v1',
    kind: 'Thing',
    metadata: { namespace, name, ownerReferences: reference ? [reference] : undefined },
  };
}

const names = (objects: Iterable<KubeObject>) => [...objects].map(({ metadata }) => metadata.name);

describe('object store', () => {
  it('finds by namespace and by owner, and follows changes of both', () => {
    const store = new ObjectStore();
    store.put(object('n1', 'a', 'p'));
    store.put(object('n1', 'b'));
    store.put(object('n2', 'c', 'p'));
    expect(names(store.list('n1'))).toEqual(['a', 'b']);
    expect(names(store.ownedBy('p'))).toEqual(['a', 'c']);
    expect(names(store.ownedBy('p', 'n2'))).toEqual(['c']);
    store.put(object('n1', 'a'));
    store.put(object('n1', 'b', 'p'));
    store.remove('n2/c');
    expect(names(store.ownedBy('p'))).toEqual(['b']);
    expect(names(store.list()).sort()).toEqual(['a', 'b']);
  });
});
