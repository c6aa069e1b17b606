import { describe, expect, it } from 'vitest';
import { FORCE_DEPLOY, PIN_RECORD, REQUEST } from '../../../../api/annotations.ts';
import { evaluateApprovals } from '../../../../core/approval/approvalVerdict.ts';
import { nextPinRecord } from '../../../../core/record/pinAndSchedule.ts';
import { nextRequestRecord, requestedText, requesterOf } from '../../../../core/rollout/evaluation/rolloutRequests.ts';
import { requestersOf, versionUsers } from '../../../../core/rollout/evaluation/versionApprovals.ts';
import { rollout } from '../../../hooks/rollout/call.ts';
import { pinnedBy, requestedBy } from '../../../support/requestRecords.ts';

const AT = '2026-03-01T11:00:00Z';
const asked = (annotations: Record<string, string>, wantedVersion: string) => {
  const base = rollout({ wantedVersion });
  return { ...base, metadata: { ...base.metadata, annotations } };
};

describe('the requester of a version is the user who set the field that names it', () => {
  const forced = { [FORCE_DEPLOY]: '1.1.0', ...requestedBy({ 'force-deploy': 'sre' }) };
  const both = asked({ ...forced, ...pinnedBy('developer', '6.6.6') }, '6.6.6');

  it('is the user of the pin, even if another user forces another version', () => {
    expect(requesterOf(both, '6.6.6')).toEqual({ by: 'developer', at: AT });
    expect(requestedText(both, '6.6.6')).toBe(`requested by developer at ${AT}`);
  });

  it('is the user of the force-deploy', () => {
    expect(requesterOf(both, '1.1.0')).toEqual({ by: 'sre', at: AT });
    expect(requestedText(both, '1.1.0')).toBe(`requested by sre at ${AT}`);
  });

  it('is none for any other version, nor without a record', () => {
    expect(requesterOf(both, '1.2.0')).toBeUndefined();
    expect(requestedText(both, '1.2.0')).toBe('');
    expect(requesterOf(asked(pinnedBy('developer', '1.0.0'), '1.1.0'), '1.1.0')).toBeUndefined();
  });

  it('of a version that both name is the one whose request takes effect; approvals of both don’t count', () => {
    const same = asked({ ...forced, ...pinnedBy('developer', '1.1.0') }, '1.1.0');
    expect(requesterOf(same, '1.1.0')?.by).toBe('developer');
    expect(requestersOf(same, '1.1.0').requesters).toEqual(['developer', 'sre']);
  });
});

// As OpenID Connect and certificates may name users.
it.each(['Ada  Lovelace', 'Ada\u00a0Lovelace'])(
  'is recorded as the API server names them: %j, whose own approval doesn’t count',
  (by) => {
    const verdictOn = (annotations: Record<string, string>, wantedVersion = '') => {
      const users = versionUsers(asked(annotations, wantedVersion), [], '1.1.0');
      const given = [{ version: '1.1.0', by, at: 0 }];
      return evaluateApprovals({ required: 1, notBy: ['requester'] }, given, users, 1);
    };
    const forced = asked({ [FORCE_DEPLOY]: '1.1.0' }, '');
    const request = nextRequestRecord(forced, undefined, { uid: 'r', userInfo: { username: by } }, 0)!;
    expect(verdictOn({ [FORCE_DEPLOY]: '1.1.0', [REQUEST]: request }).enough).toBe(false);
    const pin = nextPinRecord(asked({}, '1.1.0'), undefined, by, 0)!;
    expect(verdictOn({ [PIN_RECORD]: pin }, '1.1.0').enough).toBe(false);
  },
);

it('no approval counts with notBy: requester while a request has no record, or that of an earlier commit', () => {
  const verdictWith = (annotations: Record<string, string>, wantedVersion = '') => {
    const users = versionUsers(asked(annotations, wantedVersion), [], '1.1.0');
    const given = [{ version: '1.1.0', by: 'developer', at: 0 }];
    return evaluateApprovals({ required: 1, notBy: ['requester'] }, given, users, 1);
  };
  const problem = 'the requester of the version is unknown, so remove the request, and make it again';
  const unknown = { enough: false, problem };
  const before = { [REQUEST]: 'force-deploy=uid', 'rollout.kuberik.com/requested-by': 'developer' };
  expect(verdictWith({ [FORCE_DEPLOY]: '1.1.0', ...before })).toMatchObject(unknown);
  expect(verdictWith({ [FORCE_DEPLOY]: '1.1.0' })).toMatchObject(unknown);
  expect(verdictWith({}, '1.1.0')).toMatchObject(unknown);
  expect(verdictWith({ [FORCE_DEPLOY]: '1.1.0', ...requestedBy({ 'force-deploy': 'sre' }) }).enough).toBe(true);
  expect(verdictWith({}).enough).toBe(true);
});
