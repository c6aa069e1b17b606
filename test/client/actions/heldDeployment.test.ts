/** The actions that are offered while a closed Gate holds a deployment. */
import { expect, it } from 'vitest';
import { blocker, entry, gate, offered, RAN, said, waits } from './offers.ts';

const HELD = { ...entry('1.0.1', 3, 'Deploying'), waitingSince: '2026-11-22T07:30:00Z' };
const history = [HELD, ...RAN];

const bypassedAt = (closure: string) => ({
  'gate.fluxcd.io/bypassed-gates': `1.0.1 (3) 2026-11-22T07:45:00Z: ${closure}`,
});

it.each<[string, object, string[]]>([
  ['no version waits', { history }, ['bypass 1.0.1']],
  ['a version waits for its bake', waits({ history, blockers: [blocker('Bake', 'BakeInProgress')] }), ['bypass 1.0.1']],
  ['a version may replace it', waits({ history }), ['bypass 1.1.0']],
  [
    'it is applied, so that no bypass is for it',
    { history: [{ ...HELD, appliedTime: HELD.waitingSince }, ...RAN] },
    [],
  ],
])('%s', (_, status, bypasses) => {
  const actions = offered({ spec: { gates: [{ name: 'freeze' }] }, gates: [gate('freeze')], status });
  expect(actions.map(said)).toEqual(['open gate/freeze', ...bypasses]);
});

it.each<[string, string, string[]]>([
  ['of an earlier closure', 'shop/freeze@close=2026-11-22T06:00:00Z', ['bypass 1.0.1']],
  ['of this closure, which does not release the object that is still held', 'shop/freeze', []],
])('after a bypass %s', (_, closure, bypasses) => {
  const held = { spec: { gates: [{ name: 'freeze' }] }, gates: [gate('freeze')], status: { history } };
  const actions = offered({ ...held, annotations: bypassedAt(closure) });
  expect(actions.map(said)).toEqual(['open gate/freeze', ...bypasses]);
});
