import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../core/limits.ts';
import { actionRequestOf, adoptRequestOf } from '../../page/posted.ts';

const at = { namespace: 'shop', name: 'checkout' };
const rollout = { kind: 'Rollout', ...at };
const gate = { kind: 'Gate', namespace: 'ops', name: 'prod' };
const selects = { kinds: ['Rollout'] };
const every = { days: ['Friday'], hours: { start: '16:00', end: '08:00' }, timezone: 'Europe/Berlin' };

describe('the page’s requests', () => {
  it.each([
    [{ type: 'deploy', object: rollout, version: '1.2.0', reason: 'fix' }],
    [{ type: 'unpin', object: rollout }],
    [{ type: 'approve', object: { kind: 'RolloutGate', namespace: 'shop', name: 'qa' }, version: '1.2.0', reason: '' }],
    [{ type: 'approve', object: gate, rollout: at, version: '1.2.0' }],
    [{ type: 'close', object: gate }],
    [{ type: 'continue', object: { kind: 'ClusterRolloutBudget', namespace: '', name: 'fleet' }, version: '1.2.0' }],
    [
      {
        type: 'continue',
        object: { kind: 'RolloutBudget', ...at },
        version: '1.2.0',
        image: 'registry.example.com/shop/app',
      },
    ],
    [{ type: 'unrequire', object: rollout, gate: { namespace: 'ops', name: 'prod' } }],
    [{ type: 'freeze', object: gate, freeze: { selects, at: 1, lasts: 2 } }],
    [{ type: 'freeze', object: gate, freeze: { selects: { ...selects, namespaceSelector: {} }, every } }],
  ])('is an action: %j', (action) => {
    expect(actionRequestOf(action)).toEqual(action);
  });

  it.each([
    ['nothing', undefined],
    ['a list', []],
    ['another verb', { type: 'delete', object: rollout }],
    ['a verb of every object', { type: 'constructor', object: rollout }],
    ['another kind', { type: 'deploy', object: { kind: 'Secret', ...at }, version: '1.2.0' }],
    ['a kind that the action does not write', { type: 'deploy', object: gate, version: '1.2.0' }],
    ['no object', { type: 'retry' }],
    ['no version', { type: 'deploy', object: rollout }],
    ['a path for a name', { type: 'retry', object: { ...rollout, name: '../../secrets/x' } }],
    ['a namespace that leads elsewhere', { type: 'retry', object: { ...rollout, namespace: 'shop/secrets' } }],
    ['no namespace', { type: 'retry', object: { ...rollout, namespace: '' } }],
    ['a version that is no tag', { type: 'deploy', object: rollout, version: '1.2.0; rm -rf' }],
    ['an image that is none', { type: 'retry', object: rollout, image: '$(reboot)' }],
    ['a freeze without a selection', { type: 'freeze', object: gate, freeze: {} }],
    ['a freeze of no kind', { type: 'freeze', object: gate, freeze: { selects: { kinds: [] } } }],
    ['a freeze of another kind', { type: 'freeze', object: gate, freeze: { selects: { kinds: ['Secret'] } } }],
    [
      'a freeze of namespaces',
      { type: 'freeze', object: gate, freeze: { selects: { ...selects, namespaceSelector: { matchLabels: 1 } } } },
    ],
    ['a freeze at no time', { type: 'freeze', object: gate, freeze: { selects, at: '2026-11-22T08:00:00Z' } }],
    [
      'a freeze on no day',
      { type: 'freeze', object: gate, freeze: { selects, every: { ...every, days: ['Caturday'] } } },
    ],
    ['a freeze with another field', { type: 'freeze', object: gate, freeze: { selects, spec: {} } }],
    ['a reason that is too long', { type: 'retry', object: rollout, reason: 'x'.repeat(LIMITS.gateReason + 1) }],
    ['another field', { type: 'retry', object: rollout, method: 'DELETE' }],
    ['another field of the object', { type: 'retry', object: { ...rollout, path: '/api' } }],
    ['a reason that is no text', { type: 'retry', object: rollout, reason: { a: 1 } }],
  ])('is refused: %s', (_, value) => {
    expect(actionRequestOf(value)).toBeUndefined();
  });
});

describe('an adoption', () => {
  const asked = { kind: 'Kustomization', namespace: 'shop', name: 'checkout' };

  it.each([[{}], [{ policy: 'checkout', variable: 'CHECKOUT_VERSION', rollout: 'checkout', runs: '1.4.0' }]])(
    'is taken with its choices: %j',
    (choices) => {
      expect(adoptRequestOf({ ...asked, choices })).toEqual({ ...asked, choices });
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
    expect(adoptRequestOf(value)).toBeUndefined();
  });
});
