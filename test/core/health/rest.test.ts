import { describe, expect, it } from 'vitest';
import { resetStatus, type Verdict } from '../../../core/health/healthStatus.ts';
import {
  isAtRest,
  isJustReconciling,
  msUntilEvaluation,
  type Schedule,
  scheduleOf,
} from '../../../core/health/kustomizationCheck.ts';
import { healthCheck, kustomization } from '../../hooks/healthCheck/fixture.ts';

const NOW = Date.parse('2026-01-02T12:00:00Z');
const healthy = { status: { status: 'Healthy' } };
const every = (interval: string) => ({
  annotations: { 'healthcheck.kuberik.com/kustomization': 'web', 'healthcheck.kuberik.com/requeue-interval': interval },
});

describe('at rest', () => {
  it.each<[title: string, fields: object, watched: Schedule['watched'], expected: boolean]>([
    ['Healthy, and no deployment watches it', healthy, 'no', true],
    ['a deployment waits for its bake', healthy, 'beforeBake', false],
    ['a deployment bakes on it', healthy, 'inBake', false],
    ['Unhealthy', { status: { status: 'Unhealthy' } }, 'no', false],
    ['Pending', { status: { status: 'Pending' } }, 'no', false],
    ['never looked at', {}, 'no', false],
    ['of another class', { ...healthy, spec: { class: 'datadog' } }, 'no', false],
    ['its interval is named', { ...healthy, ...every('1m') }, 'no', false],
    ['its interval does not parse', { ...healthy, ...every('soon') }, 'no', true],
  ])('%s', (_, fields, watched, expected) => {
    const check = healthCheck(fields);
    expect(isAtRest(check, scheduleOf(check, { watched }))).toBe(expected);
  });
});

describe('the next requeue', () => {
  const found: Verdict = { health: 'Healthy', message: '' };
  const next = (fields: object, watches: Parameters<typeof scheduleOf>[1] = {}, verdict: Verdict = found) => {
    const check = healthCheck(fields);
    return msUntilEvaluation(check, verdict, scheduleOf(check, watches), NOW);
  };

  it('is after the interval where it is not at rest', () => {
    expect(next(healthy, { watched: 'inBake' })).toBe(30_000);
    expect(next({ ...healthy, ...every('2m') })).toBe(120_000);
    expect(next(healthy, {}, { health: 'Pending', message: '' })).toBe(30_000);
  });

  const since = (ms: number, status: object) => ({ ...status, lastChangeTime: new Date(NOW - ms).toISOString() });
  const reset = resetStatus(undefined, NOW - 545_000);
  const waits: Verdict = { health: 'Pending', message: '', awaits: 'event' };
  it.each<[title: string, status: object, watched: Schedule['watched'], expected: number, verdict?: Verdict]>([
    ['half a minute later, if it has just become Healthy', since(10_000, healthy.status), 'beforeBake', 30_000],
    ['after as long as it has been Healthy', since(90_000, healthy.status), 'beforeBake', 90_000],
    ['ten minutes after its reset, to say what it waits for', reset, 'no', 55_000, waits],
  ])('is sooner while a deployment waits: %s', (_, status, watched, expected, verdict = found) => {
    expect(next({ status }, { watched, isTriggered: true }, verdict)).toBe(expected);
  });

  it('is in about ten minutes where it is, at another time for each, and always the same for one', () => {
    const of = (uid: string) => next({ metadata: { uid } });
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
