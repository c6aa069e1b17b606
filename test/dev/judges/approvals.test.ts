/** What the judge finds of approvals, each with the faultless history beside it. */
import { describe, expect, it } from 'vitest';
import { ApprovalJudge } from '../../../dev/judges/approvals.ts';

const NAME = 'apps/signed';
const gate = (...people: string[]): any => {
  const given = people.map((by) => ({ version: '1.1.0', rollout: 'apps/app', by, at: '2026-11-21T12:00:00Z' }));
  return {
    metadata: { annotations: { 'gate.fluxcd.io/approvals': JSON.stringify({ given }) } },
    spec: { default: 'closed', approvals: { required: 2 } },
  };
};
const by = (user: string): any => ({ user });

describe('an approval', () => {
  it.each<[string, string[], string | undefined, string[]]>([
    ['by its writer', ['sre'], 'sre', []],
    ['that was there before, in somebody’s write', [], 'mallory', []],
    ['by another', ['sre'], 'mallory', ['records an approval of 1.1.0 by sre, who did not write it']],
    ['in a write whose answer died', ['sre'], undefined, []],
  ])('%s', (_, people, writer, expected) => {
    const judge = new ApprovalJudge();
    judge.takeGate(NAME, gate('admin'), by('admin'));
    expect(judge.takeGate(NAME, gate('admin', ...people), writer === undefined ? undefined : by(writer))).toEqual(
      expected,
    );
  });
});

describe('a deployment', () => {
  const missing = (people: string[], version = '1.1.0', rollout = 'apps/app') => {
    const judge = new ApprovalJudge();
    judge.takeGate(NAME, gate(), undefined);
    for (const [i, person] of people.entries()) judge.takeGate(NAME, gate(...people.slice(0, i + 1)), by(person));
    return judge.missing([NAME, 'apps/other'], rollout, version);
  };

  it.each([
    ['two people have approved', missing(['sre', 'admin']), []],
    ['one has', missing(['sre']), ['1 of 2 approvals of gate apps/signed']],
    ['one has, twice', missing(['sre', 'sre']), ['1 of 2 approvals of gate apps/signed']],
    ['two have approved another version', missing(['sre', 'admin'], '1.2.0'), ['0 of 2 approvals of gate apps/signed']],
    ['two have, of another Rollout', missing(['sre', 'admin'], '1.1.0', 'apps/b'), [expect.stringContaining('0 of 2')]],
  ])('that %s', (_, found, expected) => {
    expect(found).toEqual(expected);
  });

  it('asks nothing of a Gate without approvals', () => {
    const judge = new ApprovalJudge();
    judge.takeGate(NAME, { ...gate(), spec: { default: 'opened' } }, undefined);
    expect([judge.asks(NAME), judge.missing([NAME], 'apps/app', '1.1.0')]).toEqual([false, []]);
  });
});
