/** A Kustomization and its OCIRepository, both bound to Rollout my-app: what one write of the Kustomization stores. */
import { describe, expect, it } from 'vitest';
import type { FluxObject } from '../../../api/flux.ts';
import type { Gate, Rollout } from '../../../api/types.ts';
import { verifyWrite } from '../../../core/admission/validate.ts';
import {
  APP_PATH,
  decide,
  deployment,
  gatesByName,
  kustomization,
  NOW,
  ociRepository,
  owner,
  rollout,
  rolloutsByName,
} from '../admission/objects.ts';
import { closedGate, openGate } from '../admission/writes.ts';

const OWN = { 'rollout.kuberik.com/substitute.APP.from': 'my-app' };
const ARTIFACT = 'rollout.kuberik.com/artifact';
const AWAITS = 'rollout.kuberik.com/awaits-artifact';
const MEMORY = 'gate.fluxcd.io/suspended';
const SOURCE = { sourceRef: { kind: 'OCIRepository', name: 'web' } };
const TWO = deployment('my-app', 2, '1.1.0');
const my = rollout('my-app', '1.1.0', '1.0.0');

interface Kept {
  annotations?: Record<string, string>;
  spec?: Record<string, unknown>;
  app?: string | null;
}

/** The Kustomization, running 1.0.0 unless told otherwise. */
function object({ annotations = {}, spec = {}, app = '1.0.0' }: Kept = {}): FluxObject {
  return kustomization({
    annotations: { ...OWN, [ARTIFACT]: '1.0.0', ...annotations },
    deployed: deployment('my-app', 1, '1.0.0'),
    substitute: app === null ? null : { APP: app },
    spec: { ...SOURCE, ...spec },
  });
}
const waiting = (kept: Kept = {}) =>
  object({
    ...kept,
    annotations: { [AWAITS]: TWO, [MEMORY]: 'unset', ...kept.annotations },
    spec: { suspend: true, ...kept.spec },
  });

/** The OCIRepository: what its tag is, which deployment it carries, what it has fetched. */
function source(tag: string, id: number, fetched: string | undefined, more: Record<string, unknown> = {}): FluxObject {
  return ociRepository(
    { tag },
    {
      deployed: deployment('my-app', id, tag),
      spec: more.suspend ? { suspend: true } : {},
      status: {
        observedGeneration: more.behind ? 2 : 3,
        ...(fetched !== undefined && { artifact: { revision: `${fetched}@sha256:0` } }),
        ...(more.conditions !== undefined && { conditions: more.conditions }),
      },
    },
  );
}
const condition = (type: string, status: string, observedGeneration = 3) => [
  { type, status, reason: 'OCIArtifactPullFailed', message: '', lastTransitionTime: '', observedGeneration },
];

/** With `versionHistoryLimit: 1`. */
function trimmed(rollout: Rollout): Rollout {
  return { ...rollout, status: { ...rollout.status, history: rollout.status?.history?.slice(0, 1) ?? [] } };
}

interface Row {
  says: string;
  /** null: CREATE. */
  old?: FluxObject | null;
  /** As sent; like the old one where absent. */
  sent?: FluxObject;
  source?: FluxObject;
  rollouts?: Rollout[];
  gates?: Gate[];
  app: string | undefined;
  artifact: string | undefined;
  suspend?: boolean;
  awaits?: string;
  memory?: string;
  warning?: string;
}

const LATE = source('1.1.0', 2, '1.0.0', { behind: true });
const THERE = source('1.1.0', 2, '1.1.0');
const NOT_WRITTEN = source('1.0.0', 1, '1.0.0');
/** What it runs, and of which artifact: the version before, the new one, what Git said, what no source has to fetch. */
const had = { app: '1.0.0', artifact: '1.0.0' };
const has = { app: '1.1.0', artifact: '1.1.0' };
const dev = { app: 'dev', artifact: 'dev' };
const direct = { app: '1.1.0', artifact: undefined };
/** Suspended until the new one is fetched. */
const held = { suspend: true, awaits: TWO, memory: 'unset' };
const stays = { ...had, ...held };
/** Before the first deployment. */
const UNBOUND = kustomization({ annotations: OWN, substitute: { APP: 'dev' }, spec: SOURCE });

const rows: Row[] = [
  { says: 'stands still until the tag is written', source: NOT_WRITTEN, ...stays },
  { says: 'stands still until it is fetched', source: LATE, ...stays },
  { says: 'is written and resumed at once', old: waiting(), source: THERE, ...has },
  { says: 'is written without a stop where the source was faster', source: THERE, ...has },
  {
    says: 'is not believed in the status of an older generation',
    source: source('1.1.0', 2, '1.1.0', { behind: true }),
    ...stays,
  },
  { says: 'is not a tag that only begins like it', source: source('1.1.0', 2, '1.1.0-rc.1'), ...stays },
  ...[
    { says: 'cannot be fetched', more: { conditions: condition('FetchFailed', 'True') } },
    { says: 'does not verify', more: { conditions: condition('Ready', 'False') } },
    { says: 'is waited for by a suspended source', more: { suspend: true } },
  ].map(({ says, more }) => ({
    says: `${says}: goes on with what it has`,
    old: waiting(),
    source: source('1.1.0', 2, '1.0.0', more),
    ...had,
  })),
  {
    says: 'failed to be fetched for an older spec: that says nothing',
    source: source('1.1.0', 2, '1.0.0', { conditions: condition('FetchFailed', 'True', 2) }),
    ...stays,
  },
  {
    says: 'two versions later it still has what was fetched',
    old: waiting(),
    source: source('1.2.0', 3, '1.0.0', { conditions: condition('FetchFailed', 'True') }),
    rollouts: [rollout('my-app', '1.2.0', '1.1.0', '1.0.0')],
    ...had,
  },
  {
    says: 'back to the version before: the artifact never left',
    old: waiting(),
    source: source('1.0.0', 3, '1.0.0'),
    rollouts: [rollout('my-app', '1.0.0', '1.1.0', '1.0.0')],
    ...had,
  },
  {
    says: 'the first deployment: the variable stays what Git says until it is there',
    old: UNBOUND,
    source: source('1.1.0', 2, 'dev', { behind: true }),
    ...dev,
    ...held,
  },
  {
    says: 'the first deployment: what Git says meanwhile is held',
    old: UNBOUND,
    sent: kustomization({
      annotations: OWN,
      substitute: { APP: 'dev-2' },
      spec: SOURCE,
      managedFields: [owner('Apply', APP_PATH)],
    }),
    source: source('1.1.0', 2, 'dev', { behind: true }),
    ...dev,
    ...held,
    warning: 'APP stays dev until its source has fetched my-app 1.1.0 (2)',
  },
  {
    says: 'has waited for so long that the history has forgotten what it has',
    old: waiting(),
    source: source('1.2.0', 3, '1.0.0', { conditions: condition('FetchFailed', 'True') }),
    rollouts: [trimmed(rollout('my-app', '1.2.0', '1.1.0', '1.0.0'))],
    ...had,
  },
  {
    says: 'before the first deployment it runs what its source has',
    old: UNBOUND,
    source: ociRepository(
      { tag: 'dev' },
      { status: { observedGeneration: 3, artifact: { revision: 'dev@sha256:0' } } },
    ),
    rollouts: [rollout('my-app')],
    ...dev,
  },
  {
    says: 'created while the version is on its way: has it, and waits',
    old: null,
    sent: kustomization({ annotations: OWN, substitute: { APP: '0.1.0' }, spec: SOURCE }),
    source: source('1.1.0', 2, undefined),
    ...has,
    ...held,
    warning: 'APP stays 1.1.0, deployed by Rollout my-app',
  },
  {
    says: 'resumed by hand on the way: stays, and will be what was asked for',
    old: waiting(),
    sent: waiting({ spec: { suspend: false } }),
    source: LATE,
    ...stays,
    memory: 'false',
    warning: 'suspended until its source has fetched my-app 1.1.0 (2), and resumed then',
  },
  {
    says: 'suspended by its owner before: stays so when the version is there',
    old: waiting({ annotations: { [MEMORY]: 'true' } }),
    source: THERE,
    ...has,
    suspend: true,
  },
  {
    says: 'our annotations taken away are there again',
    old: waiting(),
    sent: object({ annotations: { [ARTIFACT]: '9.9.9' }, spec: { suspend: true } }),
    source: LATE,
    ...stays,
  },
  {
    says: 'a source that follows the Rollout no more: the variable follows it directly',
    old: waiting(),
    source: ociRepository({ tag: '1.0.0' }, { annotations: {} }),
    ...direct,
  },
  { says: 'a source that is gone: the same', old: waiting(), ...direct },
  {
    says: 'a source of another Rollout: the same',
    source: ociRepository({ tag: '1.0.0' }, { annotations: { 'rollout.kuberik.com/rollout': 'other' } }),
    ...direct,
  },
  {
    says: 'behind a closed gate nothing moves, fetched or not',
    old: waiting({ annotations: { 'gate.fluxcd.io/gates': 'freeze' } }),
    source: THERE,
    gates: [closedGate],
    ...stays,
  },
  {
    says: 'the gate has opened, and it is still on its way: suspended, now for its source',
    old: waiting({ annotations: { 'gate.fluxcd.io/gates': 'freeze', 'gate.fluxcd.io/state': 'closed: shop/freeze' } }),
    source: LATE,
    gates: [openGate],
    ...stays,
  },
];

const contextOf = (from: FluxObject | undefined, rollouts = [my], gates: Gate[] = []) => ({
  rollouts: rolloutsByName(...rollouts),
  source: from,
  gates: gatesByName(...gates),
  namespaceLabels: {},
  now: NOW,
});
/** What is stored of a write that is not denied. */
const storedOf = (sent: FluxObject, oldObject: FluxObject, from: FluxObject): FluxObject =>
  (decide({ object: sent, oldObject, context: contextOf(from), user: 'admin' }) as { object: FluxObject }).object;

describe('variables follow the source of the same Rollout: a version that', () => {
  it.each(rows)('$says', (row) => {
    const oldObject = row.old === null ? undefined : (row.old ?? object());
    const context = contextOf(row.source, row.rollouts, row.gates);
    const write = (sent: FluxObject, before: FluxObject | undefined) =>
      decide({ object: sent, oldObject: before, context, user: 'admin' });
    const outcome = write(row.sent ?? oldObject!, oldObject);
    if (outcome.denial !== undefined) throw new Error(outcome.denial);
    const { metadata, spec } = outcome.object;
    expect({
      app: (spec?.postBuild as { substitute?: Record<string, string> } | undefined)?.substitute?.APP,
      artifact: metadata.annotations?.[ARTIFACT],
      suspend: spec?.suspend,
      awaits: metadata.annotations?.[AWAITS],
      memory: metadata.annotations?.[MEMORY],
    }).toEqual({
      app: row.app,
      artifact: row.artifact,
      suspend: row.suspend,
      awaits: row.awaits,
      memory: row.memory,
    });
    expect(outcome.warnings).toEqual(row.warning ? [row.warning] : []);
    expect(verifyWrite({ object: outcome.object, oldObject, context, user: 'admin' }), 'validated').toBeUndefined();
    expect(write(outcome.object, oldObject), 'asked again').toMatchObject({ object: outcome.object });
    expect(write(outcome.object, outcome.object), 'the next write').toMatchObject({ object: outcome.object });
  });
});

describe('kustomize-controller is asked to echo', () => {
  const ASKED = 'reconcile.fluxcd.io/requestedAt';
  const at = (object: FluxObject, generation: number): FluxObject => ({
    ...object,
    metadata: { ...object.metadata, generation },
  });

  const unseen = (handled?: string) => ({
    ...waiting({ annotations: { [ASKED]: 'rollout-hooks/6' } }),
    status: handled === undefined ? {} : { lastHandledReconcileAt: handled },
  });

  it.each([
    { says: 'and nobody asks for anything else before it has', old: unseen('now-1'), expected: 'rollout-hooks/6' },
    { says: 'also not where it has echoed nothing yet', old: unseen(), expected: 'rollout-hooks/6' },
    { says: 'afterwards anybody may', old: unseen('rollout-hooks/6'), expected: 'now-2' },
  ])('$says', ({ old, expected }) => {
    const sent = {
      ...old,
      metadata: { ...old.metadata, annotations: { ...old.metadata.annotations, [ASKED]: 'now-2' } },
    };
    for (const from of [LATE, THERE]) expect(storedOf(sent, old, from).metadata.annotations?.[ASKED]).toBe(expected);
  });

  it.each([
    { says: 'the write that suspends', old: object(), from: LATE, expected: 'rollout-hooks/7' },
    { says: 'no write while it waits', old: waiting(), from: LATE, expected: undefined },
    { says: 'not the write that resumes, which follows', old: waiting(), from: THERE, expected: undefined },
    { says: 'new variables that no suspension preceded', old: object(), from: THERE, expected: 'rollout-hooks/7' },
  ])('$says', ({ old, from, expected }) => {
    expect(storedOf(at(old, 7), at(old, 7), from).metadata.annotations?.[ASKED]).toBe(expected);
  });
});

it('an edit of the variable is denied while the first deployment is on its way', () => {
  const context = contextOf(source('1.1.0', 2, 'dev', { behind: true }));
  const unbound = (app: string) => kustomization({ annotations: OWN, substitute: { APP: app }, spec: SOURCE });
  const outcome = decide({ object: unbound('6.6.6'), oldObject: unbound('dev'), context, user: 'admin' });
  expect(outcome.denial).toMatch(/^spec\.postBuild\.substitute\.APP cannot be set to '6\.6\.6': Rollout '/);
});
