/** docs/reference/writes.md, W47: a reason on a Rollout lets one deployment bypass the Gates that are closed. */
import { describe, expect, it } from 'vitest';
import {
  BOUND_ROLLOUT,
  BYPASS_FOR,
  BYPASSED_BY,
  BYPASSED_GATES,
  REASON as PIN_REASON,
  PIN_RECORD,
} from '../../../api/annotations.ts';
import type { Rollout } from '../../../api/types.ts';
import { fakeWebhookCall } from '../../../dev/fakes/ports.ts';
import { requestOf } from '../../../dev/fakes/requests.ts';
import { mutate } from '../../../dev/sim/apiServer/admission.ts';
import { reviewOf } from '../../../webhooks/response.ts';
import { mutateRollout } from '../../../webhooks/rollout/rolloutAdmission.ts';
import { NOW, object, rollout } from '../../hooks/rollout/call.ts';
import { pinnedBy } from '../../support/requestRecords.ts';
import { AT_7, ask, binding, entry, GATES, gateOf, HOTFIX, own, REASON, T } from './bypass.ts';
import { annotated, P } from './call.ts';

describe('a new reason of a user who may bypass each closed Gate of the Rollout and of its bound objects', () => {
  it.each<[title: string, next: Rollout, deployment: string]>([
    ['the version that is asked for in the same write', annotated(HOTFIX, own, AT_7), '1.5.0 (8)'],
    ['the version that waits', annotated(REASON, own, { ...AT_7, pendingVersion: '1.5.0' }), '1.5.0 (8)'],
    [
      'the version that the spec begins to want',
      annotated(REASON, { ...own, wantedVersion: '1.3.0' }, AT_7),
      '1.3.0 (8)',
    ],
    [
      'the newest, where a Gate has closed on its way',
      annotated(REASON, own, { history: [entry(7, '1.4.0', '')] }),
      '1.4.0 (7)',
    ],
    ['the first', annotated(HOTFIX, own, { availableReleases: [{ tag: '1.5.0' }] }), '1.5.0 (1)'],
  ])('bypasses these closures %s', async (_, next, deployment) => {
    expect(await ask({ next })).toMatchObject({
      grant: `${deployment} ${T}: team-a/bound,team-a/own`,
      by: `${T} sre`,
      allowed: true,
    });
  });

  it('without a version gets a Warning with the version', async () => {
    const next = annotated(REASON, own, { ...AT_7, pendingVersion: '1.5.0' });
    expect((await ask({ next })).warnings).toEqual(['version 1.5.0 may bypass 2 closed Gates, for one deployment']);
  });

  it('counts the Gates of a bound object that has no FluxBinding', async () => {
    const bare = object('kustomize.toolkit.fluxcd.io/v1', 'Kustomization', 'app', {});
    const annotations = { 'rollout.kuberik.com/substitute.APP.from': 'app', 'gate.fluxcd.io/gates': 'bound' };
    const objects = [gateOf('own'), gateOf('bound'), { ...bare, metadata: { ...bare.metadata, annotations } }];
    expect(await ask({ next: annotated(HOTFIX, own, AT_7), objects })).toMatchObject({
      grant: `1.5.0 (8) ${T}: team-a/bound,team-a/own`,
    });
  });

  it('is recorded with the version, and the writer gets a Warning', async () => {
    const message = 'sre bypassed team-a/bound, team-a/own (UPDATE, version 1.5.0): INC-7';
    expect(await ask({ next: annotated(HOTFIX, own, AT_7) })).toMatchObject({
      audit: { bypass: message },
      events: [message],
      warnings: ['version 1.5.0 may bypass 2 closed Gates, for one deployment'],
    });
  });

  it('names the Gate that a user closed', async () => {
    const closing = { 'close.gate.fluxcd.io/requestedAt': '2026-03-01T11:00:00Z' };
    const closed = gateOf('bound', { default: 'opened' });
    const objects = [{ ...closed, metadata: { ...closed.metadata, annotations: closing } }, binding('OCIRepository')];
    const next = annotated(HOTFIX, {}, AT_7);
    expect(await ask({ next, before: rollout({}, AT_7), objects })).toMatchObject({
      grant: `1.5.0 (8) ${T}: team-a/bound@close=2026-03-01T11:00:00Z`,
    });
  });

  it('with nothing to deploy is for a deletion only, with a Warning, and no bypass yet', async () => {
    const answer = await ask({ next: annotated(REASON, own, AT_7) });
    expect(answer).toMatchObject({ grant: undefined, by: `${T} sre`, events: [], audit: {} });
    expect(answer.warnings).toEqual([expect.stringContaining('no version waits')]);
  });

  it('gets a Warning about the other changes that a Kustomization would apply', async () => {
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
      "Kustomization 'app' then also applies what GitRepository 'infra' has fetched since its last apply",
    );
    expect((await ask({ ...asked, objects: [...around, git('main@sha1:1')] })).warnings).toHaveLength(1);
  });

  it.each([
    ['its own namespace, whose tag the Rollout sets: it fetches the deployment itself', 'team-a', 1],
    ['another namespace, which names a Rollout there', 'platform', 2],
  ])('gets a Warning about a source in %s', async (_, namespace, warnings) => {
    const source = { apiVersion: 'source.toolkit.fluxcd.io/v1', kind: 'OCIRepository', namespace, name: 'app' };
    const status = { artifact: { revision: '1.4.0@sha256:2' } };
    const repository = object(source.apiVersion, source.kind, source.name, {}, status);
    repository.metadata = { ...repository.metadata, namespace, annotations: { [BOUND_ROLLOUT]: 'app' } };
    const objects = [gateOf('bound'), binding('Kustomization', { source }), repository];
    const asked = { next: annotated(HOTFIX, {}, AT_7), before: rollout({}, AT_7), objects };
    expect((await ask(asked)).warnings).toHaveLength(warnings);
  });
});

it('the bypass of a Gate that the write drops, and that of the others for its version, are two Events', async () => {
  const answer = await ask({ next: annotated(HOTFIX, {}, AT_7) });
  expect(answer).toMatchObject({ allowed: true, eventKeys: { size: 2 } });
  expect(answer.events.join()).toContain('sre bypassed team-a/own (UPDATE)');
});

it('that of a Gate that the write drops is the only one if no version waits', async () => {
  const answer = await ask({ next: annotated(REASON, {}, AT_7) });
  expect(answer).toMatchObject({ allowed: true, events: ['sre bypassed team-a/own (UPDATE): INC-7'] });
});

describe('a reason without a bypass has no record', () => {
  it('of a user who may bypass one Gate of two is denied, and the denial names the other', async () => {
    const answer = await ask({ next: annotated(HOTFIX, own, AT_7), may: ['sre own'] });
    expect(answer).toMatchObject({ allowed: false, events: [] });
    expect(answer.denial).toMatch(
      /^Rollout 'team-a\/app' cannot bypass its closed Gates: Gate 'team-a\/bound' is closed /,
    );
    expect(answer.denial).toContain("Gate 'team-a/own' is closed (Gate closed by default). Bypass denied: sre isn't");
    expect(answer.denial).toContain("sre isn't allowed to bypass Gate team-a/bound (verb bypass).");
  });

  const both = [{ name: 'own' }, { name: 'bound' }];
  const toGit = { writeBack: { imagePolicy: 'a' } };
  it.each([
    ['a bound object requires another one, and the write adds spec.writeBack', own.gates!, toGit, GATES],
    ['the write drops another one too', both, {}, GATES.slice(0, 2)],
  ])('of a user who may bypass only one Gate that the write drops: %s', async (_, gates, spec, objects) => {
    const before = rollout({ gates }, AT_7);
    const answer = await ask({ next: annotated(REASON, spec, AT_7), before, objects, may: ['sre own'] });
    expect(answer).toMatchObject({ allowed: false, events: [] });
    expect(answer.denial).toContain("sre isn't allowed to bypass Gate team-a/bound (verb bypass).");
  });

  it('in a Git sync is not denied, which would stop everything else in it', async () => {
    const user = 'system:serviceaccount:flux-system:kustomize-controller';
    const answer = await ask({ next: annotated(HOTFIX, own, AT_7), user, may: [`${user} own`, `${user} bound`] });
    expect(answer).toMatchObject({ allowed: true, grant: undefined, by: undefined, events: [] });
    expect(answer.warnings.join()).toContain('Bypass denied');
  });

  it('where no Gate is closed', async () => {
    const objects = ['own', 'bound'].map((name) => gateOf(name, { default: 'opened' }));
    const answer = await ask({ next: annotated(HOTFIX, own, AT_7), objects });
    expect(answer).toMatchObject({ allowed: true, grant: undefined, by: undefined, events: [] });
  });

  it('of last time, with a new request', async () => {
    const before = annotated({ ...REASON, [BYPASSED_BY]: `${T} sre` }, own, AT_7);
    expect(await ask({ next: annotated({ ...HOTFIX }, own, AT_7), before })).toMatchObject({
      grant: undefined,
      events: [],
      warnings: [
        expect.stringMatching(/^version 1\.5\.0 waits: Gate .* closed$/),
        'gate.fluxcd.io/bypass-reason is not new, so it bypasses nothing: to bypass closed Gates, give another reason',
      ],
    });
  });
});

describe('a bypass grant', () => {
  const GRANT = '1.5.0 (8) 2026-03-01T11:30:00Z: team-a/own';
  const given = { ...REASON, [BYPASSED_BY]: `${T} sre`, [BYPASSED_GATES]: GRANT };
  const before = annotated(given, own, AT_7);

  it('stays as it is, whatever others write there', async () => {
    const next = annotated(
      { ...given, [BYPASSED_GATES]: '6.6.6 (8) 2026-03-01T11:30:00Z: team-a/own,team-a/bound' },
      own,
      AT_7,
    );
    expect(await ask({ next, before, user: 'developer' })).toMatchObject({
      grant: GRANT,
      by: `${T} sre`,
    });
  });

  it('keeps its time when a later reason counts for a Gate that the write drops', async () => {
    const answer = await ask({
      next: annotated({ ...given, 'gate.fluxcd.io/bypass-reason': 'INC-8' }, { gates: [{ name: 'bound' }] }, AT_7),
      before: annotated(given, { gates: [{ name: 'own' }, { name: 'bound' }] }, AT_7),
      may: ['sre own'],
    });
    expect(answer).toMatchObject({ allowed: true, by: `${T} sre` });
    expect(answer.warnings).toEqual([expect.stringMatching(/^Other Gates are not bypassed: sre isn't allowed to/)]);
  });

  it('can’t be written by any user', async () => {
    const next = annotated({ [BYPASSED_GATES]: GRANT, [BYPASSED_BY]: `${T} sre` }, own, AT_7);
    expect(await ask({ next, user: 'developer' })).toMatchObject({ grant: undefined, by: undefined });
  });

  it('is called off with its reason while it waits', async () => {
    expect(await ask({ next: annotated({}, own, AT_7), before })).toMatchObject({ grant: undefined });
  });

  it('stays without its reason while its deployment is rolling out: Flux removes annotations of kubectl', async () => {
    const underWay = { history: [entry(8, '1.5.0', ''), entry(7, '1.4.0')] };
    const next = annotated({}, own, underWay);
    expect(await ask({ next, before: annotated(given, own, underWay) })).toMatchObject({ grant: GRANT });
    const arrived = { history: [entry(8, '1.5.0'), entry(7, '1.4.0')] };
    expect(await ask({ next: annotated({}, own, arrived), before: annotated(given, own, arrived) })).toMatchObject({
      grant: undefined,
    });
  });
});

describe('the status that the writer sends', () => {
  const before = annotated({}, own, { ...AT_7, pendingVersion: '1.5.0' });

  it.each<[title: string, next: Rollout]>([
    ['is left out', annotated(REASON, own)],
    ['names another version as waiting', annotated(REASON, own, { ...AT_7, pendingVersion: '6.6.6' })],
    ['has another history', annotated(REASON, own, { ...AT_7, history: [entry(70, '1.3.0')] })],
  ])('decides nothing where it %s: the stored one does, and the answer leaves the sent one alone', async (_, next) => {
    const answer = await ask({ next, before });
    expect(answer).toMatchObject({ grant: `1.5.0 (8) ${T}: team-a/bound,team-a/own`, allowed: true });
    expect(answer.object!.status).toEqual(next.status);
  });

  it('decides nothing in a CREATE', async () => {
    const next = annotated({ [`${P}retry`]: '' }, { wantedVersion: '1.4.0' }, AT_7);
    expect((await ask({ next, before: null, objects: [] })).object!.status).toEqual(AT_7);
  });
});

describe('before the first deployment', () => {
  const spec = { ...own, initialVersion: '1.0.0', wantedVersion: '6.6.6' };
  const before = annotated({}, spec);

  it('is for initialVersion, which is deployed before wantedVersion', async () => {
    const next = annotated({ ...REASON, 'gate.fluxcd.io/bypass-for': '1.0.0' }, spec);
    expect(await ask({ next, before })).toMatchObject({
      grant: `1.0.0 (1) ${T}: team-a/bound,team-a/own`,
      allowed: true,
    });
  });

  it('is not for wantedVersion, which is not deployed first', async () => {
    const next = annotated({ ...REASON, 'gate.fluxcd.io/bypass-for': '6.6.6' }, spec);
    const answer = await ask({ next, before });
    expect(answer.allowed).toBe(false);
    expect(answer.denial).toContain('but the next deployment would be 1.0.0');
  });
});

describe('another webhook that changes the Rollout after ours', () => {
  const underWay = { history: [{ ...entry(8, '1.5.0', ''), bakeStatus: 'Deploying' as const }, entry(7, '1.4.0')] };
  const NEXT = [{ tag: '1.6.0' }];
  const waiting = { availableReleases: [{ tag: '1.5.0' }, ...NEXT], releaseCandidates: NEXT, pendingVersion: '1.6.0' };
  const other = pinnedBy('developer', '1.5.0');

  it.each<[what: string, kept: string, text: string, next: Rollout, before: Rollout]>([
    [
      'the version of a bypass that another user requested',
      BYPASSED_GATES,
      '1.5.0 (8)',
      annotated({ ...other, ...REASON, [BYPASS_FOR]: '1.5.0' }, { ...own, wantedVersion: '1.5.0' }, AT_7),
      annotated(other, { ...own, wantedVersion: '1.5.0' }, AT_7),
    ],
    [
      'the version of a bypass that a closure has interrupted',
      BYPASSED_GATES,
      '1.5.0 (8)',
      annotated({ ...REASON, [BYPASS_FOR]: '1.5.0' }, own, { ...underWay, ...waiting }),
      annotated({}, own, { ...underWay, ...waiting }),
    ],
    [
      'the reason of a pin',
      PIN_RECORD,
      'INC-9',
      annotated({ [PIN_REASON]: 'INC-9' }, { ...own, wantedVersion: '1.4.0' }, AT_7),
      annotated({}, own, AT_7),
    ],
  ])('loses nothing: %s', async (_, kept, text, next, before) => {
    const { call } = fakeWebhookCall({ now: NOW, objects: GATES, access: { may: async () => true }, settings: {} });
    const request = requestOf({ object: next, oldObject: before, userInfo: { username: 'sre' } } as never);
    const stored = await mutate(
      request,
      async (_path, each) => reviewOf(each, await mutateRollout(each, call)).response!,
      (object) => object,
      (object) => ({
        ...object,
        metadata: { ...object.metadata, labels: { ...object.metadata?.labels, checked: '' } },
      }),
    );
    expect(stored!.metadata!.labels).toMatchObject({ checked: '' });
    expect(stored!.metadata!.annotations?.[kept]).toContain(text);
  });
});
