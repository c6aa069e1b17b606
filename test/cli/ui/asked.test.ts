import { describe, expect, it } from 'vitest';
import { askedOf, takeOverAskedOf } from '../../../cli/ui/asked.ts';

const rollout = { namespace: 'shop', name: 'checkout' };

describe('what the page posts', () => {
  it.each([
    [{ do: 'deploy', rollout, version: '1.2.0', reason: 'fix' }],
    [{ do: 'unpin', rollout, reason: '' }],
    [{ do: 'approve', rolloutGate: { namespace: 'shop', name: 'qa' }, version: '1.2.0', reason: '' }],
    [{ do: 'approve-at-gate', gate: { namespace: 'ops', name: 'prod' }, rollout, version: '1.2.0', reason: '' }],
    [{ do: 'close', gate: { namespace: 'shop', name: 'freeze' }, reason: '', at: '2026-11-22T08:00:00Z' }],
    [
      {
        do: 'freeze',
        gate: { namespace: 'shop', name: 'freeze' },
        reason: '',
        spec: { default: 'opened' },
        closes: true,
      },
    ],
  ])('is one of its requests: %j', (asked) => {
    expect(askedOf(asked)).toEqual(asked);
  });

  it.each([
    ['nothing', undefined],
    ['a list', []],
    ['another verb', { do: 'delete', rollout }],
    ['a verb of every object', { do: 'constructor', rollout }],
    ['an approval for no Rollout', { do: 'approve-at-gate', gate: rollout, version: '1.2.0', reason: '' }],
    ['no object', { do: 'retry', reason: '' }],
    ['a path for a name', { do: 'retry', rollout: { namespace: 'shop', name: '../../secrets/x' } }],
    ['a namespace that leads elsewhere', { do: 'retry', rollout: { namespace: 'shop/secrets', name: 'x' } }],
    ['a version that is no tag', { do: 'deploy', rollout, version: '1.2.0; rm -rf', reason: '' }],
    ['a reason that is too long', { do: 'retry', rollout, reason: 'x'.repeat(1001) }],
    ['a reason that is no text', { do: 'retry', rollout, reason: { a: 1 } }],
  ])('is refused: %s', (_, value) => {
    expect(askedOf(value)).toBeUndefined();
  });

  it('loses what does not belong to it', () => {
    expect(askedOf({ do: 'retry', rollout: { ...rollout, path: '/api' }, reason: '', method: 'DELETE' })).toEqual({
      do: 'retry',
      rollout,
      reason: '',
    });
  });
});

describe('what is to be taken over', () => {
  const asked = { kind: 'Kustomization', namespace: 'shop', name: 'checkout' };

  it.each([[{}], [{ policy: 'checkout', variable: 'CHECKOUT_VERSION', rollout: 'checkout', runs: '1.4.0' }]])(
    'is taken with its choices: %j',
    (choices) => {
      expect(takeOverAskedOf({ ...asked, choices })).toEqual({ ...asked, choices });
    },
  );

  it.each([
    ['no choices', asked],
    ['a kind that is not taken over', { ...asked, kind: 'Secret', choices: {} }],
    ['a path for a name', { ...asked, name: '../x', choices: {} }],
    ['another choice', { ...asked, choices: { apply: 'true' } }],
    ['a version that is no tag', { ...asked, choices: { runs: '1.4.0 --yes' } }],
    ['a variable that is none', { ...asked, choices: { variable: 'A-B' } }],
    ['a choice that is no text', { ...asked, choices: { policy: ['checkout'] } }],
  ])('is refused: %s', (_, value) => {
    expect(takeOverAskedOf(value)).toBeUndefined();
  });
});
