import { describe, expect, it } from 'vitest';
import type { KindName } from '../../api/kinds.ts';
import { type Action, type ActionType, lackingText } from '../../client/actions/action.ts';
import { offer } from '../../client/actions/offer.ts';
import { ACTIONS, rightsOf } from '../../client/actions/table.ts';
import { mayDo, primaryOf } from '../../ui/parts/rights.ts';

const action = (type: ActionType, kind: KindName): Action =>
  offer({ type, object: { kind, namespace: 'shop', name: 'web' }, version: '1.2.0' })[0]!;

describe('the primary button', () => {
  const all = Object.entries(ACTIONS).flatMap(([type, { kinds }]) =>
    kinds.map((kind) => [type as ActionType, kind] as const),
  );

  it.each(all.filter(([type]) => ['open', 'close', 'bypass', 'deploy', 'freeze', 'resume'].includes(type)))(
    'is never %s of a %s, not even alone',
    (type, kind) => {
      expect(primaryOf([{ ...action(type, kind), primary: true }])).toBeUndefined();
    },
  );

  it.each([
    ['the bypass of every RolloutGate', action('bypassRolloutGates', 'Rollout')],
    ['the creation of a missing Gate, which opens it for all', action('create', 'Gate')],
  ])('is never %s', (_, only) => {
    expect(primaryOf([only])).toBeUndefined();
  });

  it('is the likely action for one version', () => {
    const [open, retry, approve] = [action('open', 'Gate'), action('retry', 'Rollout'), action('approve', 'Gate')];
    expect(primaryOf([open, retry, approve])).toBe(retry);
    const likely: Action = { ...approve, primary: true };
    expect(primaryOf([open, retry, likely])).toBe(likely);
  });
});

describe('the reader’s rights', () => {
  const WIDE = { selects: { namespaceSelector: {} } };
  const open = action('open', 'Gate');

  it('needs every right, and names the missing ones', () => {
    expect(mayDo(open, { 'patch gates shop/web': true })).toBe(true);
    expect(mayDo(open, {})).toBe(false);
    expect(lackingText(open.rights, { 'patch gates shop/web': false })).toBe('patch on gates shop/web');
  });

  it.each([
    ['a new Gate', {}, false, 'create on gates shop/freeze'],
    ['an existing Gate', WIDE, true, 'patch on gates shop/freeze'],
    ['a new Gate of other namespaces', WIDE, false, 'create on gates shop/freeze and select-namespaces on gates *'],
  ])('names what a freeze by %s takes', (_, freeze, exists, text) => {
    const request = { type: 'freeze' as const, object: { kind: 'Gate' as const, namespace: 'shop', name: 'freeze' } };
    expect(lackingText(rightsOf({ ...request, freeze }, exists ? ({ metadata: {} } as never) : undefined), {})).toBe(
      text,
    );
  });
});
