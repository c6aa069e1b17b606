/** Objects that a Gate doesn't hold yet, by their own annotations. */
import { describe, expect, it } from 'vitest';
import { reachMetadata, unheldOf, unresumedOf } from '../../../core/suspension/unreachedObjects.ts';
import { costInReadings } from '../../support/cost.ts';
import { gate, type KustomizationParts, kustomization } from '../admission/objects.ts';

const named = { 'gate.fluxcd.io/gates': 'freeze' };
const freeze = gate('shop/freeze');
const all = gate('ops/all', { selects: { namespaceSelector: { matchLabels: { team: 'shop' } } } });
const labels = new Map([['shop', { team: 'shop' }]]);
const NOT_MARKED = 'not marked yet: check the logs';

/** As the API server has it, and with the metadata that the hook keeps. */
const forms = (parts: KustomizationParts) => {
  const whole = kustomization(parts);
  const { apiVersion, kind } = whole;
  return [whole, { apiVersion, kind, metadata: reachMetadata(whole) }];
};

describe('a Flux object is reported', () => {
  it.each([
    ['that names the Gate and carries nothing of ours', freeze, named, 'NotMarked', NOT_MARKED],
    ['that the Gate selects by its Namespace', all, {}, 'NotMarked', NOT_MARKED],
    [
      'whose mark is still that of the open Gate',
      freeze,
      { ...named, 'gate.fluxcd.io/state': 'open' },
      'NotMarked',
      NOT_MARKED,
    ],
    [
      'that is marked and not suspended',
      freeze,
      { ...named, 'gate.fluxcd.io/state': 'closed: shop/freeze' },
      'NotSuspended',
      'marked, but not suspended',
    ],
    [
      'with a bypass of an earlier closure of the Gate',
      freeze,
      { ...named, 'gate.fluxcd.io/state': 'bypassed: shop/freeze@close=2026-03-04T09:00:00Z' },
      'NotMarked',
      NOT_MARKED,
    ],
    [
      'that a client has resumed, and whose mark did not reach the webhook',
      freeze,
      { ...named, 'gate.fluxcd.io/suspended': 'unset', 'gate.fluxcd.io/state': 'closed@2026-03-04T10:00:00Z' },
      'NotSuspended',
      'marked, but not suspended',
    ],
    [
      'that runs for one deployment, behind an earlier closure of the Gate',
      freeze,
      { ...named, 'gate.fluxcd.io/state': 'bypassing: shop/freeze@close=2026-03-04T09:00:00Z' },
      'NotMarked',
      NOT_MARKED,
    ],
    [
      'that has no room for our annotations',
      freeze,
      { ...named, 'x/a': 'y'.repeat(250_000) },
      'NotMarked',
      'its annotations have 250029 bytes',
    ],
  ])('%s', (_, gate, annotations, reason, message) => {
    const found = { kind: 'Kustomization', namespace: 'shop', name: 'web', reason };
    for (const object of forms({ annotations }))
      expect(unheldOf(gate, undefined, [object], labels)).toEqual([
        { ...found, message: expect.stringContaining(message) },
      ]);
  });

  it.each([
    [
      'that is suspended by us',
      freeze,
      { ...named, 'gate.fluxcd.io/suspended': 'unset', 'gate.fluxcd.io/state': 'closed: shop/freeze' },
    ],
    ['with a bypass of the Gate', freeze, { ...named, 'gate.fluxcd.io/state': 'bypassed: shop/freeze' }],
    ['that runs for one deployment', freeze, { ...named, 'gate.fluxcd.io/state': 'bypassing: shop/freeze' }],
    [
      'that is suspended for its source, behind an earlier closure of the Gate',
      freeze,
      {
        ...named,
        'gate.fluxcd.io/suspended': 'unset',
        'gate.fluxcd.io/state': 'bypassing: shop/freeze@close=2026-03-04T09:00:00Z',
      },
    ],
  ])('not one %s', (_, gate, annotations) => {
    for (const object of forms({ annotations })) expect(unheldOf(gate, undefined, [object], labels)).toEqual([]);
  });
});

describe('behind an open Gate, a suspended object is reported', () => {
  const held = { ...named, 'gate.fluxcd.io/suspended': 'unset' };
  const labels = { 'kustomize.toolkit.fluxcd.io/name': 'fleet', 'kustomize.toolkit.fluxcd.io/namespace': 'flux' };
  it.each([
    [
      'that waits for its applier',
      { annotations: { ...held, 'gate.fluxcd.io/state': 'opening: 2026-03-04T09:00:00.000Z' }, labels },
      'WaitsForApplier',
      "it waits until Kustomization 'flux/fleet' applies it again",
    ],
    [
      'that nothing has resumed',
      { annotations: { ...held, 'gate.fluxcd.io/state': 'closed: shop/freeze' } },
      'NotResumed',
      'the webhook has not resumed it yet',
    ],
    [
      'whose mark did not reach the webhook',
      { annotations: { ...held, 'gate.fluxcd.io/state': 'open' } },
      'NotResumed',
      'the webhook has not resumed it yet',
    ],
    [
      'whose mark did not reach it again a minute later',
      { annotations: { ...held, 'gate.fluxcd.io/state': 'open@2026-03-04T10:00:00Z' } },
      'NotResumed',
      'the webhook has not resumed it yet',
    ],
  ])('%s', (_, object, reason, message) => {
    const found = { kind: 'Kustomization', namespace: 'shop', name: 'web', reason };
    for (const each of forms(object))
      expect(unresumedOf(freeze, [each], new Map())).toEqual([{ ...found, message: expect.stringContaining(message) }]);
  });

  it.each([
    ['that runs', { ...named, 'gate.fluxcd.io/state': 'open' }],
    [
      'whose source still fetches its version',
      { ...held, 'gate.fluxcd.io/state': 'open', 'rollout.kuberik.com/awaits-artifact': 'my-app=1/1.0.0/u' },
    ],
    ['that another Gate holds too', { ...held, 'gate.fluxcd.io/state': 'closed: shop/freeze,shop/other' }],
  ])('not one %s', (_, annotations) => {
    for (const object of forms({ annotations })) expect(unresumedOf(freeze, [object], new Map())).toEqual([]);
  });
});

it('the hook keeps no annotation of others', () => {
  const annotations = { ...named, 'x/a': 'y'.repeat(100_000) };
  expect(reachMetadata(kustomization({ annotations })).annotations).toEqual(named);
});

describe('a Gate with as large a selector as a tenant may write, and a thousand objects of its namespace', () => {
  const values = Array.from({ length: 9000 }, (_, i) => `v${i}`);
  const keys = Array.from({ length: 1500 }, (_, i) => `k${i}`);
  it.each([
    ['one condition with many values', [{ key: 'app', operator: 'NotIn' as const, values }]],
    ['many conditions', keys.map((key) => ({ key, operator: 'DoesNotExist' as const }))],
    ['many conditions on one label', keys.map((each) => ({ key: 'a', operator: 'In' as const, values: ['b', each] }))],
  ])('%s: found in about the time that it takes to read them', (_, matchExpressions) => {
    const large = gate('shop/freeze', { selects: { labelSelector: { matchExpressions } } });
    const objects = Array.from({ length: 1000 }, () => kustomization({ labels: { a: 'b' } }));
    const find = () => [...unheldOf(large, undefined, objects, labels), ...unresumedOf(large, objects, labels)];
    expect(find()).toHaveLength(1000);
    expect(costInReadings([large, objects], find)).toBeLessThan(100);
  });
});
