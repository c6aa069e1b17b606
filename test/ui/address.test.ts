import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Address, formatAddress, parseAddress, type Query, type QueryKey } from '../../ui/state/address.ts';
import { anyText } from '../support/anyText.ts';

const text = anyText({ minLength: 1 });
/** No name is one of the last two. */
const segment = text.filter((each) => !each.includes('/') && each !== '.' && each !== '..');
const id = fc.tuple(segment, segment).map(([namespace, name]) => `${namespace}/${name}`);
const kind = segment.filter((each) => each !== 'rollout');
const queryOf = <Key extends QueryKey>(...keys: Key[]): fc.Arbitrary<Query> =>
  fc.record(Object.fromEntries(keys.map((key) => [key, text])), { requiredKeys: [] }) as fc.Arbitrary<Query>;

const routes: fc.Arbitrary<Address> = fc.oneof(
  fc.record({ page: fc.constant('board' as const), query: queryOf('q', 'state', 'cluster', 'namespace', 'group') }),
  fc.record({ page: fc.constant('rollout' as const), id, query: queryOf('cluster', 'release', 'do') }),
  fc.record({
    page: fc.constant('gates' as const),
    query: queryOf(
      'cluster',
      'range',
      'do',
      'when',
      'from',
      'for',
      'in',
      'all',
      'name',
      'kinds',
      'days',
      'between',
      'zone',
    ),
  }),
  fc.record({
    page: fc.constant('adopt' as const),
    query: queryOf('cluster', 'q', 'object', 'policy', 'variable', 'rollout', 'runs'),
  }),
  fc.record({ page: fc.constant('promotion' as const), query: queryOf('q', 'cluster', 'stage', 'release', 'do') }),
  fc.record({ page: fc.constant('object' as const), kind, id, query: queryOf('cluster', 'do') }),
);

describe('an address', () => {
  it('can be read back', () => {
    fc.assert(
      fc.property(routes, (route) => {
        expect(parseAddress(formatAddress(route))).toEqual(route);
      }),
    );
  });

  it('stays the same when the browser has it', () => {
    fc.assert(
      fc.property(routes, (route) => {
        const address = formatAddress(route);
        const { pathname, search } = new URL(address, 'http://page');
        expect(pathname + search).toBe(address);
      }),
    );
  });

  it('is one or is unknown, whatever is typed', () => {
    fc.assert(
      fc.property(anyText(), (typed) => {
        const route = parseAddress(`/${typed}`);
        expect(parseAddress(formatAddress(route))).toEqual(route);
      }),
    );
  });

  it.each<[string, Address]>([
    ['/', { page: 'board', query: {} }],
    [
      '/?q=web&state=waits&group=label:team',
      { page: 'board', query: { q: 'web', state: 'waits', group: 'label:team' } },
    ],
    ['/rollout/shop/web?release=1.2.0', { page: 'rollout', id: 'shop/web', query: { release: '1.2.0' } }],
    [
      '/rollout/shop/web?do=approve/RolloutGate/shop/qa/1.2.0',
      { page: 'rollout', id: 'shop/web', query: { do: 'approve/RolloutGate/shop/qa/1.2.0' } },
    ],
    ['/gates?range=month&do=freeze', { page: 'gates', query: { range: 'month', do: 'freeze' } }],
    [
      '/promotion?stage=shop/prod&release=1.2.0',
      { page: 'promotion', query: { stage: 'shop/prod', release: '1.2.0' } },
    ],
    [
      '/rollout/shop/web?cluster=arn:aws:eks:eu-1:1:cluster/prod',
      { page: 'rollout', id: 'shop/web', query: { cluster: 'arn:aws:eks:eu-1:1:cluster/prod' } },
    ],
    ['/kustomization/shop/web', { page: 'object', kind: 'kustomization', id: 'shop/web', query: {} }],
  ])('%s', (address, route) => {
    expect(parseAddress(address)).toEqual(route);
    expect(formatAddress(route)).toBe(address);
  });

  it.each([
    ['/rollout/shop', 'too short'],
    ['/rollout/shop/%E0%A4%A', 'no text'],
    ['/rollout/shop/web/more', 'too long'],
  ])('%s is no page: %s', (path) => {
    expect(parseAddress(path)).toEqual({ page: 'unknown', path, query: {} });
  });

  it('keeps nothing that its page does not show, and no reason', () => {
    expect(parseAddress('/gates?q=web&reason=INC-42&do=')).toEqual({ page: 'gates', query: {} });
  });
});
