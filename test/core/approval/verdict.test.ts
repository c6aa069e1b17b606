import { describe, expect, it } from 'vitest';
import { APPROVAL_KEYS, recordedOn } from '../../../core/approval/approvalRecord.ts';
import { approvalEvents, approvalsStatus } from '../../../core/approval/approvalStatus.ts';
import { evaluateApprovals, evaluateVersions, verdictText } from '../../../core/approval/approvalVerdict.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');
const HOUR = 3_600_000;
const by = (name: string, hoursAgo = 0) => ({ version: '1.0.0', by: name, at: NOW - hoursAgo * HOUR });
const nobody = { requesters: [], authors: undefined };

describe('the approvals of a version', () => {
  it('count once per user, whatever a record has', () => {
    const result = evaluateApprovals({ required: 2 }, [by('alice', 1), by('alice')], nobody, NOW);
    expect(result).toMatchObject({ enough: false, counted: [{ at: NOW }] });
  });

  it('expire in their last second, and the next expiry is the next requeue', () => {
    const rule = { required: 1, expireAfter: '2h' };
    const given = [by('alice', 2), by('bob', 1), by('carol')];
    const result = evaluateApprovals(rule, given, nobody, NOW);
    expect(result.counted.map((each) => each.by)).toEqual(['bob', 'carol']);
    expect(result.until).toBe(NOW + HOUR);
    expect(evaluateApprovals(rule, given, nobody, NOW - 1).counted.length).toBe(3);
  });

  it('do not expire while the clock is set back', () => {
    expect(evaluateApprovals({ required: 1, expireAfter: '1h' }, [by('alice', -3)], nobody, NOW).enough).toBe(true);
  });

  it('are none where expireAfter cannot be read', () => {
    const result = evaluateApprovals({ required: 1, expireAfter: 'soon' }, [by('alice')], nobody, NOW);
    expect(result).toMatchObject({ enough: false, counted: [] });
    expect(verdictText(result)).toContain('none counts: spec.approvals.expireAfter: "soon" is not a duration');
  });

  it('of ServiceAccounts that are named no longer do not count', () => {
    const bot = by('system:serviceaccount:ci:bot');
    expect(evaluateApprovals({ required: 1, serviceAccounts: ['ci/bot'] }, [bot], nobody, NOW).enough).toBe(true);
    expect(evaluateApprovals({ required: 1 }, [bot], nobody, NOW)).toMatchObject({
      enough: false,
      given: [{ doesNotCount: 'is not allowed to approve' }],
    });
  });

  it('name the next expiry of those that count', () => {
    const rule = { required: 2, expireAfter: '24h', notBy: ['requester' as const] };
    const requested = { requesters: ['bob'], authors: undefined };
    expect(verdictText(evaluateApprovals(rule, [by('bob', 12), by('alice', 2)], requested, NOW))).toBe(
      "1 of 2 approvals (alice; bob's approval doesn't count: bob requested it; the next expires at 2026-03-02T10:00:00Z)",
    );
  });

  it('name five users and the number of the others', () => {
    const all = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name) => by(name));
    expect(verdictText(evaluateApprovals({ required: 8 }, all, nobody, NOW))).toBe(
      '7 of 8 approvals (a, b, c, d, e and 2 more)',
    );
  });
});

it('name the version that was approved last first, and leave out expired ones', () => {
  const given = [
    { ...by('alice', 3), version: '1.0.0' },
    { ...by('alice', 2), version: '1.1.0' },
    { ...by('alice', 1), version: '1.2.0' },
  ];
  const versions = evaluateVersions({ required: 1, expireAfter: '150m' }, given, NOW);
  expect(versions.map(({ version }) => version)).toEqual(['1.2.0', '1.1.0']);
});

describe('at a Gate, where each Rollout excludes its own users', () => {
  it.each([
    ['without notBy two approvals are enough', { required: 2 }, ['Approved', 'Approved', 'ApprovalsComplete']],
    ['with notBy nobody knows', { required: 2, notBy: ['requester' as const] }, ['Approved', 'Approved']],
  ])('%s', (_, rule, reasons) => {
    const record = { ...recordedOn({ metadata: {} }, APPROVAL_KEYS.Gate), given: [by('alice', 1), by('bob')] };
    const { status } = approvalsStatus(rule, record, NOW);
    expect(approvalEvents(undefined, status, record, NOW).map(({ reason }) => reason)).toEqual(reasons);
  });
});
