import { describe, expect, it } from 'vitest';
import { isUsed, pendingContinue, recordContinue } from '../../../core/budget/continueRequest.ts';
import { objectOf } from '../../support/objects.ts';
import { NOW } from '../rollout/observedFixture.ts';

const budget = (annotations: Record<string, string>, handledRequest?: string) =>
  objectOf('RolloutBudget', 'team-a/fleet', {
    metadata: { annotations },
    spec: { selector: {}, maxConcurrent: 1 },
    ...(handledRequest && { status: { handledRequest } }),
  });
const CONTINUE = 'rollout.kuberik.com/continue';
const RECORD = 'rollout.kuberik.com/continue-request';
const alice = { uid: 'uid-1', userInfo: { username: 'alice' } };
const recorded = (id: string, by: string, at = '2026-03-01T12:00:00Z') => JSON.stringify({ id, by, at });

describe('the record of the user who continues', () => {
  it('names the user, and is acted on once', () => {
    const asked = recordContinue(budget({ [CONTINUE]: '1.2.0' }), budget({}), alice, NOW);
    expect(asked.metadata.annotations?.[RECORD]).toBe(recorded('uid-1', 'alice'));
    expect(pendingContinue(asked)).toEqual({ version: '1.2.0', id: 'uid-1', by: 'alice', at: NOW });
    const done = { ...asked, status: { handledRequest: 'uid-1' } };
    expect(pendingContinue(done)).toBeUndefined();
    expect(isUsed(done)).toBe(true);
  });

  it.each([
    [
      'of one that stays',
      budget({ [CONTINUE]: '1.2.0', [RECORD]: recorded('uid-0', 'bob', '2026-03-01T11:00:00Z') }),
      recorded('uid-0', 'bob', '2026-03-01T11:00:00Z'),
    ],
  ])('and texts in it are the webhook’s alone: %s', (_, before, expected) => {
    const forged = budget({ [CONTINUE]: '1.2.0', [RECORD]: recorded('uid-9', 'root') });
    expect(recordContinue(forged, before, alice, NOW).metadata.annotations?.[RECORD]).toBe(expected);
  });

  it('is removed with the request, and never exists without it', () => {
    const forged = budget({ [RECORD]: recorded('uid-9', 'root') });
    expect(recordContinue(forged, undefined, alice, NOW).metadata.annotations).toBeUndefined();
  });

  it.each([
    ['no webhook has seen', {}],
    ['an earlier commit has recorded', { [RECORD]: 'uid-0 2026-03-01T11:00:00Z alice' }],
  ])(
    'is missing for a request that %s: it has no effect, and is removed, so that it can be made again',
    (_, record) => {
      const unseen = budget({ [CONTINUE]: '1.2.0', ...record });
      expect(pendingContinue(unseen)).toBeUndefined();
      expect(isUsed(unseen)).toBe(true);
      expect(isUsed(budget({}))).toBe(false);
    },
  );
});
