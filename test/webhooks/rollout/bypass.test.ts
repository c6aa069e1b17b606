/** docs/architecture.md, write W47: a reason on a Rollout lets one deployment past the Gates that are closed now. */
import { describe, expect, it } from 'vitest';
import {
  BYPASS_FOR,
  BYPASS_REASON,
  BYPASS_ROLLOUT_GATES,
  BYPASSED_BY,
  BYPASSED_GATES,
  FORCE_DEPLOY,
  REQUESTERS,
} from '../../../api/annotations.ts';
import type { KubeObject } from '../../../api/kubernetes.ts';
import type { Rollout, RolloutSpec, RolloutStatus } from '../../../api/types.ts';
import { boundLabel } from '../../../core/kube/names.ts';
import { fakeWebhookCall } from '../../../dev/fakes/ports.ts';
import { mutateRollout, validateRollout } from '../../../webhooks/rollout/rollout.ts';
import { NOW, object, rollout } from '../../hooks/rollout/call.ts';
import { annotated, write } from './call.ts';

const T = '2026-03-01T12:00:00Z';
const entry = (id: number, tag: string, appliedTime: string | undefined = T) => ({
  id,
  version: { tag },
  timestamp: '2026-03-01T11:00:00Z',
  ...(appliedTime && { appliedTime }),
});
const NEXT = [{ tag: '1.5.0' }];
const AT_7: RolloutStatus = { history: [entry(7, '1.4.0')], availableReleases: NEXT, releaseCandidates: NEXT };
const REASON = { [BYPASS_REASON]: 'INC-7' };
const HOTFIX = { [FORCE_DEPLOY]: '1.5.0', ...REASON };

const own: Partial<RolloutSpec> = { gates: [{ name: 'own' }] };
const gateOf = (name: string, spec: object = { default: 'closed' }) =>
  object('gating.toolkit.fluxcd.io/v1alpha1', 'Gate', name, spec);
/** The FluxBinding of an object that the Rollout pins and that requires the Gate `bound`. */
const binding = (kind: string, spec: object = {}): KubeObject<any, any> => {
  const target = { apiVersion: 'x/v1', kind, name: 'app', uid: 'u' };
  const made = object('kuberik.com/v1alpha1', 'FluxBinding', `${kind.toLowerCase()}-app`, {
    target,
    pins: [{ rollout: 'app' }],
    gates: [{ namespace: 'team-a', gate: 'bound' }],
    ...spec,
  });
  return { ...made, metadata: { ...made.metadata, labels: { [boundLabel('app')]: '' } } };
};
const GATES = [gateOf('own'), gateOf('bound'), binding('OCIRepository')];

interface Case {
  next: Rollout;
  before?: Rollout;
  user?: string;
  /** `user gate` pairs. */
  may?: string[];
  objects?: KubeObject<any, any>[];
}

async function ask({ next, before, user = 'sre', may = ['sre own', 'sre bound'], objects = GATES }: Case) {
  const { call, events } = fakeWebhookCall({
    now: NOW,
    objects,
    access: { may: async (who, { verb, name }) => verb === 'bypass' && may.includes(`${who.username} ${name}`) },
    settings: {},
  });
  const old = before ?? rollout(own, next.status);
  const verdict = await mutateRollout(write({ object: next, old, user }), call);
  const stored = (verdict.allowed && (verdict.object as Rollout)) || next;
  const validated = verdict.allowed ? await validateRollout(write({ object: stored, old, user }), call) : verdict;
  const { annotations = {} } = stored.metadata;
  return {
    allowed: verdict.allowed,
    denial: verdict.allowed ? undefined : verdict.message,
    passage: verdict.allowed ? annotations[BYPASSED_GATES] : undefined,
    by: verdict.allowed ? annotations[BYPASSED_BY] : undefined,
    warnings: [...(verdict.warnings ?? []), ...(validated.warnings ?? [])],
    audit: verdict.allowed ? verdict.audit : undefined,
    events: events.map(({ message }) => message),
  };
}

describe('a new reason, by somebody who may bypass each closed Gate of the Rollout and of what is bound to it', () => {
  it.each<[says: string, next: Rollout, passage: string]>([
    [
      'the version that is asked for in the same write',
      annotated(HOTFIX, own, AT_7),
      '1.5.0 (8): team-a/bound,team-a/own',
    ],
    [
      'the version that waits',
      annotated(REASON, own, { ...AT_7, pendingVersion: '1.5.0' }),
      '1.5.0 (8): team-a/bound,team-a/own',
    ],
    [
      'the version that the spec begins to want',
      annotated(REASON, { ...own, wantedVersion: '1.3.0' }, AT_7),
      '1.3.0 (8): team-a/bound,team-a/own',
    ],
    [
      'the newest, where a Gate has closed on its way',
      annotated(REASON, own, { history: [entry(7, '1.4.0', '')] }),
      '1.4.0 (7): team-a/bound,team-a/own',
    ],
    [
      'the first',
      annotated(HOTFIX, own, { availableReleases: [{ tag: '1.5.0' }] }),
      '1.5.0 (1): team-a/bound,team-a/own',
    ],
  ])('lets past these closings %s', async (_, next, passage) => {
    expect(await ask({ next })).toMatchObject({ passage, by: `${T} sre`, allowed: true });
  });

  it('that names no version is told which one goes', async () => {
    const next = annotated(REASON, own, { ...AT_7, pendingVersion: '1.5.0' });
    expect((await ask({ next })).warnings).toEqual(['version 1.5.0 is let past 2 closed gates, once']);
  });

  it('counts the Gates of a bound object that has no FluxBinding', async () => {
    const bare = object('kustomize.toolkit.fluxcd.io/v1', 'Kustomization', 'app', {});
    const annotations = { 'rollout.kuberik.com/substitute.APP.from': 'app', 'gate.fluxcd.io/gates': 'bound' };
    const objects = [gateOf('own'), gateOf('bound'), { ...bare, metadata: { ...bare.metadata, annotations } }];
    expect(await ask({ next: annotated(HOTFIX, own, AT_7), objects })).toMatchObject({
      passage: '1.5.0 (8): team-a/bound,team-a/own',
    });
  });

  it('is recorded with the version, and the writer is told', async () => {
    const message = 'sre bypassed team-a/bound, team-a/own (UPDATE, version 1.5.0): INC-7';
    expect(await ask({ next: annotated(HOTFIX, own, AT_7) })).toMatchObject({
      audit: { bypass: message },
      events: [message],
      warnings: ['version 1.5.0 is let past 2 closed gates, once'],
    });
  });

  it('says which Gate closed it is for, where somebody closed it', async () => {
    const closing = { 'close.gate.fluxcd.io/requestedAt': '2026-03-01T11:00:00Z' };
    const closed = gateOf('bound', { default: 'opened' });
    const objects = [{ ...closed, metadata: { ...closed.metadata, annotations: closing } }, binding('OCIRepository')];
    const next = annotated(HOTFIX, {}, AT_7);
    expect(await ask({ next, before: rollout({}, AT_7), objects })).toMatchObject({
      passage: '1.5.0 (8): team-a/bound@close=2026-03-01T11:00:00Z',
    });
  });

  it('with nothing to deploy is good for a deletion only, and says so', async () => {
    const answer = await ask({ next: annotated(REASON, own, AT_7) });
    expect(answer).toMatchObject({ passage: undefined, by: `${T} sre` });
    expect(answer.warnings).toEqual([expect.stringContaining('no version waits')]);
  });

  it('is told what else a Kustomization would apply', async () => {
    const source = {
      apiVersion: 'source.toolkit.fluxcd.io/v1',
      kind: 'GitRepository',
      namespace: 'team-a',
      name: 'infra',
    };
    const sync = object(
      'kustomize.toolkit.fluxcd.io/v1',
      'Kustomization',
      'app',
      {},
      { lastAppliedRevision: 'main@sha1:1' },
    );
    const git = (revision: string) =>
      object('source.toolkit.fluxcd.io/v1', 'GitRepository', 'infra', {}, { artifact: { revision } });
    const around = [gateOf('bound'), binding('Kustomization', { source }), sync];
    const asked = { next: annotated(HOTFIX, {}, AT_7), before: rollout({}, AT_7) };
    expect((await ask({ ...asked, objects: [...around, git('main@sha1:2')] })).warnings).toContainEqual(
      'Kustomization app also applies what GitRepository infra has fetched since it last applied',
    );
    expect((await ask({ ...asked, objects: [...around, git('main@sha1:1')] })).warnings).toHaveLength(1);
  });
});

describe('a bypass is for the version that its write names', () => {
  const PENDING: RolloutStatus = { ...AT_7, pendingVersion: '1.5.0' };
  const BY_DEVELOPER = { [REQUESTERS]: JSON.stringify({ wantedVersion: 'developer', 'force-deploy': 'developer' }) };
  const EVIL = { [FORCE_DEPLOY]: '0.9.0-evil', ...BY_DEVELOPER };
  const pinned = { ...own, wantedVersion: '6.6.6' };
  const past = (version: string) => `${version} (8): team-a/bound,team-a/own`;

  it.each<[title: string, before: Rollout, next: Rollout, denial: string[]]>([
    [
      'and not for a pin of somebody else, which goes first',
      annotated(BY_DEVELOPER, pinned, PENDING),
      annotated({ ...BY_DEVELOPER, ...HOTFIX }, pinned, PENDING),
      ['names version 1.5.0, but 6.6.6, which developer asked for (spec.wantedVersion)', '"wantedVersion":"1.5.0"'],
    ],
    [
      'and not for the pin, where it names another version in an annotation of its own',
      annotated(BY_DEVELOPER, pinned, PENDING),
      annotated({ ...BY_DEVELOPER, ...REASON, [BYPASS_FOR]: '1.5.0' }, pinned, PENDING),
      ['6.6.6, which developer asked for'],
    ],
    [
      'and not, with a reason alone, for the pin of somebody else',
      annotated(BY_DEVELOPER, pinned, { ...AT_7, pendingVersion: '6.6.6' }),
      annotated({ ...BY_DEVELOPER, ...REASON }, pinned, { ...AT_7, pendingVersion: '6.6.6' }),
      [
        'names no version',
        '6.6.6, which developer asked for (spec.wantedVersion)',
        'add gate.fluxcd.io/bypass-for=6.6.6',
      ],
    ],
    [
      'and not, with a reason alone, for a force-deploy of somebody else',
      annotated(EVIL, own, PENDING),
      annotated({ ...EVIL, ...REASON }, own, PENDING),
      ['0.9.0-evil, which developer asked for (rollout.kuberik.com/force-deploy)'],
    ],
    [
      'and not, with a reason alone, for one of which nobody noted the requester',
      annotated({}, pinned, PENDING),
      annotated(REASON, pinned, PENDING),
      ['6.6.6, which somebody asked for'],
    ],
    [
      'and not, with a reason alone, for a candidate that somebody else lets past RolloutGates',
      annotated({ [BYPASS_ROLLOUT_GATES]: '1.5.0', [REQUESTERS]: '{"bypass-gates":"developer"}' }, own, PENDING),
      annotated(
        { [BYPASS_ROLLOUT_GATES]: '1.5.0', [REQUESTERS]: '{"bypass-gates":"developer"}', ...REASON },
        own,
        PENDING,
      ),
      ['1.5.0, which developer asked for (rollout.kuberik.com/bypass-gates)'],
    ],
    [
      'and not, with a reason alone, for one that is pending and no release: somebody has just taken a request back',
      annotated({}, own, { ...AT_7, pendingVersion: '6.6.6' }),
      annotated(REASON, own, { ...AT_7, pendingVersion: '6.6.6' }),
      ['6.6.6, which is not a release candidate'],
    ],
    [
      'and not, with a reason alone, for a deployment by hand of somebody else that a Gate has caught on its way',
      annotated({}, own, { history: [{ ...entry(7, '6.6.6', ''), requestedBy: 'developer' }] }),
      annotated(REASON, own, { history: [{ ...entry(7, '6.6.6', ''), requestedBy: 'developer' }] }),
      ['6.6.6, which developer asked for'],
    ],
    [
      'and not for what waits, where the version that it names runs',
      rollout(own, PENDING),
      annotated({ [FORCE_DEPLOY]: '1.4.0', ...REASON }, own, PENDING),
      ['version 1.4.0 is deployed already; 1.5.0 is waiting: name that'],
    ],
    [
      'the same, named by the annotation of its own',
      rollout(own, PENDING),
      annotated({ [BYPASS_FOR]: '1.4.0', ...REASON }, own, PENDING),
      ['version 1.4.0 is deployed already; 1.5.0 is waiting: name that'],
    ],
    [
      'and for one only',
      rollout(own, AT_7),
      annotated(HOTFIX, { ...own, wantedVersion: '1.3.0' }, AT_7),
      ['names version 1.5.0, but 1.3.0, which sre asked for (spec.wantedVersion)'],
    ],
    [
      'and for none that nobody asks for',
      rollout(own, AT_7),
      annotated({ [BYPASS_FOR]: '1.3.0', ...REASON }, own, AT_7),
      [
        'does not ask for 1.3.0: kubectl -n team-a annotate --overwrite rollout/app rollout.kuberik.com/force-deploy=1.3.0',
      ],
    ],
    [
      'and for no text that is none',
      rollout(own, PENDING),
      annotated({ [BYPASS_FOR]: '1;$(x)', ...REASON }, own, PENDING),
      ['"1;$(x)" that the write names is not a legal tag'],
    ],
  ])('%s: the write is refused', async (_, before, next, denial) => {
    const answer = await ask({ next, before });
    expect(answer).toMatchObject({ allowed: false, events: [] });
    for (const part of denial) expect(answer.denial).toContain(part);
  });

  it.each<[title: string, before: Rollout, next: Rollout, passage: string]>([
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
      annotated({ [FORCE_DEPLOY]: '1.7.0', [REQUESTERS]: '{"force-deploy":"sre"}' }, own, AT_7),
      annotated({ [FORCE_DEPLOY]: '1.7.0', [REQUESTERS]: '{"force-deploy":"sre"}', ...REASON }, own, AT_7),
      past('1.7.0'),
    ],
    [
      'that a Gate has caught on its way, while another one waits',
      annotated({}, own, { ...PENDING, history: [entry(7, '1.4.0', '')] }),
      annotated({ ...REASON, [BYPASS_FOR]: '1.4.0' }, own, { ...PENDING, history: [entry(7, '1.4.0', '')] }),
      '1.4.0 (7): team-a/bound,team-a/own',
    ],
  ])('lets past the version %s', async (_, before, next, passage) => {
    const answer = await ask({ next, before });
    expect(answer).toMatchObject({ allowed: true, passage, by: `${T} sre` });
    expect(answer.warnings.join()).toContain(`version ${passage.split(' ')[0]} is let past 2 closed gates, once`);
  });

  it('the annotation that names it is never stored: it is always of this write', async () => {
    const next = annotated({ ...EVIL, [BYPASS_FOR]: '0.9.0-evil' }, own, PENDING);
    const { call } = fakeWebhookCall({ now: NOW, objects: GATES });
    for (const old of [annotated(EVIL, own, PENDING), undefined]) {
      const verdict = await mutateRollout(write({ object: next, old, user: 'developer' }), call);
      expect(verdict).toMatchObject({ allowed: true, object: { metadata: { name: 'app' } } });
      expect(JSON.stringify(verdict.allowed && verdict.object)).not.toContain(BYPASS_FOR);
      expect(verdict.warnings?.join()).toContain('bypass-for has no effect without a new gate.fluxcd.io/bypass-reason');
    }
  });

  it('a request of somebody else that the write takes back does not wait', async () => {
    const status = { ...AT_7, pendingVersion: '1.5.0' };
    const before = annotated({ [FORCE_DEPLOY]: '1.5.0', ...BY_DEVELOPER }, own, status);
    expect(await ask({ next: annotated(REASON, own, status), before })).toMatchObject({
      allowed: true,
      passage: undefined,
      warnings: [expect.stringContaining('no version waits')],
    });
  });
});

describe('a reason that lets nothing through has no record', () => {
  it('by somebody who may bypass one Gate of two is denied, and the denial names the other', async () => {
    const answer = await ask({ next: annotated(HOTFIX, own, AT_7), may: ['sre own'] });
    expect(answer).toMatchObject({ allowed: false, events: [] });
    expect(answer.denial).toContain('sre has no verb bypass on team-a/bound.');
    expect(answer.denial).toContain("gate 'team-a/own' is closed");
  });

  it('in a Git sync is not denied, which would stop everything else in it', async () => {
    const user = 'system:serviceaccount:flux-system:kustomize-controller';
    const answer = await ask({ next: annotated(HOTFIX, own, AT_7), user, may: [`${user} own`, `${user} bound`] });
    expect(answer).toMatchObject({ allowed: true, passage: undefined, by: undefined, events: [] });
    expect(answer.warnings.join()).toContain('Bypass refused');
  });

  it('where no Gate is closed', async () => {
    const objects = ['own', 'bound'].map((name) => gateOf(name, { default: 'opened' }));
    const answer = await ask({ next: annotated(HOTFIX, own, AT_7), objects });
    expect(answer).toMatchObject({ allowed: true, passage: undefined, by: undefined, events: [] });
  });

  it('of last time, beside a new request', async () => {
    const before = annotated({ ...REASON, [BYPASSED_BY]: `${T} sre` }, own, AT_7);
    expect(await ask({ next: annotated({ ...HOTFIX }, own, AT_7), before })).toMatchObject({
      passage: undefined,
      events: [],
    });
  });
});

describe('a passage that was given', () => {
  const given = { ...REASON, [BYPASSED_BY]: `${T} sre`, [BYPASSED_GATES]: '1.5.0 (8): team-a/own' };
  const before = annotated(given, own, AT_7);

  it('stays as it is, whatever others write there', async () => {
    const next = annotated({ ...given, [BYPASSED_GATES]: '6.6.6 (8): team-a/own,team-a/bound' }, own, AT_7);
    expect(await ask({ next, before, user: 'developer' })).toMatchObject({
      passage: given[BYPASSED_GATES],
      by: `${T} sre`,
    });
  });

  it('is made by nobody’s text', async () => {
    const next = annotated({ [BYPASSED_GATES]: '1.5.0 (8): team-a/own', [BYPASSED_BY]: `${T} sre` }, own, AT_7);
    expect(await ask({ next, user: 'developer' })).toMatchObject({ passage: undefined, by: undefined });
  });

  it('is called off with its reason while it waits', async () => {
    expect(await ask({ next: annotated({}, own, AT_7), before })).toMatchObject({ passage: undefined });
  });

  it('stays without its reason while its deployment is on its way: Flux takes off what kubectl has added', async () => {
    const underWay = { history: [entry(8, '1.5.0', ''), entry(7, '1.4.0')] };
    const next = annotated({}, own, underWay);
    const passage = given[BYPASSED_GATES];
    expect(await ask({ next, before: annotated(given, own, underWay) })).toMatchObject({ passage });
    const arrived = { history: [entry(8, '1.5.0'), entry(7, '1.4.0')] };
    expect(await ask({ next: annotated({}, own, arrived), before: annotated(given, own, arrived) })).toMatchObject({
      passage: undefined,
    });
  });

  it('is not copied to a Rollout that is created with it', async () => {
    const verdict = await mutateRollout(
      write({ object: before, user: 'developer' }),
      fakeWebhookCall({ now: NOW, objects: [] }).call,
    );
    expect((verdict.allowed && (verdict.object as Rollout).metadata.annotations) || {}).not.toHaveProperty(
      BYPASSED_GATES,
    );
  });
});
