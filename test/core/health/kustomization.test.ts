import { describe, expect, it } from 'vitest';
import type { ObservedResource } from '../../../core/health/objects/resources.ts';
import {
  at,
  type Case,
  expectVerdict,
  failedAt,
  failing,
  good,
  HEALTHY,
  judged,
  ms,
  NEW,
  notBegun,
  OLD,
  type Setup,
  seen,
  starting,
  unhealthy,
  unreadable,
} from './kustomizationFixture.ts';

const AGAIN: Setup = { ready: { status: 'Unknown', reason: 'Progressing' }, reconcilingSince: '11:59:59' };

const PROGRESSING = 'Kustomization pending: at it';
const DEADLINE = 'Unhealthy resources: demo/web (Progress deadline exceeded)';
const WEB_STARTS = 'Pending resources: demo/web (Available: 0/1)';
const FORBIDDEN = 'Errors: Deployment demo/web: forbidden';
const ANY_UNHEALTHY = /^Unhealthy resources: /;
const fluxFailed = (message: string) => unhealthy(`Kustomization unhealthy: ${message}`, '11:55:00');

const CASES: Record<string, Case[]> = {
  'all good': [
    { name: 'everything current', expected: HEALTHY },
    { name: 'no source known', source: null, expected: HEALTHY },
    {
      name: 'K7: like the Go controller, an object that is not there is no failure, and is named',
      observed: [seen()],
      likeKuberik: true,
      expected: { ...HEALTHY, message: `${HEALTHY.message} (not found: demo/web)` },
    },
  ],
  inventory: [
    {
      name: 'empty',
      kustomization: { entries: [] },
      expected: {
        health: 'Pending',
        message: 'Kustomization has no managed resources',
        attempting: false,
        waitsForEvent: true,
      },
    },
    { name: 'a resource in progress', observed: [starting], expected: { health: 'Pending', message: WEB_STARTS } },
    {
      name: 'a resource being deleted',
      observed: [seen({ metadata: { name: 'web', deletionTimestamp: at('11:00:00') } })],
      expected: { health: 'Pending', message: 'Pending resources: demo/web (terminating)' },
    },
    { name: 'a failed resource', observed: [good, failedAt('11:58:00')], expected: unhealthy(DEADLINE, '11:58:00') },
    { name: 'a failed resource without a time', observed: [failedAt()], expected: unhealthy(DEADLINE) },
    {
      name: 'unhealthy beats pending',
      observed: [starting, failedAt('11:58:00')],
      expected: unhealthy(ANY_UNHEALTHY, '11:58:00'),
    },
    {
      name: 'a pending Kustomization does not hide unhealthy resources',
      kustomization: { ready: { status: 'False', reason: 'DependencyNotReady', message: 'waits' } },
      observed: [failedAt('11:58:00')],
      expected: unhealthy(ANY_UNHEALTHY, '11:58:00'),
    },
  ],
  'Q27: what could not be read is not unhealthy': [
    { name: 'a resource', observed: [unreadable], expected: { health: 'Unknown', message: FORBIDDEN } },
    {
      name: 'and says nothing against what is known',
      observed: [unreadable, starting],
      expected: { health: 'Pending', message: `${WEB_STARTS}. ${FORBIDDEN}` },
    },
    {
      name: 'a failure is still one',
      observed: [unreadable, failedAt('11:58:00')],
      expected: unhealthy(`${DEADLINE}. ${FORBIDDEN}`, '11:58:00'),
    },
    {
      name: 'a broken inventory id',
      kustomization: { entries: [{ id: 'junk', v: 'v1' }] },
      observed: [],
      expected: { health: 'Unknown', message: "Errors: inventory id 'junk' is not <namespace>_<name>_<group>_<kind>" },
    },
  ],
  'Q27: what Flux could not build or apply': [
    ...['BuildFailed', 'ReconciliationFailed'].map((reason) => ({
      name: reason,
      kustomization: failing(reason),
      expected: fluxFailed(`${reason}: no such file`),
    })),
    {
      name: 'of the generation before',
      kustomization: failing('BuildFailed', {
        ready: { status: 'False', reason: 'BuildFailed', observedGeneration: 1 },
      }),
      expected: notBegun('Kustomization generation is 2, but latest observed generation is 1'),
    },
    {
      name: 'of the artifact before',
      kustomization: failing('BuildFailed', { attempted: OLD }),
      expected: notBegun(`revision ${NEW} is fetched, ${OLD} is applied`),
    },
    {
      name: 'of the artifact between, after a rollback to the one that was applied last',
      kustomization: failing('ReconciliationFailed', { applied: NEW, attempted: '1.2.0@sha256:ccc' }),
      expected: notBegun(`revision ${NEW} is fetched, 1.2.0@sha256:ccc was tried since it was applied`),
    },
    ...['DependencyNotReady', 'ArtifactFailed', 'PruneFailed'].map((reason) => ({
      name: `${reason} is tried again`,
      kustomization: failing(reason),
      expected: { health: 'Pending', message: /^Kustomization pending: /, attempting: false },
    })),
    {
      name: 'Stalled',
      kustomization: { stalled: 'access denied', ready: { status: 'False', reason: 'AccessDenied', message: 'no' } },
      expected: fluxFailed('access denied: no'),
    },
    {
      name: 'a further attempt',
      kustomization: failing('', { ready: { status: 'Unknown', reason: 'Progressing' } }),
      expected: { health: 'Pending', message: /is being applied/, attempting: true },
    },
  ],
  'Flux reconciles what it has applied, and nothing has changed': [
    {
      name: 'it says nothing new',
      kustomization: AGAIN,
      expected: { health: 'Pending', message: PROGRESSING, attempting: true, again: true },
    },
    {
      name: 'in the cluster of its kubeConfig',
      kustomization: { ...AGAIN, spec: { kubeConfig: {} } },
      expected: { health: 'Pending', message: PROGRESSING, attempting: true, again: true },
    },
    {
      name: 'what its objects say still counts',
      kustomization: AGAIN,
      observed: [starting],
      expected: { health: 'Pending', message: WEB_STARTS },
    },
    {
      name: 'and what could not be read is still not known',
      kustomization: AGAIN,
      observed: [unreadable],
      expected: { health: 'Unknown', message: FORBIDDEN },
    },
    {
      name: 'another revision is something new',
      kustomization: { ...AGAIN, applied: OLD, attempted: NEW },
      expected: { health: 'Pending', message: /is being applied/, attempting: true },
    },
    {
      name: 'and so is another generation',
      kustomization: { ...AGAIN, observed: 1 },
      expected: { health: 'Pending', message: /latest observed generation is 1$/, attempting: true },
    },
  ],
};

describe.each(Object.entries(CASES))('%s', (_, cases) => {
  it.each(cases)('$name', expectVerdict);
});

describe('spec.kubeConfig: another cluster', () => {
  const elsewhere = (setup: Setup, observed: ObservedResource[] = []) =>
    judged({ kustomization: { ...setup, spec: { kubeConfig: { secretRef: { name: 'prod' } } } }, observed });

  it('is judged by Ready alone: local objects of the same names are others', () => {
    const { own, verdict } = elsewhere({}, [failedAt('11:58:00')]);
    expect(own.settled).toBeDefined();
    expect(verdict).toEqual({ health: 'Healthy', message: 'Kustomization is ready in the cluster of its kubeConfig' });
  });

  it.each(['HealthCheckFailed', 'BuildFailed', 'ReconciliationFailed'])('is Unhealthy with %s', (reason) => {
    expect(elsewhere(failing(reason)).verdict).toMatchObject({ health: 'Unhealthy', failedAt: ms('11:55:00') });
  });

  it('is Pending while Flux is at it, and while it is behind its source', () => {
    expect(elsewhere(failing('', { ready: { status: 'Unknown' } })).verdict.health).toBe('Pending');
    expect(elsewhere({ applied: OLD }).verdict.health).toBe('Pending');
    expect(elsewhere({ ready: { status: 'False', reason: 'DependencyNotReady' } }).verdict.health).toBe('Pending');
  });
});

it('HealthCheckFailed is Flux’s own verdict, whatever its objects say', () => {
  const { verdict } = judged({ kustomization: failing('HealthCheckFailed'), observed: [] });
  expect(verdict).toMatchObject({ health: 'Unhealthy', message: /HealthCheckFailed/, failedAt: ms('11:55:00') });
});

describe('a kind with healthCheckExprs is judged by Flux', () => {
  const exprs = [{ apiVersion: 'apps/v1', kind: 'Deployment', current: 'true' }];
  const others = [{ ...exprs[0], kind: 'Cluster' }];
  it.each([
    ['where Flux waits for all', { healthCheckExprs: exprs, wait: true }, 'Healthy'],
    ['where Flux waits for that kind', { healthCheckExprs: exprs, healthChecks: exprs }, 'Healthy'],
    ['and here where Flux waits for none', { healthCheckExprs: exprs }, 'Unhealthy'],
    ['and here where they are for another', { healthCheckExprs: others, wait: true }, 'Unhealthy'],
  ])('%s', (_, spec, health) => {
    const { own } = judged({ kustomization: { spec }, observed: [] });
    const read = own.inventory.resources.length > 0 ? [failedAt('11:58:00')] : [];
    expect(judged({ kustomization: { spec }, observed: read }).verdict.health).toBe(health);
  });
});

it('lists twenty of many unhealthy resources', () => {
  const { verdict } = judged({ observed: Array.from({ length: 2000 }, () => failedAt('11:58:00')) });
  expect(verdict.message).toMatch(/; and 1980 more$/);
  expect(verdict.message.length).toBeLessThan(2000);
});
