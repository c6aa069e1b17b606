import { describe, expect, it } from 'vitest';
import {
  nextRequesters,
  requestedText,
  requesterOf,
  requestersOf,
} from '../../../../core/rollout/evaluation/rolloutRequests.ts';
import { rollout } from '../../../hooks/rollout/call.ts';

const asked = (annotations: Record<string, string>, wantedVersion?: string) => {
  const base = rollout(wantedVersion ? { wantedVersion } : {});
  const named = Object.entries(annotations).map(([key, value]) => [`rollout.kuberik.com/${key}`, value]);
  return { ...base, metadata: { ...base.metadata, annotations: Object.fromEntries(named) } };
};

describe('a version is asked for by whoever set what names it', () => {
  const both = asked(
    {
      'force-deploy': '1.1.0',
      requesters: JSON.stringify({ wantedVersion: 'developer', 'force-deploy': 'sre' }),
      'requested-by': 'sre',
      'requested-at': '2026-03-01T12:00:00Z',
    },
    '6.6.6',
  );

  it('the pin is, whoever forces another version beside it', () => {
    expect(requesterOf(both, '6.6.6')).toEqual({ by: 'developer' });
    expect(requestedText(both, '6.6.6')).toBe('requested by developer');
  });

  it('the force-deploy is, with the time that is known of the newest request', () => {
    expect(requesterOf(both, '1.1.0')).toEqual({ by: 'sre', at: '2026-03-01T12:00:00Z' });
    expect(requestedText(both, '1.1.0')).toBe('requested by sre at 2026-03-01T12:00:00Z');
  });

  it('nobody asked for any other version', () => {
    expect(requesterOf(both, '1.2.0')).toEqual({});
    expect(requestedText(both, '1.2.0')).toBe('');
  });

  it('of a version that both name, the one is the requester whose request is acted on; approvals leave out both', () => {
    const same = { ...both, spec: { ...both.spec, wantedVersion: '1.1.0' } } as typeof both;
    expect(requesterOf(same, '1.1.0').by).toBe('developer');
    expect(requestersOf(same, '1.1.0').requesters).toEqual(['developer', 'sre']);
  });

  it('an older request, beside which nobody was noted, is that of the newest', () => {
    expect(requesterOf(asked({ 'force-deploy': '1.1.0', 'requested-by': 'alice' }), '1.1.0').by).toBe('alice');
  });

  it('an older request stays that of the newest before a write that asks for something else', () => {
    const before = asked({ 'requested-by': 'alice' }, '1.2.0');
    const next = asked({ 'requested-by': 'bob', 'force-deploy': '1.3.0' }, '1.2.0');
    const requesters = nextRequesters(next, before, 'bob')!;
    expect(JSON.parse(requesters)).toEqual({ wantedVersion: 'alice', 'force-deploy': 'bob' });
    const stored = asked({ 'requested-by': 'bob', 'force-deploy': '1.3.0', requesters }, '1.2.0');
    expect(requestersOf(stored, '1.2.0').requesters).toEqual(['alice']);
  });
});
