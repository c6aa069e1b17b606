import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Rollout } from '../../../../api/types.ts';
import { LIMITS } from '../../../../core/limits.ts';
import { orderProblem, unreadUpstream } from '../../../../core/rollout/upstream/dependencies.ts';
import { objectOf } from '../../../support/objects.ts';

/** `a: [b]` is a after b; of another namespace as `team-b/a`. */
type Graph = Record<string, string[]>;

const split = (key: string) => {
  const [name = '', namespace = 'team-a'] = key.split('/').reverse();
  return { name, namespace };
};

function rolloutOf(key: string, after: string[] = []): Rollout {
  return objectOf('Rollout', { metadata: split(key), spec: { releasesImagePolicy: {}, after: after.map(split) } });
}

/** Reads as hooks and webhooks do. Also returns the read names. */
function read(graph: Graph, start = 'a') {
  const root = rolloutOf(start, graph[start]);
  const known = new Map<string, Rollout | undefined>();
  const asked: string[] = [];
  for (let next = unreadUpstream(root, known); next.length > 0; next = unreadUpstream(root, known)) {
    for (const { namespace, name } of next) {
      const key = namespace === 'team-a' ? name : `${namespace}/${name}`;
      asked.push(key);
      known.set(`${namespace}/${name}`, graph[key] && rolloutOf(key, graph[key]));
    }
  }
  return { asked, problem: orderProblem(root, known) };
}

const chain = (length: number): Graph =>
  Object.fromEntries(Array.from({ length }, (_, i) => [i === 0 ? 'a' : `s${i}`, [`s${i + 1}`]]));

describe('the order of Rollouts', () => {
  it.each<[string, Graph, string | undefined]>([
    ['nothing', { a: [] }, undefined],
    ['a chain', { a: ['b'], b: ['c'], c: [] }, undefined],
    ['itself', { a: ['b', 'a'], b: [] }, 'spec.after names the Rollout itself'],
    ['two', { a: ['b'], b: ['a'] }, "spec.after has a dependency cycle: 'a' after 'b' after 'a'"],
    [
      'three, by way of another namespace',
      { a: ['team-b/b'], 'team-b/b': ['team-a/c'], c: ['a'] },
      "spec.after has a dependency cycle: 'a' after 'team-b/b' after 'c' after 'a'",
    ],
    ['a cycle that it is not in: it waits, but not for itself', { a: ['b'], b: ['c'], c: ['b'] }, undefined],
  ])('%s', (_title, graph, expected) => {
    expect(read(graph).problem?.message).toBe(expected);
  });

  it('reads each upstream Rollout once, and no other', () => {
    expect(read({ a: ['b', 'c'], b: ['d'], c: ['d'], d: [], other: ['a'] }).asked).toEqual(['b', 'c', 'd']);
  });

  it('is followed as far as the limit, and no further', () => {
    const within = read(chain(LIMITS.upstreamRollouts));
    expect(within.problem).toBeUndefined();
    expect(within.asked).toHaveLength(LIMITS.upstreamRollouts);
    const beyond = read(chain(LIMITS.upstreamRollouts + 1));
    expect(beyond.problem).toEqual({
      reason: 'TooManyUpstreamRollouts',
      message: `spec.after has more than ${LIMITS.upstreamRollouts} direct and indirect upstream Rollouts (limit upstreamRollouts)`,
    });
    expect(beyond.asked.length).toBeLessThanOrEqual(LIMITS.upstreamRollouts);
  });

  it('finds a cycle exactly if a complete search does', () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const graphs = fc.record(Object.fromEntries(names.map((name) => [name, fc.subarray(names, { maxLength: 3 })])));
    fc.assert(
      fc.property(graphs, (graph) => {
        const ways = (at: string, seen: string[]): boolean =>
          graph[at]!.some((to) => to === 'a' || (!seen.includes(to) && ways(to, [...seen, to])));
        expect(read(graph).problem !== undefined).toBe(ways('a', ['a']));
      }),
    );
  });
});
