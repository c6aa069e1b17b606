import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { RolloutStatus } from '../../../api/types.ts';
import { fakeWebhookCall } from '../../../dev/fakes/ports.ts';
import { requestOf } from '../../../dev/fakes/requests.ts';
import { compile } from '../../../dev/sim/apiServer/cel.ts';
import {
  mutateRolloutStatus,
  OUR_ENTRY_FIELDS,
  OUR_FIELDS,
  validateRolloutStatus,
} from '../../../webhooks/rollout/rolloutStatusAdmission.ts';
import { object, rollout } from '../../hooks/rollout/call.ts';
import { objectIn } from '../../manifests/files.ts';
import { costInReadings } from '../../support/cost.ts';
import { admitted, annotated } from './call.ts';

describe('mutate/rollout-status', () => {
  const ours: RolloutStatus = {
    revision: 7,
    observedGeneration: 1,
    currentVersion: '1.0.0',
    handledRequest: { retry: 'a' },
    history: [
      {
        id: 1,
        version: { tag: '1.0.0' },
        timestamp: '2026-03-01T11:00:00Z',
        bakeStatus: 'Failed',
        appliedTime: '2026-03-01T11:00:05Z',
      },
    ],
  };
  const accept = async (status: RolloutStatus | undefined, user = 'dashboard', before: RolloutStatus | null = ours) => {
    const write = { object: rollout({}, status), old: rollout({}, before ?? undefined), user };
    return (await admitted(mutateRolloutStatus, write)).object?.status;
  };

  it('counts on for a writer without revisions, and restores the fields that it dropped', async () => {
    const { appliedTime, ...entry } = ours.history![0]!;
    const written = { history: [{ ...entry, bakeStatus: 'Succeeded' }] };
    expect(await accept(written)).toEqual({
      ...ours,
      revision: 8,
      history: [{ ...ours.history![0], bakeStatus: 'Succeeded' }],
    });
  });

  it('completes a long history at little cost', () => {
    const entries = Array.from({ length: 10_000 }, (_, i) => ({
      id: 10_000 - i,
      timestamp: 't',
      version: { tag: 'v' },
    }));
    const object = rollout({}, { history: [{ id: 10_001, timestamp: 't', version: { tag: 'v' } }, ...entries] });
    const request = requestOf({ object, oldObject: rollout({}, { revision: 1, history: entries }) } as never);
    const { call } = fakeWebhookCall({ now: 0 });
    expect(costInReadings(request, () => mutateRolloutStatus(request, call))).toBeLessThan(4);
  });

  it('leaves an entry without a version to the schema', async () => {
    const written = { history: [{ id: 2, timestamp: '2026-03-01T12:00:00Z' }] } as unknown as RolloutStatus;
    expect((await accept(written))?.history).toMatchObject(written.history!);
  });

  it.each([{}, { revision: 7 }])('names the writer of a new deployment, and nobody else: %j', async (revision) => {
    const added = { id: 2, version: { tag: '2.0.0' }, timestamp: '2026-03-01T12:00:00Z', reason: 'INC-1' };
    const forged = {
      ...added,
      requestedBy: 'ceo',
      origin: ['ForceDeploy' as const],
      rolledBackFrom: '1.0.0',
      approvals: [{ kind: 'RolloutGate', gate: 'two-of-us', by: 'bob', at: '2026-03-01T11:59:00Z' }],
      bypass: { by: 'sre', at: '2026-03-01T11:59:00Z', reason: 'INC-1', gates: ['platform/freeze'] },
    };
    const { revision: _, ...before } = ours;
    const history = [forged, ...ours.history!];
    expect((await accept({ ...before, ...revision, history }))?.history).toEqual([
      { ...added, requestedBy: 'dashboard' },
      ...ours.history!,
    ]);
    // A restored backup.
    expect((await accept({ history }, 'velero', {}))?.history).toEqual(history);
  });

  it('restores when releases were first seen', async () => {
    const stored = {
      ...ours,
      availableReleases: [{ tag: '1.0.0', firstSeen: '2026-03-01T10:00:00Z' }, { tag: '0.9.0' }],
    };
    const { revision, ...typed } = {
      ...ours,
      availableReleases: [{ tag: '1.0.0' }, { tag: '0.9.0' }, { tag: '2.0.0' }],
    };
    expect((await accept(typed, 'dashboard', stored))?.availableReleases).toEqual([
      ...stored.availableReleases,
      { tag: '2.0.0' },
    ]);
  });

  it('keeps the inputs of decisions, also for a writer with revisions', async () => {
    const release = { tag: '1.0.0', firstSeen: '2026-03-01T10:00:00Z' };
    const stored = {
      ...ours,
      availableReleases: [release],
      releaseAuthors: [{ tag: '1.0.0', authors: 'alice' }],
      rollbackBarriers: ['1.0.0'],
      namedGates: [{ gate: 'team-a/freeze', seen: true }],
    };
    const long = '2020-01-01T00:00:00Z';
    const forged = {
      ...stored,
      availableReleases: [
        { ...release, firstSeen: long },
        { tag: '2.0.0', firstSeen: long },
      ],
      releaseAuthors: [{ tag: '1.0.0', authors: 'nobody' }],
      rollbackBarriers: [],
      namedGates: [{ gate: 'team-a/freeze', seen: false }],
    };
    expect(await accept(forged, 'dashboard', stored)).toEqual({
      ...stored,
      availableReleases: [release, { tag: '2.0.0' }],
      revision: 8,
    });
  });

  it('lists every field that the Go controller lacks', () => {
    const crd = parse(
      readFileSync(join(import.meta.dirname, '../../../manifests/crds/kuberik.com_rollouts.yaml'), 'utf8'),
    );
    const status = crd.spec.versions[0].schema.openAPIV3Schema.properties.status.properties;
    const ofGo =
      'conditions history availableReleases releaseCandidates gatedReleaseCandidates gates artifactType source title description';
    const ofGoEntry =
      'id version timestamp message triggeredBy bakeStatus bakeStatusMessage bakeStartTime bakeEndTime lastRetryTimestamp failedHealthChecks';
    const ours = (all: object, theirs: string) => Object.keys(all).filter((key) => !theirs.split(' ').includes(key));
    expect([...OUR_FIELDS, 'revision'].sort()).toEqual(ours(status, ofGo).sort());
    expect([...OUR_ENTRY_FIELDS].sort()).toEqual(ours(status.history.items.properties, ofGoEntry).sort());
  });

  it('continues for a user who edits the stored status, with their removals', async () => {
    const { handledRequest, ...edited } = ours;
    expect(await accept(edited)).toEqual({ ...edited, revision: 8 });
  });

  it('begins with 1', async () => {
    expect(await accept({ title: 'x' }, 'e2e', null)).toEqual({ title: 'x', revision: 1 });
  });

  it('keeps a status that does not change, and leaves Metacontroller alone', async () => {
    expect(await accept(ours)).toEqual(ours);
    expect(await accept({ ...ours, revision: undefined as never })).toEqual(ours);
    expect(await accept({ title: 'x' }, 'metacontroller')).toEqual({ title: 'x' });
  });
});

describe('validate/rollout-status, behind a closed Gate', () => {
  const entry = (id: number, extras: object = {}) => ({
    id,
    version: { tag: `${id}.0.0` },
    timestamp: '2026-03-01T11:00:00Z',
    ...extras,
  });
  const spec = { gates: [{ name: 'freeze' }] };
  const freeze = object('gating.toolkit.fluxcd.io/v1alpha1', 'Gate', 'freeze', { default: 'closed' });
  const decide = async (
    history: ReturnType<typeof entry>[],
    user = 'alice',
    old = [entry(1)],
    may = false,
    annotations = {},
  ) => {
    const before = annotated(annotations, spec, { history: old });
    const after = annotated(annotations, spec, { history });
    const write = { object: after, old: before, user, subResource: 'status' };
    const result = await admitted(validateRolloutStatus, write, {
      objects: [freeze],
      may: may ? [`${user} bypass`] : [],
    });
    return { result, events: result.events };
  };

  it.each([
    { title: 'another deployment', history: [entry(2), entry(1)] },
    { title: 'a first deployment', history: [entry(1)], old: [] },
  ])('refuses $title, and says why', async ({ history, old }) => {
    const { result } = await decide(history, 'alice', old);
    expect(result).toMatchObject({
      allowed: false,
      message: expect.stringMatching(
        /cannot have a deployment added to status.history while a Gate that it requires is closed: .* then write the status within five/,
      ),
    });
  });

  it.each([
    { title: 'the bake of the one that is there', history: [entry(1, { bakeStatus: 'Succeeded' })] },
    { title: 'a deployment of our own controller', history: [entry(2), entry(1)], user: 'metacontroller' },
  ])('lets $title through', async ({ history, user }) => {
    expect((await decide(history, user)).result).toMatchObject({ allowed: true });
  });

  const grantAt = (time: string) => ({
    'gate.fluxcd.io/bypassed-gates': `1.0.0 (1) 2026-03-01T${time}Z: team-a/freeze`,
  });

  const revivals: { title: string; history: object; old: object }[] = [
    { title: 'continues it', history: { bakeStatus: 'Deploying' }, old: { bakeStatus: 'Failed' } },
    { title: 'marks it as successful', history: { bakeStatus: 'Succeeded' }, old: { bakeStatus: 'Failed' } },
    {
      title: 'removes the time of its retry',
      history: { bakeStatus: 'Deploying' },
      old: { bakeStatus: 'Deploying', lastRetryTimestamp: '2026-03-01T11:40:00Z' },
    },
  ];

  it.each(revivals)('refuses to let a failed deployment bypass it again: $title', async ({ history, old }) => {
    const revive = (annotations: object, may = false) =>
      decide([entry(1, history)], 'alice', [entry(1, old)], may, annotations);
    expect((await revive(grantAt('11:30:00'))).result).toMatchObject({
      allowed: false,
      message: expect.stringContaining('cannot have its failed deployment bypass a closed Gate again: '),
    });
    const reason = {
      'gate.fluxcd.io/bypass-reason': 'INC-1',
      'gate.fluxcd.io/bypassed-by': '2026-03-01T11:59:00Z alice',
    };
    expect((await revive({ ...grantAt('11:30:00'), ...reason }, true)).result).toMatchObject({ allowed: true });
    for (const without of [{}, grantAt('10:30:00')]) {
      expect((await revive(without)).result).toMatchObject({ allowed: true });
    }
  });

  /** The match conditions that let through a write of the status by a dashboard. */
  const sent = (annotations: object, history: object, old: object) => {
    const { matchConditions } = objectIn('webhooks/validating.yaml').webhooks.find(
      ({ name }: { name: string }) => name === 'rollout-status.admission.kuberik.com',
    );
    const request = { userInfo: { username: 'dashboard' } };
    const [object, oldObject] = [history, old].map((head) =>
      annotated({ ...annotations }, spec, { history: [entry(1, head)] }),
    );
    return matchConditions.every(({ expression }: { expression: string }) =>
      compile(expression)({ request, object, oldObject }),
    );
  };

  it.each(revivals)('is called by the API server for a write that $title, if there is a bypass', ({ history, old }) => {
    expect(sent(grantAt('11:30:00'), history, old)).toBe(true);
    expect(sent({}, history, old)).toBe(false);
    expect(sent(grantAt('11:30:00'), { ...old, bakeStatusMessage: 'slow' }, old)).toBe(false);
  });

  it('allows it with the reason that its writer gave on the Rollout shortly before, and records it', async () => {
    const reason = {
      'gate.fluxcd.io/bypass-reason': 'INC-1',
      'gate.fluxcd.io/bypassed-by': '2026-03-01T11:59:00Z alice',
    };
    const { result, events } = await decide([entry(2), entry(1)], 'alice', [entry(1)], true, reason);
    expect(result).toMatchObject({ allowed: true, audit: { bypass: expect.stringContaining('INC-1') } });
    expect(events.map((event) => event.reason)).toEqual(['GateBypassed']);
    expect((await decide([entry(2), entry(1)], 'bob', [entry(1)], true, reason)).result).toMatchObject({
      allowed: false,
    });
  });
});
