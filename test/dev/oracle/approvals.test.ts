/** The oracle's findings about approvals, each with a correct history for comparison. */
import { describe, expect, it } from 'vitest';
import { ApprovalChecker } from '../../../dev/oracle/approvals.ts';

const NAME = 'apps/signed';
const gate = (...users: string[]): any => {
  const given = users.map((by) => ({ version: '1.1.0', rollout: 'apps/app', by, at: '2026-11-21T12:00:00Z' }));
  return {
    metadata: { annotations: { 'gate.fluxcd.io/approvals': JSON.stringify({ given }) } },
    spec: { default: 'closed', approvals: { required: 2 } },
  };
};
const by = (user: string): any => ({ user });

describe('an approval', () => {
  it.each<[string, string[], string | undefined, string[]]>([
    ['by its writer', ['sre'], 'sre', []],
    ['that existed before, in another user’s write', [], 'mallory', []],
    ['by another user', ['sre'], 'mallory', ['records an approval of 1.1.0 by sre, who didn’t write it']],
    ['in a write without an answer', ['sre'], undefined, []],
  ])('%s', (_, users, writer, expected) => {
    const oracle = new ApprovalChecker();
    oracle.take(NAME, gate('admin'), by('admin'));
    expect(oracle.take(NAME, gate('admin', ...users), writer === undefined ? undefined : by(writer))).toEqual(expected);
  });
});

describe('a deployment', () => {
  const missing = (users: string[], version = '1.1.0', rollout = 'apps/app') => {
    const oracle = new ApprovalChecker();
    oracle.take(NAME, gate(), undefined);
    for (const [i, person] of users.entries()) oracle.take(NAME, gate(...users.slice(0, i + 1)), by(person));
    return oracle.missing([NAME, 'apps/other'], rollout, version);
  };

  it.each([
    ['two users have approved', missing(['sre', 'admin']), []],
    ['one has', missing(['sre']), ['1 of 2 approvals of gate apps/signed']],
    ['one has, twice', missing(['sre', 'sre']), ['1 of 2 approvals of gate apps/signed']],
    ['two have approved another version', missing(['sre', 'admin'], '1.2.0'), ['0 of 2 approvals of gate apps/signed']],
    ['two have, of another Rollout', missing(['sre', 'admin'], '1.1.0', 'apps/b'), [expect.stringContaining('0 of 2')]],
  ])('that %s', (_, found, expected) => {
    expect(found).toEqual(expected);
  });

  it('counts no approval that another user recorded', () => {
    const oracle = new ApprovalChecker();
    oracle.take(NAME, gate('sre'), by('sre'));
    oracle.take(NAME, gate('sre', 'admin'), by('sre'));
    expect(oracle.missing([NAME], 'apps/app', '1.1.0')).toEqual(['1 of 2 approvals of gate apps/signed']);
  });

  it('needs those of the Rollout’s RolloutGates', () => {
    const given = [{ version: '1.1.0', by: 'sre', at: '2026-11-21T12:00:00Z' }];
    const rolloutGate: any = {
      metadata: { namespace: 'apps', annotations: { 'rollout.kuberik.com/approvals': JSON.stringify({ given }) } },
      spec: { rolloutRef: { name: 'app' }, approvals: { required: 1 } },
    };
    const oracle = new ApprovalChecker();
    oracle.take('qa', rolloutGate, by('sre'));
    expect([oracle.rolloutGatesOf('apps/app'), oracle.rolloutGatesOf('apps/b')]).toEqual([['qa'], []]);
    expect(oracle.missing(['qa'], 'apps/app', '1.1.0')).toEqual([]);
    expect(oracle.missing(['qa'], 'apps/app', '1.2.0')).toEqual(['0 of 1 approvals of gate qa']);
  });
});
