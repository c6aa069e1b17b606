import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Track } from '../../../client/board/row.ts';
import { NODE, placeStages } from '../../../ui/promotion/layout.ts';
import {
  cellOf,
  edgeTone,
  hasWords,
  lastMoved,
  partsOf,
  pipelinesOf,
  versionsOf,
} from '../../../ui/promotion/pipelines.ts';
import { depthsOf } from '../../../ui/state/depths.ts';
import { follows, ran, row, rowsOf } from './rows.ts';

describe('pipelines', () => {
  it('are the Rollouts in the order of promotion', () => {
    const rows = rowsOf(
      row('alone'),
      row('world', follows('us', 'eu')),
      row('eu', follows('staging')),
      row('us', follows('staging')),
      row('staging'),
      row('api-prod', follows('api-dev')),
      row('api-dev'),
    );
    expect(pipelinesOf(rows)).toMatchObject([
      { title: 'shop/api-dev', stages: ['shop/api-dev', 'shop/api-prod'] },
      { title: 'shop/staging', stages: ['shop/staging', 'shop/eu', 'shop/us', 'shop/world'] },
    ]);
  });

  it('have a stage that may not be seen', () => {
    const [pipeline] = pipelinesOf(rowsOf(row('prod', follows('hidden'))));
    expect(pipeline?.stages).toEqual(['shop/hidden', 'shop/prod']);
  });

  it('go on by a copy into the image of another Rollout', () => {
    const rows = rowsOf(
      row('staging', { image: 'registry.example/dev/app', copiesTo: 'registry.example/prod/app' }),
      row('prod', { image: 'registry.example/prod/app' }),
      row('other', { image: 'registry.example/dev/app' }),
    );
    expect(pipelinesOf(rows)).toEqual([
      {
        title: 'shop/staging',
        stages: ['shop/staging', 'shop/prod'],
        edges: [{ from: 'shop/staging', to: 'shop/prod', isCopy: true }],
      },
    ]);
  });

  it('are of one cluster, or of all that deploy the same image', () => {
    const image = 'registry.example/app';
    const rows = rowsOf(
      row('staging', { cluster: 'a', image }),
      row('prod', { cluster: 'a', ...follows('staging') }),
      row('prod', { cluster: 'far b', image }),
      row('twin', { cluster: 'a', image: 'registry.example/twin' }),
      row('other', { cluster: 'a', image: 'registry.example/twin' }),
      row('next', { cluster: 'far b', ...follows('hidden') }),
    );
    expect(pipelinesOf(rows)).toEqual([
      {
        title: 'shop/hidden (far b)',
        stages: ['far b shop/hidden', 'far b shop/next'],
        edges: [{ from: 'far b shop/hidden', to: 'far b shop/next' }],
      },
      {
        title: 'shop/staging, shop/prod (a, far b)',
        stages: ['a shop/staging', 'far b shop/prod', 'a shop/prod'],
        edges: [{ from: 'a shop/staging', to: 'a shop/prod' }],
      },
    ]);
    expect(partsOf('far b shop/prod')).toEqual({ cluster: 'far b', id: 'shop/prod' });
    expect(partsOf('shop/prod')).toEqual({ cluster: undefined, id: 'shop/prod' });
  });

  it('end in a cycle too', () => {
    const [pipeline] = pipelinesOf(rowsOf(row('a', follows('b')), row('b', follows('a'))));
    expect(pipeline?.stages).toHaveLength(2);
    expect(depthsOf([{ from: 'a', to: 'a' }]).get('a')).toBe(1);
  });

  it('are found by a name, a version or an image', () => {
    const rows = rowsOf(row('staging', { waits: '1.2.0', image: 'r.example/cart' }), row('prod', follows('staging')));
    const [pipeline] = pipelinesOf(rows);
    const found = (q: string) => hasWords(pipeline!, rows, q);
    expect([found(''), found('PROD 1.2'), found('cart'), found('prod 1.3')]).toEqual([true, true, true, false]);
  });
});

describe('a picture', () => {
  it('has every stage once, without overlap, and each after its upstream Rollouts', () => {
    const edge = fc.tuple(fc.nat(11), fc.nat(11)).filter(([from, to]) => from < to);
    fc.assert(
      fc.property(fc.array(edge, { minLength: 1, maxLength: 24 }), (pairs) => {
        const edges = pairs.map(([from, to]) => ({ from: `s/${from}`, to: `s/${to}` }));
        const stages = [...new Set(edges.flatMap(({ from, to }) => [from, to]))];
        const picture = placeStages({ stages, edges });
        expect(picture.nodes.map(({ key }) => key)).toEqual(stages);
        for (const { begin, end } of picture.edges) expect(begin.x).toBeLessThan(end.x);
        for (const [index, a] of picture.nodes.entries()) {
          expect(Math.min(a.x, a.y)).toBeGreaterThanOrEqual(0);
          expect(a.x + NODE.width).toBeLessThanOrEqual(picture.width);
          for (const b of picture.nodes.slice(index + 1)) {
            expect(Math.abs(a.x - b.x) >= NODE.width || Math.abs(a.y - b.y) >= NODE.height).toBe(true);
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('versions by stage', () => {
  const staging = row('staging', { ...ran(['1.0.0', '08:00'], ['1.1.0', '10:00'], ['1.2.0', '12:00']) });
  const prod = row('prod', {
    ...ran(['1.0.0', '09:00'], ['1.1.0', '11:00', 'Failed'], ['1.0.0', '11:30']),
    waits: '1.2.0',
    since: '2026-11-22T12:30:00Z',
  });

  it('are newest first, by when each was first deployed: a rollback makes none newer', () => {
    expect(versionsOf([staging, prod])).toEqual(['1.2.0', '1.1.0', '1.0.0']);
    expect(versionsOf([prod])).toEqual(['1.2.0', '1.1.0', '1.0.0']);
  });

  it('are the current or pending ones, and a few past ones', () => {
    const many = ran(...Array.from({ length: 12 }, (_, i): [string, string] => [`1.${i}.0`, `${10 + i}:00`]));
    expect(versionsOf([row('a', many), row('b', ran(['0.9.0', '01:00']))])).toEqual([
      ...['1.11.0', '1.10.0', '1.9.0', '1.8.0', '1.7.0', '1.6.0', '0.9.0'],
    ]);
  });

  it.each([
    ['1.2.0', { is: 'waits', at: '2026-11-22T12:30:00Z' }],
    ['1.0.0', { is: 'runs', outcome: 'Succeeded', at: '2026-11-22T11:30:00Z' }],
    ['1.1.0', { is: 'ran', outcome: 'Failed', at: '2026-11-22T11:00:00Z' }],
    ['2.0.0', undefined],
  ])('%s in prod: %j', (version, cell) => {
    expect(cellOf(prod, version)).toEqual(cell);
  });

  it('name the stage that moved last, at the end of a bake too', () => {
    const baked = row('baked', { runs: { ...prod.runs!, endedAt: '2026-11-22T13:00:00Z' } });
    expect(lastMoved([staging, prod])?.id).toBe('shop/staging');
    expect(lastMoved([staging, baked])?.id).toBe('shop/baked');
    expect(lastMoved([row('new')])).toBeUndefined();
  });
});

describe('a line from stage to stage', () => {
  const track = (rest: Partial<Track>): Track => ({ version: '1.1.0', at: 'gates', halted: false, ...rest });
  const from = row('staging', ran(['1.1.0', '10:00']));
  it.each([
    ['has passed', row('prod', ran(['1.1.0', '11:00'])), 'good'],
    ['moves', row('prod', { track: track({ at: 'baking' }) }), 'busy'],
    ['is held', row('prod', { track: track({ halted: true }) }), 'held'],
    ['has failed', row('prod', { track: track({ halted: true, failed: true }) }), 'bad'],
    [
      'is not of what a stage has gone back to',
      row('prod', { track: track({ version: '1.0.0', at: 'baking' }) }),
      undefined,
    ],
    ['has nothing to bring', row('prod', ran(['1.0.0', '09:00'])), undefined],
    ['ends at what may not be seen', undefined, undefined],
  ])('%s', (_, to, state) => {
    expect(edgeTone(from, to)).toBe(state);
  });
});
