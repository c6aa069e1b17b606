/** docs/reference/writes.md, W47 and W48: which version a bypass on a Rollout is for. */
import { describe, expect, it } from 'vitest';
import { BYPASS_FOR, BYPASS_ROLLOUT_GATES, FORCE_DEPLOY } from '../../../api/annotations.ts';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { Rollout, RolloutStatus } from '../../../api/types.ts';
import { mutateRollout } from '../../../webhooks/rollout/rolloutAdmission.ts';
import { rollout } from '../../hooks/rollout/call.ts';
import { pinnedBy, requestedBy } from '../../support/requestRecords.ts';
import { AT_7, ask, binding, entry, GATES, HOTFIX, own, REASON, T } from './bypass.ts';
import { admitted, annotated } from './call.ts';

describe('a bypass is for the version that its write names', () => {
  const PENDING: RolloutStatus = { ...AT_7, pendingVersion: '1.5.0' };
  const BY_DEVELOPER = { ...requestedBy({ 'force-deploy': 'developer' }), ...pinnedBy('developer', '6.6.6') };
  const EVIL = { [FORCE_DEPLOY]: '0.9.0-evil', ...BY_DEVELOPER };
  const pinned = { ...own, wantedVersion: '6.6.6' };
  const past = (version: string) => `${version} (8) ${T}: team-a/bound,team-a/own`;

  it.each<[title: string, before: Rollout, adds: Record<string, string>, denial: string[]]>([
    [
      'and not for a pin of somebody else, which goes first',
      annotated(BY_DEVELOPER, pinned, PENDING),
      HOTFIX,
      [
        'version 1.5.0, but the next deployment would be 6.6.6, which developer requested (spec.wantedVersion)',
        '"wantedVersion":"1.5.0"',
      ],
    ],
    [
      'and not for the pin, where it names another version in an annotation of its own',
      annotated(BY_DEVELOPER, pinned, PENDING),
      { ...REASON, [BYPASS_FOR]: '1.5.0' },
      ['6.6.6, which developer requested'],
    ],
    [
      'and not, with a reason alone, for the pin of somebody else',
      annotated(BY_DEVELOPER, pinned, { ...AT_7, pendingVersion: '6.6.6' }),
      REASON,
      [
        'names no version',
        '6.6.6, which developer requested (spec.wantedVersion)',
        'add gate.fluxcd.io/bypass-for=6.6.6',
      ],
    ],
    [
      'and not, with a reason alone, for a force-deploy of somebody else',
      annotated(EVIL, own, PENDING),
      REASON,
      ['0.9.0-evil, which developer requested (rollout.kuberik.com/force-deploy)'],
    ],
    [
      'and not, with a reason alone, for one of which nobody noted the requester',
      annotated({}, pinned, PENDING),
      REASON,
      ['6.6.6, which an unknown user requested'],
    ],
    [
      'and not, with a reason alone, for a candidate for which somebody else bypasses RolloutGates',
      annotated({ [BYPASS_ROLLOUT_GATES]: '1.5.0', ...requestedBy({ 'bypass-gates': 'developer' }) }, own, PENDING),
      REASON,
      ['1.5.0, which developer requested (rollout.kuberik.com/bypass-gates)'],
    ],
    [
      'and not, with a reason alone, for one that is pending and no release: somebody has just taken a request back',
      annotated({}, own, { ...AT_7, pendingVersion: '6.6.6' }),
      REASON,
      ['6.6.6, which is not a release candidate'],
    ],
    [
      'and not, with a reason alone, for a deployment by hand of somebody else that a Gate has caught on its way',
      annotated({}, own, { history: [{ ...entry(7, '6.6.6', ''), requestedBy: 'developer' }] }),
      REASON,
      ['6.6.6, which developer requested'],
    ],
    [
      'and not for what waits, where the version that it names runs',
      rollout(own, PENDING),
      { [FORCE_DEPLOY]: '1.4.0', ...REASON },
      ['version 1.4.0 is deployed already; 1.5.0 is waiting: name that'],
    ],
    [
      'the same, named by the annotation of its own',
      rollout(own, PENDING),
      { [BYPASS_FOR]: '1.4.0', ...REASON },
      ['version 1.4.0 is deployed already; 1.5.0 is waiting: name that'],
    ],
    [
      'and for none that nobody asks for',
      rollout(own, AT_7),
      { [BYPASS_FOR]: '1.3.0', ...REASON },
      [
        'does not request 1.3.0.\nTo deploy 1.3.0:\n  kubectl -n team-a annotate --overwrite rollout.kuberik.com/app rollout.kuberik.com/force-deploy=1.3.0',
      ],
    ],
    [
      'and for no text that is none',
      rollout(own, PENDING),
      { [BYPASS_FOR]: '1;$(x)', ...REASON },
      ['"1;$(x)" that the write names is not a valid image tag'],
    ],
  ])('%s: the write is denied', async (_, before, adds, denial) => {
    const next = annotated({ ...before.metadata.annotations, ...adds }, before.spec, before.status);
    const answer = await ask({ next, before });
    expect(answer).toMatchObject({ allowed: false, events: [] });
    for (const part of denial) expect(answer.denial).toContain(part);
  });

  it('and for one only: the write is denied', async () => {
    const next = annotated(HOTFIX, { ...own, wantedVersion: '1.3.0' }, AT_7);
    const { denial } = await ask({ next, before: rollout(own, AT_7) });
    expect(denial).toContain(
      'version 1.5.0, but the next deployment would be 1.3.0, which sre requested (spec.wantedVersion)',
    );
  });

  it.each<[title: string, before: Rollout, next: Rollout, grant: string]>([
    [
      'that somebody else asked for, and that it names',
      annotated(EVIL, own, PENDING),
      annotated({ ...EVIL, ...REASON, [BYPASS_FOR]: '0.9.0-evil' }, own, PENDING),
      past('0.9.0-evil'),
    ],
    [
      'in the place of the one that somebody else asked for',
      annotated(EVIL, own, PENDING),
      annotated({ ...EVIL, ...HOTFIX }, own, PENDING),
      past('1.5.0'),
    ],
    [
      'by moving the pin of somebody else',
      annotated(BY_DEVELOPER, pinned, PENDING),
      annotated({ ...BY_DEVELOPER, ...REASON }, { ...own, wantedVersion: '1.5.0' }, PENDING),
      past('1.5.0'),
    ],
    [
      'that its author asked for before',
      annotated({ [FORCE_DEPLOY]: '1.7.0', ...requestedBy({ 'force-deploy': 'sre' }) }, own, AT_7),
      annotated({ [FORCE_DEPLOY]: '1.7.0', ...requestedBy({ 'force-deploy': 'sre' }), ...REASON }, own, AT_7),
      past('1.7.0'),
    ],
    [
      'that a Gate has caught on its way, while another one waits',
      annotated({}, own, { ...PENDING, history: [entry(7, '1.4.0', '')] }),
      annotated({ ...REASON, [BYPASS_FOR]: '1.4.0' }, own, { ...PENDING, history: [entry(7, '1.4.0', '')] }),
      `1.4.0 (7) ${T}: team-a/bound,team-a/own`,
    ],
  ])('bypasses for the version %s', async (_, before, next, grant) => {
    const answer = await ask({ next, before });
    expect(answer).toMatchObject({ allowed: true, grant, by: `${T} sre` });
    expect(answer.warnings.join()).toContain(
      `version ${grant.split(' ')[0]} may bypass 2 closed Gates, for one deployment`,
    );
  });

  it.each([
    ['the held deployment, for whose bake another version waits', 'Bake', '1.4.0 (7)'],
    ['the version that waits for something else', 'Gate', '1.5.0 (8)'],
  ])('with a reason alone bypasses for %s', async (_, type, target) => {
    const held = { ...entry(7, '1.4.0', ''), bakeStatus: 'Deploying', waitingSince: T };
    const blockers = [{ type, effect: 'Waits', reason: 'Waiting', version: '1.5.0' }];
    const status = { ...PENDING, history: [held], blockers } as RolloutStatus;
    const { grant, warnings } = await ask({ next: annotated(REASON, own, status), before: rollout(own, status) });
    expect(grant).toBe(`${target} ${T}: team-a/bound,team-a/own`);
    expect(warnings.join()).toContain(`version ${target.split(' ')[0]} may bypass`);
  });

  // A deployment has Succeeded at once with nothing bound, by initialVersion, or without a bake in kuberik's mode.
  const succeeded: RolloutStatus = { history: [{ ...entry(7, '1.4.0', ''), bakeStatus: 'Succeeded' }] };
  const [ownGate, boundGate] = GATES as [KubeObject<any, any>, KubeObject<any, any>];
  const applied = {
    ...binding('OCIRepository'),
    status: { applied: [{ rollout: 'app', uid: rollout().metadata.uid, id: 7 }] },
  };

  it.each<[title: string, objects: KubeObject<any, any>[]]>([
    ['no object is bound', [ownGate]],
    ['every bound object has applied it', [ownGate, boundGate, applied]],
  ])('a deployment that has Succeeded is over if %s', async (_, objects) => {
    const named = annotated({ ...REASON, [BYPASS_FOR]: '1.4.0' }, own, succeeded);
    const before = rollout(own, succeeded);
    expect((await ask({ next: named, before, objects })).denial).toContain('version 1.4.0 is deployed already');
    const unnamed = await ask({ next: annotated(REASON, own, succeeded), before, objects });
    expect(unnamed).toMatchObject({ grant: undefined, warnings: [expect.stringContaining('no version waits')] });
  });

  it('a deployment that has Succeeded is not over if a bound object has not applied it', async () => {
    const next = annotated({ ...REASON, [BYPASS_FOR]: '1.4.0' }, own, succeeded);
    const { grant } = await ask({ next, before: rollout(own, succeeded) });
    expect(grant).toBe(`1.4.0 (7) ${T}: team-a/bound,team-a/own`);
  });

  it('the annotation that names it is never stored: it is always of this write', async () => {
    const next = annotated({ ...EVIL, [BYPASS_FOR]: '0.9.0-evil' }, own, PENDING);
    for (const old of [annotated(EVIL, own, PENDING), undefined]) {
      const result = await admitted(mutateRollout, { object: next, old, user: 'developer' }, { objects: GATES });
      expect(result).toMatchObject({ allowed: true, object: { metadata: { name: 'app' } } });
      expect(JSON.stringify(result.object)).not.toContain(BYPASS_FOR);
      expect(result.warnings.join()).toContain('bypass-for has no effect without a new gate.fluxcd.io/bypass-reason');
    }
  });

  it('another user’s request that the write withdraws does not wait', async () => {
    const status = { ...AT_7, pendingVersion: '1.5.0' };
    const before = annotated({ [FORCE_DEPLOY]: '1.5.0', ...BY_DEVELOPER }, own, status);
    expect(await ask({ next: annotated(REASON, own, status), before })).toMatchObject({
      allowed: true,
      grant: undefined,
      warnings: [expect.stringContaining('no version waits')],
    });
  });
});
