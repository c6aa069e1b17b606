import { describe, expect, it } from 'vitest';
import type { ObservedResource } from '../../../core/health/objects/resources.ts';
import {
  at,
  type Case,
  failedAt,
  failing,
  good,
  judged,
  ms,
  NEW,
  OLD,
  type Setup,
  seen,
  starting,
  unreadable,
} from './kustomizationFixture.ts';

const AGAIN: Setup = { ready: { status: 'Unknown', reason: 'Progressing' }, reconcilingSince: '11:59:59' };

const CASES: Record<string, Case[]> = {
  'all good': [
    {
      name: 'everything current',
      expected: { health: 'Healthy', message: 'Kustomization and all managed resources are healthy' },
    },
    {
      name: 'no source known',
      source: null,
      expected: { health: 'Healthy', message: 'Kustomization and all managed resources are healthy' },
    },
    {
      name: 'K7: like the Go controller, an object that is not there is no failure, and is named',
      observed: [seen()],
      likeKuberik: true,
      expected: {
        health: 'Healthy',
        message: 'Kustomization and all managed resources are healthy (not found: demo/web)',
      },
    },
  ],
  inventory: [
    {
      name: 'empty',
      kustomization: { entries: [] },
      expected: { health: 'Pending', message: 'Kustomization has no managed resources', attempting: false },
    },
    {
      name: 'a resource in progress',
      observed: [starting],
      expected: { health: 'Pending', message: 'Pending resources: demo/web (Available: 0/1)' },
    },
    {
      name: 'a resource being deleted',
      observed: [seen({ metadata: { name: 'web', deletionTimestamp: at('11:00:00') } })],
      expected: { health: 'Pending', message: 'Pending resources: demo/web (terminating)' },
    },
    {
      name: 'a failed resource, with its time',
      observed: [good, failedAt('11:58:00')],
      expected: {
        health: 'Unhealthy',
        message: 'Unhealthy resources: demo/web (Progress deadline exceeded)',
        failedAt: ms('11:58:00'),
      },
    },
    {
      name: 'a failed resource without a time',
      observed: [failedAt()],
      expected: { health: 'Unhealthy', message: 'Unhealthy resources: demo/web (Progress deadline exceeded)' },
    },
    {
      name: 'unhealthy beats pending',
      observed: [starting, failedAt('11:58:00')],
      expected: { health: 'Unhealthy', message: /^Unhealthy resources: /, failedAt: ms('11:58:00') },
    },
    {
      name: 'a pending Kustomization does not hide unhealthy resources',
      kustomization: { ready: { status: 'False', reason: 'DependencyNotReady', message: 'waits' } },
      observed: [failedAt('11:58:00')],
      expected: { health: 'Unhealthy', message: /^Unhealthy resources: /, failedAt: ms('11:58:00') },
    },
  ],
  'Q27: what could not be read is not unhealthy': [
    {
      name: 'a resource',
      observed: [unreadable],
      expected: { health: 'Unknown', message: 'Errors: Deployment demo/web: forbidden' },
    },
    {
      name: 'and says nothing against what is known',
      observed: [unreadable, starting],
      expected: {
        health: 'Pending',
        message: 'Pending resources: demo/web (Available: 0/1). Errors: Deployment demo/web: forbidden',
      },
    },
    {
      name: 'a failure is still one',
      observed: [unreadable, failedAt('11:58:00')],
      expected: {
        health: 'Unhealthy',
        message: 'Unhealthy resources: demo/web (Progress deadline exceeded). Errors: Deployment demo/web: forbidden',
        failedAt: ms('11:58:00'),
      },
    },
    {
      name: 'a broken inventory id',
      kustomization: { entries: [{ id: 'junk', v: 'v1' }] },
      observed: [],
      expected: { health: 'Unknown', message: "Errors: inventory id 'junk' is not <namespace>_<name>_<group>_<kind>" },
    },
  ],
  'Q27: what Flux could not build or apply': [
    {
      name: 'BuildFailed',
      kustomization: failing('BuildFailed'),
      expected: {
        health: 'Unhealthy',
        message: 'Kustomization unhealthy: BuildFailed: no such file',
        failedAt: ms('11:55:00'),
      },
    },
    {
      name: 'ReconciliationFailed',
      kustomization: failing('ReconciliationFailed'),
      expected: {
        health: 'Unhealthy',
        message: 'Kustomization unhealthy: ReconciliationFailed: no such file',
        failedAt: ms('11:55:00'),
      },
    },
    {
      name: 'of the generation before',
      kustomization: failing('BuildFailed', {
        ready: { status: 'False', reason: 'BuildFailed', observedGeneration: 1 },
      }),
      expected: {
        health: 'Pending',
        message: 'Kustomization pending: Kustomization generation is 2, but latest observed generation is 1',
        attempting: false,
      },
    },
    {
      name: 'of the artifact before',
      kustomization: failing('BuildFailed', { attempted: OLD }),
      expected: {
        health: 'Pending',
        message: `Kustomization pending: revision ${NEW} is fetched, ${OLD} is applied`,
        attempting: false,
      },
    },
    {
      name: 'of the artifact between, after a rollback to the one that was applied last',
      kustomization: failing('ReconciliationFailed', { applied: NEW, attempted: '1.2.0@sha256:ccc' }),
      expected: {
        health: 'Pending',
        message: `Kustomization pending: revision ${NEW} is fetched, 1.2.0@sha256:ccc was tried since it was applied`,
        attempting: false,
      },
    },
    ...['DependencyNotReady', 'ArtifactFailed', 'PruneFailed'].map((reason) => ({
      name: `${reason} is tried again`,
      kustomization: failing(reason),
      expected: { health: 'Pending', message: /^Kustomization pending: /, attempting: false },
    })),
    {
      name: 'Stalled',
      kustomization: { stalled: 'access denied', ready: { status: 'False', reason: 'AccessDenied', message: 'no' } },
      expected: {
        health: 'Unhealthy',
        message: 'Kustomization unhealthy: access denied: no',
        failedAt: ms('11:55:00'),
      },
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
      expected: { health: 'Pending', message: 'Kustomization pending: at it', attempting: true, again: true },
    },
    {
      name: 'in the cluster of its kubeConfig',
      kustomization: { ...AGAIN, spec: { kubeConfig: {} } },
      expected: { health: 'Pending', message: 'Kustomization pending: at it', attempting: true, again: true },
    },
    {
      name: 'what its objects say still counts',
      kustomization: AGAIN,
      observed: [starting],
      expected: { health: 'Pending', message: 'Pending resources: demo/web (Available: 0/1)' },
    },
    {
      name: 'and what could not be read is still not known',
      kustomization: AGAIN,
      observed: [unreadable],
      expected: { health: 'Unknown', message: 'Errors: Deployment demo/web: forbidden' },
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
  it.each(cases)('$name', (row) => {
    const { message, ...rest } = row.expected;
    const { verdict } = judged(row);
    expect(verdict).toEqual({ ...rest, message: expect.any(String) });
    if (typeof message === 'string') expect(verdict.message).toBe(message);
    else expect(verdict.message).toMatch(message);
  });
});

describe('spec.kubeConfig: another cluster', () => {
  const elsewhere = (setup: Setup, observed: ObservedResource[] = []) =>
    judged({
      name: '',
      kustomization: { ...setup, spec: { kubeConfig: { secretRef: { name: 'prod' } } } },
      observed,
      expected: { health: '', message: '' },
    });

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
  const { verdict } = judged({
    name: '',
    kustomization: failing('HealthCheckFailed'),
    observed: [],
    expected: { health: '', message: '' },
  });
  expect(verdict).toMatchObject({ health: 'Unhealthy', message: /HealthCheckFailed/, failedAt: ms('11:55:00') });
});

describe('a kind with healthCheckExprs is judged by Flux', () => {
  const exprs = [{ apiVersion: 'apps/v1', kind: 'Deployment', current: 'true' }];
  it.each([
    ['where Flux waits for all', { healthCheckExprs: exprs, wait: true }, 'Healthy'],
    ['where Flux waits for that kind', { healthCheckExprs: exprs, healthChecks: exprs }, 'Healthy'],
    ['and here where Flux waits for none', { healthCheckExprs: exprs }, 'Unhealthy'],
    [
      'and here where they are for another',
      { healthCheckExprs: [{ ...exprs[0], kind: 'Cluster' }], wait: true },
      'Unhealthy',
    ],
  ])('%s', (_, spec, health) => {
    const { own } = judged({ name: '', kustomization: { spec }, observed: [], expected: { health: '', message: '' } });
    const read = own.inventory.resources.length > 0 ? [failedAt('11:58:00')] : [];
    const { verdict } = judged({
      name: '',
      kustomization: { spec },
      observed: read,
      expected: { health: '', message: '' },
    });
    expect(verdict.health).toBe(health);
  });
});

it('lists twenty of many unhealthy resources', () => {
  const { verdict } = judged({
    name: '',
    observed: Array.from({ length: 2000 }, () => failedAt('11:58:00')),
    expected: { health: '', message: '' },
  });
  expect(verdict.message).toMatch(/; and 1980 more$/);
  expect(verdict.message.length).toBeLessThan(2000);
});
