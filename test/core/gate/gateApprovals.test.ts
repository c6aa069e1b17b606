import { describe, expect, it } from 'vitest';
import type { Gate } from '../../../api/types.ts';
import { evaluateGates } from '../../../core/gate/evaluateGates.ts';
import { byRefKey } from '../../../core/kube/names.ts';
import { gate } from './gate.ts';

describe('approvals of a Rollout', () => {
  const at = Date.parse('2026-03-01T12:00:00Z');
  const given = (more: object = {}) => ({
    version: '1.0.0',
    rollout: 'apps/app',
    uid: 'uid-app',
    by: 'alice',
    at: '2026-03-01T11:00:00Z',
    ...more,
  });
  const approved = (more: object) =>
    gate(
      { default: 'closed', approvals: { required: 1 } },
      { 'gate.fluxcd.io/approvals': JSON.stringify({ given: [given(more)] }) },
    );
  const next = {
    version: '1.0.0',
    rollout: 'apps/app',
    uid: 'uid-app',
    users: { requesters: [], authors: undefined },
  };
  const ref = { namespace: 'platform', name: 'freeze' };
  const isOpenWith = (approvable: Gate) => evaluateGates([ref], byRefKey([approvable]), at, next)[0]?.isOpen;

  it.each([
    ['count for it', {}, true],
    ['of another version do not', { version: '1.0.1' }, false],
    ['of another Rollout do not', { rollout: 'apps/other' }, false],
    ['do not outlive it, where another has its name', { uid: 'uid-before' }, false],
    ['without a uid count for none', { uid: undefined }, false],
  ])('%s', (_, more, isOpen) => {
    expect(isOpenWith(approved(more))).toBe(isOpen);
  });

  it.each([
    ['in its second', '2026-03-01T11:00:00Z', false],
    ['after it', '2026-03-01T11:00:01Z', true],
  ])('count after a request to close only, not if given %s', (_, time, isOpen) => {
    const current = { action: 'close', at: '2026-03-01T11:00:00Z' };
    const closedByRequest = gate(
      { default: 'opened', approvals: { required: 1 } },
      {
        'gate.fluxcd.io/accepted-request': JSON.stringify({ current, handled: {} }),
        'gate.fluxcd.io/approvals': JSON.stringify({ given: [given({ at: time })] }),
      },
    );
    expect(isOpenWith(closedByRequest)).toBe(isOpen);
  });
});
