/** Single steps of a bake; test/scenario/rollout has whole bakes. */
import { describe, expect, it } from 'vitest';
import type { HealthCheck, HistoryEntry } from '../../../../api/types.ts';
import { bindingWithoutProof } from '../../../../core/binding/boundObjects.ts';
import { formatTime } from '../../../../core/kube/time.ts';
import { LIMITS } from '../../../../core/limits.ts';
import { bakeStep } from '../../../../core/rollout/deployment/bake.ts';
import { healthSettlesAt } from '../../../../core/rollout/deployment/healthChecks.ts';
import { withProgress } from '../../../../core/rollout/deployment/progress.ts';
import { objectOf } from '../../../support/objects.ts';
import { NOW, observed } from '../observedFixture.ts';

const { rollout } = observed({ healthCheckSelector: {} });
const at = (seconds: number) => formatTime(NOW + seconds * 1000);

function check(status: HealthCheck['status'], cls?: string): HealthCheck {
  return objectOf('HealthCheck', 'team-a/app', { spec: cls ? { class: cls } : {}, ...(status && { status }) });
}

/** The start of a bake is rounded up to a second. */
describe('a bake that ends within the second of its start', () => {
  const head: HistoryEntry = { id: 2, version: { tag: '1.1.0' }, timestamp: at(-60), bakeStatus: 'Deploying' };
  const healthy = check({ status: 'Healthy', lastChangeTime: at(-10) });
  const failed = check({ status: 'Unhealthy', lastChangeTime: at(0), lastErrorTime: at(0) });
  const step = (entry: HistoryEntry, checks: HealthCheck[], bakeTime: number | undefined) => {
    const config = bakeTime === undefined ? {} : { bakeTime };
    return bakeStep(entry, { rollout, config, healthChecks: checks, bound: [], recovery: false, now: NOW + 300 }).head;
  };

  it('does not end before it', () => {
    const times = { bakeStartTime: at(1), bakeEndTime: at(1) };
    expect(step(head, [healthy], undefined)).toMatchObject({ bakeStatus: 'Succeeded', ...times });
    const baking = step(head, [healthy], 60_000);
    expect(step(baking, [failed], 60_000)).toMatchObject({ bakeStatus: 'Failed', ...times });
  });
});

describe('an error before a bound object has applied the version', () => {
  const head: HistoryEntry = { id: 2, version: { tag: '1.1.0' }, timestamp: at(-60), bakeStatus: 'Deploying' };
  const bound = [bindingWithoutProof(rollout, 'Kustomization', 'app')];
  const statusWith = (cls?: string) => {
    const error = { status: 'Unhealthy', lastChangeTime: at(-10), lastErrorTime: at(-10) };
    const context = {
      rollout,
      config: {},
      healthChecks: [check(error, cls)],
      bound,
      recovery: false,
      now: NOW,
    };
    return bakeStep(head, context).head.bakeStatus;
  };

  it('is of the old version if the check can’t distinguish versions', () => {
    expect(statusWith()).toBe('Deploying');
    expect(statusWith('datadog')).toBe('Deploying');
  });

  it('fails it if the check is about Flux applying the new one (Q27)', () => {
    expect(statusWith('kustomization')).toBe('Failed');
  });

  it('is distinguished in the same way in the sync that sees the apply', () => {
    const { name = '', uid = '' } = rollout.metadata;
    const applies = [{ rollout: name, uid, id: 2, version: '1.1.0' }];
    const arrived = bound.map((binding) => ({ ...binding, status: { applied: applies } }));
    const seen = (cls?: string) => {
      const healthChecks = [check({ status: 'Unhealthy', lastChangeTime: at(-10), lastErrorTime: at(-10) }, cls)];
      const known = { ...head, knownHealth: [{ namespace: 'team-a', name: 'app', status: 'Pending' }] };
      const context = { rollout, config: {}, healthChecks, bound: arrived, recovery: false, now: NOW };
      const applied = withProgress(known, context, false);
      expect(applied.appliedTime).toBe(at(0));
      return bakeStep(applied, context).head.bakeStatus;
    };
    expect([seen(), seen('kustomization')]).toEqual(['Deploying', 'Failed']);
  });
});

describe('a failure that a check reports after the deployment', () => {
  /** The check was Healthy at the deployment, whose version is not applied everywhere or was applied a second ago. */
  const statusAfter = (failedAt: number, appliedTime?: string) => {
    const known = { namespace: 'team-a', name: 'app', status: 'Healthy', lastChangeTime: at(-600) };
    const head: HistoryEntry = {
      id: 2,
      version: { tag: '1.0.0' },
      timestamp: at(-60),
      bakeStatus: 'Deploying',
      rolledBackFrom: '1.1.0',
      knownHealth: [known],
      ...(appliedTime && { appliedTime }),
    };
    const late = { status: 'Unhealthy', lastChangeTime: at(0), lastErrorTime: at(failedAt) };
    const healthChecks = [check(late, 'kustomization')];
    const bound = [bindingWithoutProof(rollout, 'Kustomization', 'app')];
    const context = { rollout, config: {}, healthChecks, bound, recovery: false, now: NOW };
    return bakeStep(head, context).head.bakeStatus;
  };

  it.each([
    ['is that of the version before, if it is older than the deployment', -65, undefined, 'Deploying'],
    ['is so in the second of the deployment: Flux needs longer to fail', -60, undefined, 'Deploying'],
    ['is so after the apply too', -65, at(-1), 'Deploying'],
    ['fails the deployment, if it is newer', -55, undefined, 'Failed'],
  ])('%s', (_, failedAt, appliedTime, bakeStatus) => {
    expect(statusAfter(failedAt, appliedTime)).toBe(bakeStatus);
  });
});

describe('the second in which a check got well (Q17)', () => {
  it.each([
    { what: 'is waited out', status: 'Healthy', changed: 0, now: NOW + 400, until: NOW + 1000 },
    { what: 'is waited out by its whole seconds', status: 'Healthy', changed: 0, now: NOW, until: NOW + 1000 },
    { what: 'is over', status: 'Healthy', changed: -1, now: NOW, until: undefined },
    { what: 'lies ahead', status: 'Healthy', changed: 1, now: NOW, until: undefined },
    { what: 'is none for a check that is not Healthy', status: 'Pending', changed: 0, now: NOW, until: undefined },
  ])('$what', ({ status, changed, now, until }) => {
    expect(healthSettlesAt([check({ status, lastChangeTime: at(changed) })], now)).toBe(until);
  });
});

describe('the second in which a check reported an error (Q17)', () => {
  it.each([
    { what: 'is waited out for a check that is well again', status: 'Healthy', error: 0, now: NOW, until: NOW + 1000 },
    { what: 'is over', status: 'Pending', error: -1, now: NOW + 400, until: undefined },
    { what: 'lies ahead', status: 'Pending', error: 1, now: NOW, until: undefined },
  ])('$what', ({ status, error, now, until }) => {
    const healthCheck = check({ status, lastChangeTime: at(-60), lastErrorTime: at(error) });
    expect(healthSettlesAt([healthCheck], now)).toBe(until);
  });
});

describe('a bake whose time is over, with a check that is Healthy again', () => {
  const statusWith = (
    changed: number,
    cls = 'kustomization',
    annotations?: Record<string, string>,
    steadySince?: string,
  ) => {
    const started = { bakeStatus: 'InProgress', bakeStartTime: at(-600), appliedTime: at(-600) };
    const head: HistoryEntry = { id: 2, version: { tag: '1.1.0' }, timestamp: at(-700), ...started };
    const since = steadySince === undefined ? {} : { steadySince };
    const healthy = check({ status: 'Healthy', lastChangeTime: at(changed), ...since }, cls);
    const healthChecks = [{ ...healthy, metadata: { ...healthy.metadata, ...(annotations && { annotations }) } }];
    const times = { bakeTime: 300_000 };
    const context = { rollout, config: times, healthChecks, bound: [], recovery: false, now: NOW };
    const { head: after, requeueAt } = bakeStep(head, context);
    return [after.bakeStatus, requeueAt && formatTime(requeueAt)];
  };

  it('goes on until the check has been so for its grace period: Pods in a crash loop are ready for moments', () => {
    expect(statusWith(-50)).toEqual(['InProgress', at(10)]);
    expect(statusWith(-60)).toEqual(['Succeeded', undefined]);
    expect(statusWith(-60, undefined, { 'healthcheck.kuberik.com/grace-period': '5m' })).toEqual([
      'InProgress',
      at(240),
    ]);
  });

  it('goes on for the grace period since its objects were last unhealthy, not since Flux last did something', () => {
    expect(statusWith(-10, undefined, undefined, at(-600))).toEqual(['Succeeded', undefined]);
    expect(statusWith(-10, undefined, undefined, at(-50))).toEqual(['InProgress', at(10)]);
    expect(statusWith(-70, undefined, undefined, at(3600)), 'the clock was set back').toEqual(['Succeeded', undefined]);
  });

  it('succeeds at once if the check was Healthy for the whole bake, or has another class', () => {
    expect(statusWith(-600)).toEqual(['Succeeded', undefined]);
    expect(statusWith(-50, 'prometheus')).toEqual(['Succeeded', undefined]);
  });
});

describe('a check that is selected during a bake', () => {
  const bakeStatus = (created: number, changed: number, lastErrorTime?: string) => {
    const head: HistoryEntry = {
      id: 2,
      version: { tag: '1.1.0' },
      timestamp: at(-700),
      bakeStatus: 'InProgress',
      bakeStartTime: at(-600),
      knownHealth: [],
    };
    const { metadata, ...late } = check({ status: 'Unhealthy', lastChangeTime: at(changed), lastErrorTime });
    const healthChecks = [{ ...late, metadata: { ...metadata, creationTimestamp: at(created) } }];
    const times = { bakeTime: 3_600_000 };
    const context = { rollout, config: times, healthChecks, bound: [], recovery: false, now: NOW };
    return bakeStep(head, context).head.bakeStatus;
  };

  it.each<[string, Parameters<typeof bakeStatus>, string]>([
    ['was Unhealthy before', [-9000, -8000, at(-8000)], 'InProgress'],
    ['is created before its Kustomization, which is no error', [-10, -5], 'InProgress'],
    ['is created, and reports an error', [-10, -5, at(-5)], 'Failed'],
    ['has become Unhealthy during the bake, perhaps before it was selected', [-9000, -5], 'InProgress'],
  ])('and that %s', (_, given, expected) => {
    expect(bakeStatus(...given)).toBe(expected);
  });

  it('doesn’t fail it either if the Rollout had no healthCheckSelector before', () => {
    const head: HistoryEntry = { id: 2, version: { tag: '1.1.0' }, timestamp: at(-700), bakeStatus: 'Deploying' };
    const context = { rollout, config: { bakeTime: 3_600_000 }, bound: [], recovery: false, now: NOW };
    const begun = bakeStep(head, { ...context, healthChecks: [], now: NOW - 600_000 }).head;
    expect(begun.bakeStatus).toBe('InProgress');
    const late = (lastErrorTime: string) => [check({ status: 'Unhealthy', lastChangeTime: at(-8000), lastErrorTime })];
    const statusWith = (errorAt: string) =>
      bakeStep(begun, { ...context, healthChecks: late(errorAt) }).head.bakeStatus;
    expect(statusWith(at(-8000))).toBe('InProgress');
    expect(statusWith(at(-5))).toBe('Failed');
  });
});

describe('a check that was watched when the bake began, and becomes Unhealthy without an error', () => {
  const created = at(-9000);
  const of = (name: string, status: HealthCheck['status']) =>
    objectOf('HealthCheck', `team-a/${name}`, { metadata: { creationTimestamp: created }, status: status! });
  const head = (known: string[]): HistoryEntry => ({
    id: 2,
    version: { tag: '1.1.0' },
    timestamp: at(-700),
    bakeStatus: 'Deploying',
    knownHealth: known.map((name) => ({ namespace: 'team-a', name, status: 'Pending' })),
  });
  /** The bake after its first minute, of which some checks have become Unhealthy in the last second. */
  const failedChecks = (known: string[], names: string[], unhealthy: string[]) => {
    const context = (status: (name: string) => HealthCheck['status']) => ({
      rollout,
      config: { bakeTime: 3_600_000 },
      healthChecks: names.map((name) => of(name, status(name))),
      bound: [],
      recovery: false,
      now: NOW,
    });
    const healthy = { status: 'Healthy', lastChangeTime: at(-90) };
    const begun = bakeStep(head(known), { ...context(() => healthy), now: NOW - 60_000 }).head;
    expect(begun.bakeStatus).toBe('InProgress');
    const failing = { status: 'Unhealthy', lastChangeTime: at(-1) };
    const next = context((name) => (unhealthy.includes(name) ? failing : healthy));
    return bakeStep(begun, next).head.failedHealthChecks?.map(({ name }) => name);
  };

  it('fails the bake, also if it was selected after the deployment', () => {
    expect(failedChecks(['app'], ['app', 'late'], ['app'])).toEqual(['app']);
    expect(failedChecks(['app'], ['app', 'late'], ['late'])).toEqual(['late']);
  });

  it('fails the bake by its times, if the deployment records no more reports', () => {
    const many = Array.from({ length: LIMITS.knownHealth }, (_, i) => `c${i}`);
    expect(failedChecks(many, [...many, 'late'], ['late'])).toEqual(['late']);
  });
});
