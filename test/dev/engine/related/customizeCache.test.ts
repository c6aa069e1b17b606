import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../../api/kubernetes.ts';
import { CustomizeCache } from '../../../../dev/engine/related/customizeCache.ts';

const TTL = 20 * 60_000;
const parent = (uid: string, generation: number, annotations?: Record<string, string>): KubeObject => ({
  apiVersion: 'x/v1',
  kind: 'Thing',
  metadata: { name: 'a', namespace: 'b', uid, generation, annotations },
});

function filled(): CustomizeCache<string> {
  const cache = new CustomizeCache<string>();
  cache.set('b/a', parent('u1', 1), 'first', 0);
  return cache;
}

describe('customize cache', () => {
  it.each([
    { name: 'the same object', object: parent('u1', 1), now: 1, answer: 'first' },
    { name: 'an annotation changed', object: parent('u1', 1, { new: 'one' }), now: 1, answer: 'first' },
    { name: 'the generation moved', object: parent('u1', 2), now: 1, answer: undefined },
    { name: 'another object of that name', object: parent('u2', 1), now: 1, answer: undefined },
    { name: 'just before it runs out', object: parent('u1', 1), now: TTL - 1, answer: 'first' },
    { name: 'after 20 minutes', object: parent('u1', 1), now: TTL, answer: undefined },
  ])('$name: $answer', ({ object, now, answer }) => {
    expect(filled().get('b/a', object, now)).toBe(answer);
  });

  it('lists expired entries until they are renewed', () => {
    const cache = filled();
    cache.set('b/late', parent('u2', 1), 'second', 1000);
    expect(cache.expired(TTL)).toEqual(['b/a']);
    cache.set('b/a', parent('u1', 1), 'renewed', TTL);
    expect(cache.expired(TTL + 1000)).toEqual(['b/late']);
    cache.delete('b/late');
    expect(cache.expired(TTL + 1000)).toEqual([]);
  });
});
