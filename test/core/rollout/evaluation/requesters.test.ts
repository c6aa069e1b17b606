import { describe, expect, it } from 'vitest';
import { nextRequesters, requestedText, requesterOf } from '../../../../core/rollout/evaluation/rolloutRequests.ts';
import { requestersOf } from '../../../../core/rollout/evaluation/versionApprovals.ts';
import { rollout } from '../../../hooks/rollout/call.ts';

const asked = (annotations: Record<string, string>, wantedVersion?: string) => {
  const base = rollout(wantedVersion ? { wantedVersion } : {});
  const named = Object.entries(annotations).map(([key, value]) => [`rollout.kuberik.com/${key}`, value]);
  return { ...base, metadata: { ...base.metadata, annotations: Object.fromEntries(named) } };
};

describe('the requester of a version is the user who set the field that names it', () => {
  const both = asked(
    {
      'force-deploy': '1.1.0',
      requesters: JSON.stringify({ wantedVersion: 'developer', 'force-deploy': 'sre' }),
      'requested-by': 'sre',
      'requested-at': '2026-03-01T12:00:00Z',
    },
    '6.6.6',
  );

  it('is the user of the pin, even if another user forces another version', () => {
    expect(requesterOf(both, '6.6.6')).toEqual({ by: 'developer' });
    expect(requestedText(both, '6.6.6')).toBe('requested by developer');
  });

  it('is the user of the force-deploy, with the time of the newest request if known', () => {
    expect(requesterOf(both, '1.1.0')).toEqual({ by: 'sre', at: '2026-03-01T12:00:00Z' });
    expect(requestedText(both, '1.1.0')).toBe('requested by sre at 2026-03-01T12:00:00Z');
  });

  it('is none for any other version', () => {
    expect(requesterOf(both, '1.2.0')).toEqual({});
    expect(requestedText(both, '1.2.0')).toBe('');
  });

  it('of a version that both name is the one whose request takes effect; approvals of both don’t count', () => {
    const same = { ...both, spec: { ...both.spec, wantedVersion: '1.1.0' } } as typeof both;
    expect(requesterOf(same, '1.1.0').by).toBe('developer');
    expect(requestersOf(same, '1.1.0').requesters).toEqual(['developer', 'sre']);
  });

  it('of an older request without a recorded user is that of the newest', () => {
    expect(requesterOf(asked({ 'force-deploy': '1.1.0', 'requested-by': 'alice' }), '1.1.0').by).toBe('alice');
  });

  it('of an older request stays that of the newest before an unrelated write', () => {
    const before = asked({ 'requested-by': 'alice' }, '1.2.0');
    const next = asked({ 'requested-by': 'bob', 'force-deploy': '1.3.0' }, '1.2.0');
    const requesters = nextRequesters(next, before, 'bob')!;
    expect(JSON.parse(requesters)).toEqual({ wantedVersion: 'alice', 'force-deploy': 'bob' });
    const stored = asked({ 'requested-by': 'bob', 'force-deploy': '1.3.0', requesters }, '1.2.0');
    expect(requestersOf(stored, '1.2.0').requesters).toEqual(['alice']);
  });
});
