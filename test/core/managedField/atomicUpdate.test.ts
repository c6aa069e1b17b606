/** The stored state after one write of a Kustomization that is bound to Rollout my-app, like its OCIRepository. */
import { describe, expect, it } from 'vitest';
import type { FluxObject } from '../../../api/flux.ts';
import type { Gate, Rollout } from '../../../api/types.ts';
import { verifyWrite } from '../../../core/admission/validate.ts';
import {
  APP_PATH,
  asRead,
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

/** The Kustomization, running 1.0.0 by default. */
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

/** The OCIRepository: its tag, the deployment in its annotation, and the fetched artifact. */
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
  title: string;
  /** null: CREATE. */
  old?: FluxObject | null;
  /** The object as sent; the old one if absent. */
  sent?: FluxObject;
  source: FluxObject | undefined;
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
/**
 * Version and artifact of the running object: the version before, the new one, Git's, one without a source to fetch.
 */
const had = { app: '1.0.0', artifact: '1.0.0' };
const has = { app: '1.1.0', artifact: '1.1.0' };
const dev = { app: 'dev', artifact: 'dev' };
const direct = { app: '1.1.0', artifact: undefined };
/** Suspended until the new one is fetched. */
const held = { suspend: true, awaits: TWO, memory: 'unset' };
const stays = { ...had, ...held };
/** Before the first deployment. */
const UNBOUND = kustomization({ annotations: OWN, substitute: { APP: 'dev' }, spec: SOURCE });

const that = (title: string, source: Row['source'], rest: Omit<Row, 'title' | 'source'>): Row => ({
  title,
  source,
  ...rest,
});

const rows: Row[] = [
  that('stands still until the tag is written', NOT_WRITTEN, stays),
  that('stands still until it is fetched', LATE, stays),
  that('is written and resumed at once', THERE, { old: waiting(), ...has }),
  that('is written by the write of a user who resumes the object: it runs', THERE, {
    old: waiting({ annotations: { [MEMORY]: 'true' } }),
    sent: waiting({ annotations: { [MEMORY]: 'true' }, spec: { suspend: false } }),
    ...has,
    suspend: false,
  }),
  that('is written without a stop where the source was faster', THERE, has),
  that('is not believed in the status of an older generation', source('1.1.0', 2, '1.1.0', { behind: true }), stays),
  that('is not a tag that only begins like it', source('1.1.0', 2, '1.1.0-rc.1'), stays),
  ...[
    { title: 'cannot be fetched', more: { conditions: condition('FetchFailed', 'True') } },
    { title: 'does not verify', more: { conditions: condition('Ready', 'False') } },
    { title: 'is waited for by a suspended source', more: { suspend: true } },
  ].map(({ title, more }) => ({
    title: `${title}: goes on with what it has`,
    old: waiting(),
    source: source('1.1.0', 2, '1.0.0', more),
    ...had,
  })),
  that(
    'failed to be fetched for an older spec: that says nothing',
    source('1.1.0', 2, '1.0.0', { conditions: condition('FetchFailed', 'True', 2) }),
    stays,
  ),
  that(
    'two versions later it still has what was fetched',
    source('1.2.0', 3, '1.0.0', { conditions: condition('FetchFailed', 'True') }),
    { old: waiting(), rollouts: [rollout('my-app', '1.2.0', '1.1.0', '1.0.0')], ...had },
  ),
  that('back to the version before: the artifact never left', source('1.0.0', 3, '1.0.0'), {
    old: waiting(),
    rollouts: [rollout('my-app', '1.0.0', '1.1.0', '1.0.0')],
    ...had,
  }),
  that(
    'the first deployment: the variable stays what Git says until it is there',
    source('1.1.0', 2, 'dev', { behind: true }),
    { old: UNBOUND, ...dev, ...held },
  ),
  that('the first deployment: what Git says meanwhile is held', source('1.1.0', 2, 'dev', { behind: true }), {
    old: UNBOUND,
    sent: kustomization({
      annotations: OWN,
      substitute: { APP: 'dev-2' },
      spec: SOURCE,
      managedFields: [owner('Apply', APP_PATH)],
    }),
    ...dev,
    ...held,
    warning: "APP stays dev until the object's source has fetched my-app 1.1.0 (2)",
  }),
  that(
    'has waited for so long that the history has forgotten what it has',
    source('1.2.0', 3, '1.0.0', { conditions: condition('FetchFailed', 'True') }),
    { old: waiting(), rollouts: [trimmed(rollout('my-app', '1.2.0', '1.1.0', '1.0.0'))], ...had },
  ),
  that(
    'before the first deployment it runs what its source has',
    ociRepository({ tag: 'dev' }, { status: { observedGeneration: 3, artifact: { revision: 'dev@sha256:0' } } }),
    { old: UNBOUND, rollouts: [rollout('my-app')], ...dev },
  ),
  that('created while the version is on its way: has it, and waits', source('1.1.0', 2, undefined), {
    old: null,
    sent: kustomization({ annotations: OWN, substitute: { APP: '0.1.0' }, spec: SOURCE }),
    ...has,
    ...held,
    warning: "APP stays 1.1.0: Rollout 'my-app' manages it. To change it, deploy on the Rollout",
  }),
  that('resumed by hand on the way: stays, and will be what was asked for', LATE, {
    old: waiting(),
    sent: waiting({ spec: { suspend: false } }),
    ...stays,
    memory: 'false',
    warning: 'stays suspended until its source has fetched my-app 1.1.0 (2); it is then resumed automatically',
  }),
  that('suspended by its owner before: stays so when the version is there', THERE, {
    old: waiting({ annotations: { [MEMORY]: 'true' } }),
    ...has,
    suspend: true,
  }),
  that('our annotations taken away are there again', LATE, {
    old: waiting(),
    sent: object({ annotations: { [ARTIFACT]: '9.9.9' }, spec: { suspend: true } }),
    ...stays,
  }),
  that(
    'a source that follows the Rollout no more: the variable follows it directly',
    ociRepository({ tag: '1.0.0' }, { annotations: {} }),
    { old: waiting(), ...direct },
  ),
  that('a source that is gone: the same', undefined, { old: waiting(), ...direct }),
  that(
    'a source of another Rollout: the same',
    ociRepository({ tag: '1.0.0' }, { annotations: { 'rollout.kuberik.com/rollout': 'other' } }),
    direct,
  ),
  that('behind a closed gate nothing moves, fetched or not', THERE, {
    old: waiting({ annotations: { 'gate.fluxcd.io/gates': 'freeze' } }),
    gates: [closedGate],
    ...stays,
  }),
  that('the gate has opened, and it is still on its way: suspended, now for its source', LATE, {
    old: waiting({ annotations: { 'gate.fluxcd.io/gates': 'freeze', 'gate.fluxcd.io/state': 'closed: shop/freeze' } }),
    gates: [openGate],
    ...stays,
  }),
];

const contextOf = (from: FluxObject | undefined, rollouts = [my], gates: Gate[] = []) => ({
  rollouts: rolloutsByName(...rollouts),
  source: from,
  gates: gatesByName(...gates),
  now: NOW,
});
/** The stored object of a write that isn't denied. */
const storedOf = (sent: FluxObject, old: FluxObject, from: FluxObject): FluxObject =>
  (decide({ object: sent, old, context: contextOf(from), user: 'admin' }) as { object: FluxObject }).object;

describe('variables follow the source of the same Rollout: a version that', () => {
  it.each(rows)('$title', (row) => {
    const old = row.old === null ? undefined : (row.old ?? object());
    const context = contextOf(row.source, row.rollouts, row.gates);
    const write = (sent: FluxObject, before: FluxObject | undefined) =>
      decide({ object: sent, old: before, context, user: 'admin' });
    const outcome = write(row.sent ?? old!, old);
    if (outcome.denial !== undefined) throw new Error(outcome.denial);
    const { metadata, spec } = outcome.object;
    expect({
      app: (spec?.postBuild as { substitute?: Record<string, string> } | undefined)?.substitute?.APP,
      artifact: metadata.annotations?.[ARTIFACT],
      suspend: spec?.suspend,
      awaits: metadata.annotations?.[AWAITS],
      memory: metadata.annotations?.[MEMORY],
    }).toEqual({ app: row.app, artifact: row.artifact, suspend: row.suspend, awaits: row.awaits, memory: row.memory });
    expect(outcome.warnings).toEqual(row.warning ? [row.warning] : []);
    expect(verifyWrite(asRead({ object: outcome.object, old, context, user: 'admin' })), 'validated').toBeUndefined();
    expect(write(outcome.object, outcome.object), 'the next write').toMatchObject({ object: outcome.object });
  });
});

describe('kustomize-controller gets a request to echo', () => {
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
    { title: 'and nobody asks for anything else before it has', old: unseen('now-1'), expected: 'rollout-hooks/6' },
    { title: 'also not where it has echoed nothing yet', old: unseen(), expected: 'rollout-hooks/6' },
    { title: 'afterwards anybody may', old: unseen('rollout-hooks/6'), expected: 'now-2' },
  ])('$title', ({ old, expected }) => {
    const sent = {
      ...old,
      metadata: { ...old.metadata, annotations: { ...old.metadata.annotations, [ASKED]: 'now-2' } },
    };
    for (const from of [LATE, THERE]) expect(storedOf(sent, old, from).metadata.annotations?.[ASKED]).toBe(expected);
  });

  it.each([
    { title: 'the write that suspends', old: object(), from: LATE, expected: 'rollout-hooks/7' },
    { title: 'no write while it waits', old: waiting(), from: LATE, expected: undefined },
    { title: 'not the write that resumes, which follows', old: waiting(), from: THERE, expected: undefined },
    { title: 'new variables that no suspension preceded', old: object(), from: THERE, expected: 'rollout-hooks/7' },
  ])('$title', ({ old, from, expected }) => {
    expect(storedOf(at(old, 7), at(old, 7), from).metadata.annotations?.[ASKED]).toBe(expected);
  });
});

it('an edit of the variable is denied while the first deployment is rolling out', () => {
  const context = contextOf(source('1.1.0', 2, 'dev', { behind: true }));
  const unbound = (app: string) => kustomization({ annotations: OWN, substitute: { APP: app }, spec: SOURCE });
  const outcome = decide({ object: unbound('6.6.6'), old: unbound('dev'), context, user: 'admin' });
  expect(outcome.denial).toMatch(
    /^Kustomization 'shop\/web': spec\.postBuild\.substitute\.APP cannot be set to '6\.6\.6': Rollout '/,
  );
});
