import { describe, expect, it } from 'vitest';
import { resetStatus } from '../../../core/health/healthStatus.ts';
import { isAtRest, isJustReconciling, msUntilEvaluation } from '../../../core/health/kustomizationCheck.ts';
import { healthCheck, kustomization } from '../../hooks/healthCheck/fixture.ts';

const NOW = Date.parse('2026-01-02T12:00:00Z');
const healthy = { status: { status: 'Healthy' } };
const every = (interval: string) => ({
  annotations: { 'healthcheck.kuberik.com/kustomization': 'web', 'healthcheck.kuberik.com/requeue-interval': interval },
});

describe('at rest', () => {
  it.each([
    ['Healthy, and nobody bakes on it', healthy, false, true],
    ['somebody bakes on it', healthy, true, false],
    ['Unhealthy', { status: { status: 'Unhealthy' } }, false, false],
    ['Pending', { status: { status: 'Pending' } }, false, false],
    ['never looked at', {}, false, false],
    ['of another class', { ...healthy, spec: { class: 'datadog' } }, false, false],
    ['its interval is named', { ...healthy, ...every('1m') }, false, false],
    ['its interval does not parse', { ...healthy, ...every('soon') }, false, true],
  ])('%s', (_, fields, isWatched, expected) => {
    expect(isAtRest(healthCheck(fields), isWatched)).toBe(expected);
  });
});

describe('the next requeue', () => {
  it('is after the interval where it is not at rest', () => {
    expect(msUntilEvaluation(healthCheck(healthy), false, false, NOW)).toBe(30_000);
    expect(msUntilEvaluation(healthCheck(every('2m')), false, false, NOW)).toBe(120_000);
  });

  const since = (ms: number, status: object) => ({ ...status, lastChangeTime: new Date(NOW - ms).toISOString() });
  const reset = resetStatus(undefined, NOW - 545_000);
  it.each([
    ['half a minute later, if it has just become Healthy', since(10_000, healthy.status), true, 30_000],
    ['after as long as it has been Healthy', since(90_000, healthy.status), true, 90_000],
    ['ten minutes after its reset, to say what it waits for', reset, false, 55_000],
  ])('is sooner while a deployment waits: %s', (_, status, isAwaited, expected) => {
    expect(msUntilEvaluation(healthCheck({ status }), true, isAwaited, NOW)).toBe(expected);
  });

  it('is in about ten minutes where it is, at another time for each, and always the same for one', () => {
    const of = (uid: string) => msUntilEvaluation(healthCheck({ metadata: { uid } }), true, false, NOW);
    const looks = Array.from({ length: 100 }, (_, i) => of(`uid-${i}`));
    expect(new Set(looks).size).toBeGreaterThan(90);
    expect(Math.min(...looks)).toBeGreaterThanOrEqual(480_000);
    expect(Math.max(...looks)).toBeLessThanOrEqual(720_000);
    expect(looks.reduce((sum, look) => sum + look, 0) / 100).toBeCloseTo(600_000, -5);
    expect(of('uid-1')).toBe(of('uid-1'));
  });
});

describe('Flux is at work', () => {
  const reconciling = (fields: object) => {
    const began = {
      type: 'Reconciling',
      status: 'True',
      reason: 'Progressing',
      lastTransitionTime: '2026-01-02T11:59:40Z',
    };
    return kustomization({ conditions: [{ ...began, ...fields }] }) as never;
  };

  it.each([
    ['it began a moment ago', {}, true],
    ['by a clock that is a little ahead', { lastTransitionTime: '2026-01-02T12:00:03Z' }, true],
    ['it has been at it for longer', { lastTransitionTime: '2026-01-02T11:59:30Z' }, false],
    ['by a clock that is far ahead', { lastTransitionTime: '2027-01-01T00:00:00Z' }, false],
    ['nobody knows since when', { lastTransitionTime: undefined }, false],
    ['it has failed and tries again', { reason: 'ProgressingWithRetry' }, false],
    ['it is done', { status: 'False' }, false],
    ['another condition', { type: 'Ready' }, false],
  ])('%s', (_, fields, expected) => {
    expect(isJustReconciling(reconciling(fields), NOW)).toBe(expected);
  });

  it('ignores missing objects', () => {
    expect(isJustReconciling(undefined, NOW)).toBe(false);
  });
});
