import { describe, expect, it } from 'vitest';
import type { ObservedResource } from '../../../core/health/objects/resources.ts';
import {
  at,
  type Case,
  evaluated,
  expectVerdict,
  failedAt,
  failing,
  good,
  HEALTHY,
  ms,
  NEW,
  notBegun,
  OLD,
  on,
  type Setup,
  seen,
  starting,
  unhealthy,
  unreadable,
  waits,
} from './kustomizationFixture.ts';

const AGAIN: Setup = { ready: { status: 'Unknown', reason: 'Progressing' }, reconcilingSince: '11:59:59' };

/** As kustomize-controller 1.9 leaves it: `finalizeStatus` moves observedGeneration, Ready keeps that of before. */
const HELD: Setup = {
  annotations: { 'gate.fluxcd.io/suspended': 'unset', 'gate.fluxcd.io/state': 'closed: team-a/freeze' },
  spec: { suspend: true },
  ready: { status: 'True', observedGeneration: 1 },
};

const PROGRESSING = 'Kustomization pending: at it';
const DEADLINE = 'Unhealthy resources: demo/web (Progress deadline exceeded)';
const WEB_STARTS = 'Pending resources: demo/web (Available: 0/1)';
const FORBIDDEN = 'Errors: Deployment demo/web: forbidden';
const ANY_UNHEALTHY = /^Unhealthy resources: /;
const fluxFailed = (message: string) => unhealthy(`Kustomization unhealthy: ${message}`, '11:55:00');

const CASES: Record<string, Case[]> = {
  'all good': [
    on('everything current', HEALTHY),
    on('no source known', HEALTHY, { source: null }),
    on('held by a Gate since: a freeze keeps no bake from starting or ending', HEALTHY, { kustomization: HELD }),
  ],
  inventory: [
    on('empty', waits('Kustomization has no managed resources', { awaits: 'event' }), {
      kustomization: { entries: [] },
    }),
    on('empty while Flux works', waits(PROGRESSING, { awaits: 'repeat' }), {
      kustomization: { ...AGAIN, entries: [] },
    }),
    on('a resource in progress', waits(WEB_STARTS), { observed: [starting] }),
    on('a resource being deleted', waits('Pending resources: demo/web (terminating)'), {
      observed: [seen({ metadata: { name: 'web', deletionTimestamp: at('11:00:00') } })],
    }),
    on('a failed resource', unhealthy(DEADLINE, '11:58:00'), { observed: [good, failedAt('11:58:00')] }),
    on('a failed resource without a time', unhealthy(DEADLINE), { observed: [failedAt()] }),
    on('unhealthy beats pending', unhealthy(ANY_UNHEALTHY, '11:58:00'), { observed: [starting, failedAt('11:58:00')] }),
    on('a pending Kustomization does not hide unhealthy resources', unhealthy(ANY_UNHEALTHY, '11:58:00'), {
      kustomization: { ready: { status: 'False', reason: 'DependencyNotReady', message: 'waits' } },
      observed: [failedAt('11:58:00')],
    }),
  ],
  'Q27: what could not be read is not unhealthy': [
    on('a resource', { health: 'Unknown', message: FORBIDDEN }, { observed: [unreadable] }),
    on(
      'and says nothing against what is known',
      { health: 'Pending', message: `${WEB_STARTS}. ${FORBIDDEN}` },
      { observed: [unreadable, starting] },
    ),
    on('a failure is still one', unhealthy(`${DEADLINE}. ${FORBIDDEN}`, '11:58:00'), {
      observed: [unreadable, failedAt('11:58:00')],
    }),
    on(
      'a broken inventory id',
      { health: 'Unknown', message: "Errors: inventory id 'junk' is not <namespace>_<name>_<group>_<kind>" },
      { kustomization: { entries: [{ id: 'junk', v: 'v1' }] }, observed: [] },
    ),
  ],
  'Q27: what Flux could not build or apply': [
    on('BuildFailed', fluxFailed('BuildFailed: no such file'), { kustomization: failing('BuildFailed') }),
    on('ReconciliationFailed again', fluxFailed('ReconciliationFailed: no such file'), {
      kustomization: failing('ReconciliationFailed'),
      firstFailures: new Map([['Kustomization demo/web', ms('11:53:00')]]),
    }),
    on('of the generation before', notBegun('Kustomization generation is 2, but latest observed generation is 1'), {
      kustomization: failing('BuildFailed', {
        ready: { status: 'False', reason: 'BuildFailed', observedGeneration: 1 },
      }),
    }),
    on('of the artifact before', notBegun(`revision ${NEW} is fetched, ${OLD} is applied`), {
      kustomization: failing('BuildFailed', { attempted: OLD }),
    }),
    on(
      'of the artifact between, after a rollback to the one that was applied last',
      notBegun(
        `revision ${NEW} was applied, then 1.2.0@sha256:ccc was attempted: waiting for Flux to apply ${NEW} again`,
      ),
      { kustomization: failing('ReconciliationFailed', { applied: NEW, attempted: '1.2.0@sha256:ccc' }) },
    ),
    ...['DependencyNotReady', 'ArtifactFailed', 'PruneFailed'].map((reason) => ({
      name: `${reason} is tried again`,
      kustomization: failing(reason),
      expected: waits(/^Kustomization pending: /),
    })),
    on('Stalled', fluxFailed('access denied: no'), {
      kustomization: { stalled: 'access denied', ready: { status: 'False', reason: 'AccessDenied', message: 'no' } },
    }),
    on('a further attempt', waits(/is being applied/, { awaits: 'attempt' }), {
      kustomization: failing('', { ready: { status: 'Unknown', reason: 'Progressing' } }),
    }),
  ],
  'Flux reconciles what it has applied, and nothing has changed': [
    on('it reports nothing new', waits(PROGRESSING, { awaits: 'repeat' }), { kustomization: AGAIN }),
    on('in the cluster of its kubeConfig', waits(PROGRESSING, { awaits: 'repeat' }), {
      kustomization: { ...AGAIN, spec: { kubeConfig: {} } },
    }),
    on('what its objects say still counts', waits(WEB_STARTS, { isSteady: false }), {
      kustomization: AGAIN,
      observed: [starting],
    }),
    on(
      'and what could not be read is still not known',
      { health: 'Unknown', message: FORBIDDEN },
      { kustomization: AGAIN, observed: [unreadable] },
    ),
    on('another revision is something new', waits(/is being applied/, { awaits: 'attempt', isSteady: true }), {
      kustomization: { ...AGAIN, applied: OLD, attempted: NEW },
    }),
    on('and so is another generation', waits(/latest observed generation is 1$/, { awaits: 'attempt' }), {
      kustomization: { ...AGAIN, observed: 1 },
    }),
  ],
};

describe.each(Object.entries(CASES))('%s', (_, cases) => {
  it.each(cases)('$name', expectVerdict);
});

describe('spec.kubeConfig: another cluster', () => {
  const elsewhere = (setup: Setup, observed: ObservedResource[] = []) =>
    evaluated({ kustomization: { ...setup, spec: { kubeConfig: { secretRef: { name: 'prod' } } } }, observed });

  it('is decided by Ready alone: local objects of the same names are others', () => {
    const { own, result } = elsewhere({}, [failedAt('11:58:00')]);
    expect(own?.inventory.resources).toEqual([]);
    expect(result).toMatchObject({
      health: 'Healthy',
      message: 'Kustomization is ready in the cluster of its kubeConfig',
    });
  });

  it.each(['HealthCheckFailed', 'BuildFailed'])('is Unhealthy with %s', (reason) => {
    expect(elsewhere(failing(reason)).result).toMatchObject({ health: 'Unhealthy', failedAt: ms('11:55:00') });
  });

  it('is steady while Flux applies another commit', () => {
    const result = elsewhere({ applied: OLD, attempted: NEW, ready: { status: 'Unknown' } }).result;
    expect(result).toMatchObject({ health: 'Pending', isSteady: true });
  });

  it('is Pending while Flux is at it, and while it is behind its source', () => {
    expect(elsewhere(failing('', { ready: { status: 'Unknown' } })).result.health).toBe('Pending');
    expect(elsewhere({ applied: OLD }).result.health).toBe('Pending');
    expect(elsewhere({ ready: { status: 'False', reason: 'DependencyNotReady' } }).result.health).toBe('Pending');
    expect(elsewhere({ ready: { status: '' } }).result.health).toBe('Pending');
  });
});

it('HealthCheckFailed is Flux’s own result, whatever the state of its objects', () => {
  const { result } = evaluated({ kustomization: failing('HealthCheckFailed'), observed: [] });
  const message = expect.stringMatching(/HealthCheckFailed/);
  expect(result).toMatchObject({ health: 'Unhealthy', message, failedAt: ms('11:55:00') });
});

describe('an object of a kind with healthCheckExprs is decided by Flux', () => {
  it('and is steady while Flux applies another commit', () => {
    const spec = { healthCheckExprs: exprs, wait: true };
    const kustomization: Setup = { spec, applied: OLD, attempted: NEW, ready: { status: 'Unknown' } };
    expect(evaluated({ kustomization }).result).toMatchObject({ health: 'Pending', isSteady: true });
    const none = evaluated({ kustomization: { ...kustomization, entries: [] } }).result;
    expect(none).toMatchObject({ isSteady: false });
  });

  const exprs = [{ apiVersion: 'apps/v1', kind: 'Deployment', current: 'true' }];
  const waitedFor = [{ apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'demo', name: 'web' }];
  const others = [{ ...exprs[0], kind: 'Cluster' }];
  const older = [{ ...exprs[0], apiVersion: 'apps/v1beta1' }];
  it.each([
    ['where Flux waits for all', { healthCheckExprs: exprs, wait: true }, 'Healthy'],
    ['whatever their version', { healthCheckExprs: older, healthChecks: waitedFor }, 'Healthy'],
    ['where Flux waits for it', { healthCheckExprs: exprs, healthChecks: waitedFor }, 'Healthy'],
    [
      'and here where Flux waits for another one of its kind',
      { healthCheckExprs: exprs, healthChecks: [{ ...waitedFor[0], name: 'api' }] },
      'Unhealthy',
    ],
    ['and here where Flux waits for none', { healthCheckExprs: exprs }, 'Unhealthy'],
    ['and here where they are for another', { healthCheckExprs: others, wait: true }, 'Unhealthy'],
  ])('%s', (_, spec, health) => {
    expect(evaluated({ kustomization: { spec }, observed: [failedAt('11:58:00')] }).result.health).toBe(health);
  });
});

it('lists twenty of many unhealthy resources', () => {
  const { result } = evaluated({ observed: Array.from({ length: 2000 }, () => failedAt('11:58:00')) });
  expect(result.message).toMatch(/; and 1980 more$/);
  expect(result.message.length).toBeLessThan(2000);
});

const JOB: ObservedResource = { apiVersion: 'batch/v1', kind: 'Job', namespace: 'demo', name: 'migrate' };
const DELETED = 'Unhealthy resources: demo/web (Flux has applied it, but it does not exist)';
const MISSING = 'Pending resources: demo/web (not found)';
const NOT_FOUND = waits(MISSING);

/** Flux has applied the object, which no longer exists: deployed at 11:50 and applied at 11:55; now is 12:00. */
const MISSING_CASES: Case[] = [
  on('was there when Flux applied it', unhealthy(DELETED, '11:55:00')),
  on('was seen healthy until five minutes ago', unhealthy(DELETED, '11:56:00'), { healthyUntil: ms('11:56:00') }),
  on('was seen healthy until a moment ago', NOT_FOUND, { healthyUntil: ms('11:59:01') }),
  on('at the end of the grace period', unhealthy(DELETED, '11:59:00'), { healthyUntil: ms('11:59:00') }),
  on('of a version that arrived a moment ago', NOT_FOUND, { cutoff: ms('11:59:30') }),
  on('while Flux applies a new revision, which may prune it', waits(/^Kustomization pending: /), {
    kustomization: {
      ready: { status: 'Unknown', message: 'at it' },
      reconcilingSince: '11:50:30',
      applied: OLD,
      attempted: NEW,
    },
  }),
  on(
    'while Flux applies the same once more, which restores it',
    waits('Kustomization pending: at it', { awaits: 'repeat' }),
    { kustomization: { ready: { status: 'Unknown', message: 'at it' }, reconcilingSince: '11:59:59' } },
  ),
  on('while Flux waits for another Kustomization', waits(/^Kustomization pending: /), {
    kustomization: failing('DependencyNotReady'),
  }),
  on('beside one that is starting', unhealthy(DELETED.replace('web', 'other'), '11:55:00'), {
    observed: [starting, { ...seen(), name: 'other' }],
  }),
  on(
    'a Job, which Kubernetes deletes when it has ended',
    { ...HEALTHY, message: `${HEALTHY.message} (not found: demo/migrate)` },
    { observed: [good, JOB] },
  ),
  on(
    'a Workflow of Argo, which its controller deletes when it has ended',
    { ...HEALTHY, message: `${HEALTHY.message} (not found: demo/test)` },
    { observed: [good, { apiVersion: 'argoproj.io/v1alpha1', kind: 'Workflow', namespace: 'demo', name: 'test' }] },
  ),
];

describe('an object that does not exist', () => {
  it.each(MISSING_CASES)('$name', (row) => {
    const { result } = evaluated({ observed: [seen()], ...row });
    expect(result).toMatchObject({
      ...row.expected,
      message:
        typeof row.expected.message === 'string' ? row.expected.message : expect.stringMatching(row.expected.message),
    });
    if (row.expected.failedAt === undefined) expect(result).not.toHaveProperty('failedAt');
  });

  it('is Pending if Flux doesn’t report when it applied the object', () => {
    const observed = [seen()];
    const { result } = evaluated({
      observed,
      kustomization: { ready: { status: 'True', lastTransitionTime: 'yesterday' } as never },
    });
    expect(result).toMatchObject(waits(MISSING));
  });
});
