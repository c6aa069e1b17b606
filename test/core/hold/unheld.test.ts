/** What a closed Gate requires to stand still and does not, by the objects' own annotations. */
import { describe, expect, it } from 'vitest';
import { unheldOf } from '../../../core/hold/unheld.ts';
import { gate, kustomization } from './objects.ts';

const named = { 'gate.fluxcd.io/gates': 'freeze' };
const freeze = gate('shop/freeze');
const all = gate('ops/all', { selects: { namespaceSelector: { matchLabels: { team: 'shop' } } } });
const labels = new Map([['shop', { team: 'shop' }]]);
const NOT_MARKED = 'Metacontroller has not marked it yet';

describe('a Flux object is reported', () => {
  it.each([
    ['that names the Gate and carries nothing of ours', freeze, named, 'NotMarked', NOT_MARKED],
    ['that the Gate selects by its Namespace', all, {}, 'NotMarked', NOT_MARKED],
    [
      'that is marked and not suspended',
      freeze,
      { ...named, 'gate.fluxcd.io/state': 'open' },
      'NotSuspended',
      'it is marked',
    ],
    [
      'that has no room for our annotations',
      freeze,
      { ...named, 'x/a': 'y'.repeat(250_000) },
      'NotMarked',
      'its annotations take 250029 bytes',
    ],
  ])('%s', (_, gate, annotations, reason, message) => {
    expect(unheldOf(gate, [kustomization({ annotations })], labels)).toEqual([
      { kind: 'Kustomization', namespace: 'shop', name: 'web', reason, message: expect.stringContaining(message) },
    ]);
  });

  it.each([
    ['that is suspended by us', freeze, { ...named, 'gate.fluxcd.io/suspended': 'unset' }],
    ['that somebody has let past the Gate', freeze, { ...named, 'gate.fluxcd.io/state': 'bypassed: shop/freeze' }],
    ['that runs for one deployment', freeze, { ...named, 'gate.fluxcd.io/state': 'passing: shop/freeze' }],
    ['that requires another Gate', freeze, { 'gate.fluxcd.io/gates': 'other' }],
    [
      'of a Namespace that is not selected',
      gate('ops/all', { selects: { namespaceSelector: { matchLabels: { team: 'x' } } } }),
      {},
    ],
  ])('not one %s', (_, gate, annotations) => {
    expect(unheldOf(gate, [kustomization({ annotations })], labels)).toEqual([]);
  });
});
