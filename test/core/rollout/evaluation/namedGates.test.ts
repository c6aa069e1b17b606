/** Names of Gates that may be removed although they count as closed. */
import { describe, expect, it } from 'vitest';
import type { RolloutStatus } from '../../../../api/types.ts';
import { closedAmong } from '../../../../core/gate/closedGates.ts';
import { evaluateGates } from '../../../../core/gate/evaluateGates.ts';
import { ANY_REF, gatesNamedBy } from '../../../../core/gate/gateRefs.ts';
import { byRefKey } from '../../../../core/kube/names.ts';
import {
  closedAgainstRemoval,
  namedGateRecords,
  neverSeen,
} from '../../../../core/rollout/evaluation/gatesOfRollout.ts';
import type { Observed } from '../../../../core/rollout/evaluation/observed.ts';
import { objectOf } from '../../../support/objects.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');

const rollout = (names: string[], status?: Partial<RolloutStatus>, generation = 2) =>
  objectOf('Rollout', 'shop/app', {
    metadata: { generation },
    spec: { releasesImagePolicy: { name: 'app' }, gates: names.map((name) => ({ name })) },
    ...(status && { status: status as RolloutStatus }),
  });

const gate = (name: string) => objectOf('Gate', `shop/${name}`, { spec: { default: 'closed' as const } });

function recorded(of: ReturnType<typeof rollout>, there: string[] = [], looked = gatesNamedBy(of, ANY_REF)) {
  return namedGateRecords({
    rollout: of,
    requiredGates: { refs: looked },
    gates: byRefKey(there.map(gate)),
    settings: ANY_REF,
  } as unknown as Observed);
}

describe('the record of a name', () => {
  const unseen = [{ gate: 'shop/freeze', seen: false }];
  const seen = [{ gate: 'shop/freeze', seen: true }];
  it.each<[string, ReturnType<typeof recorded>, typeof seen]>([
    ['of no Gate, new with this spec', recorded(rollout(['freeze'], { observedGeneration: 1 })), unseen],
    ['of no Gate, on a new Rollout', recorded(rollout(['freeze'])), unseen],
    ['of a Gate that is there', recorded(rollout(['freeze']), ['freeze']), seen],
    ['twice is one', recorded(rollout(['freeze', 'freeze']), ['freeze']), seen],
    ['of a Gate that is gone', recorded(rollout(['freeze'], { observedGeneration: 2, namedGates: seen })), seen],
    [
      'of a Gate that is gone, with a change of the spec',
      recorded(rollout(['freeze'], { observedGeneration: 1, namedGates: seen })),
      seen,
    ],
    [
      'of no Gate, as long as there is none',
      recorded(rollout(['freeze'], { observedGeneration: 2, namedGates: unseen })),
      unseen,
    ],
    [
      'of a Gate that has appeared',
      recorded(rollout(['freeze'], { observedGeneration: 2, namedGates: unseen }), ['freeze']),
      seen,
    ],
    ['that is not looked at', recorded(rollout(['freeze']), [], []), []],
    ['that is not looked at any more', recorded(rollout(['freeze'], { namedGates: seen }), [], []), seen],
    ['that is gone', recorded(rollout([], { namedGates: seen })), []],
  ])('%s', (_, found, expected) => {
    expect(found).toEqual(expected);
  });
});

describe('a closed Gate keeps the Rollout from releasing its objects', () => {
  const status = { observedGeneration: 2, namedGates: [{ gate: 'shop/freeze', seen: false }] };
  const closed = (there: string[]) =>
    closedAmong(evaluateGates([{ namespace: 'shop', name: 'freeze' }], byRefKey(there.map(gate)), NOW));
  const against = (of: ReturnType<typeof rollout>, there: string[] = [], also?: ReadonlySet<string>) =>
    closedAgainstRemoval(closed(there), of, also)?.gates.length ?? 0;

  it('but not the name of none that ever was', () => {
    expect(against(rollout(['freeze'], status))).toBe(0);
    expect([...neverSeen(rollout(['freeze'], status))]).toEqual(['shop/freeze']);
  });

  it.each<[string, number]>([
    ['that was there', against(rollout(['freeze'], { ...status, namedGates: [{ gate: 'shop/freeze', seen: true }] }))],
    ['that is there by now', against(rollout(['freeze'], status), ['freeze'])],
    ['where the record is of another spec', against(rollout(['freeze'], status, 3))],
    ['where there is no record', against(rollout(['freeze'], { observedGeneration: 2 }))],
    ['where there is no status', against(rollout(['freeze']))],
    ['that something else requires', against(rollout(['freeze'], status), [], new Set(['shop/freeze']))],
  ])('%s', (_, count) => {
    expect(count).toBe(1);
  });
});
