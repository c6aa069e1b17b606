import { describe, expect, it } from 'vitest';
import { askedOf } from '../../../cli/ui/asked.ts';

const rollout = { namespace: 'shop', name: 'checkout' };

describe('what the page posts', () => {
  it.each([
    [{ do: 'deploy', rollout, version: '1.2.0', reason: 'fix' }],
    [{ do: 'unpin', rollout, reason: '' }],
    [{ do: 'approve', rolloutGate: { namespace: 'shop', name: 'qa' }, version: '1.2.0', reason: '' }],
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
