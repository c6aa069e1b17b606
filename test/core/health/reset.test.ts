import { describe, expect, it } from 'vitest';
import type { HealthCheck, HistoryEntry, Rollout, RolloutSpec } from '../../../api/types.ts';
import { associatedRollouts, association } from '../../../core/health/association.ts';
import { resetStatus } from '../../../core/health/healthStatus.ts';
import { cutoffOf, cutoffsOf, needsReset } from '../../../core/health/knownHealth.ts';
import { objectOf } from '../../support/objects.ts';

const at = (time: string) => `2026-01-02T${time}Z`;
const ms = (time: string) => Date.parse(at(time));
const NOW = ms('12:00:00');

function rollout(fields: {
  name?: string;
  namespace?: string;
  selector?: RolloutSpec['healthCheckSelector'];
  head?: Partial<HistoryEntry>;
}): Rollout {
  return objectOf('Rollout', {
    metadata: { name: fields.name ?? 'app', namespace: fields.namespace ?? 'demo' },
    spec: { releasesImagePolicy: {}, ...(fields.selector && { healthCheckSelector: fields.selector }) },
    ...(fields.head && { status: { history: [{ version: { tag: '1' }, timestamp: '', ...fields.head }] } }),
  });
}

function check(labels: Record<string, string> = {}, namespace = 'demo'): HealthCheck {
  return objectOf('HealthCheck', `${namespace}/hc`, { metadata: { labels } });
}

describe('from when on health counts', () => {
  it.each([
    ['nothing deployed', undefined, undefined],
    ['deployed', { timestamp: at('10:00:00') }, ms('10:00:00')],
    ['retried', { timestamp: at('10:00:00'), lastRetryTimestamp: at('11:00:00') }, ms('11:00:00')],
    ['applied', { timestamp: at('10:00:00'), appliedTime: at('10:05:00') }, ms('10:05:00')],
    ["Go's zero time", { timestamp: '0001-01-01T00:00:00Z', lastRetryTimestamp: at('11:00:00') }, undefined],
    ['a time that does not parse', { timestamp: 'yesterday' }, undefined],
  ])('%s', (_, head, expected) => {
    expect(cutoffOf(rollout(head ? { head } : {}))).toBe(expected);
  });

  it('is the newest past time, and names the next future one', () => {
    const times = ['10:00:00', '11:00:00', '13:00:00', '14:00:00'];
    const rollouts = times.map((time) => rollout({ head: { timestamp: at(time) } }));
    expect(cutoffsOf(rollouts, NOW)).toEqual({ reached: ms('11:00:00'), ahead: ms('13:00:00') });
    expect(cutoffsOf([], NOW)).toEqual({});
  });
});

describe('reset', () => {
  it('comes at the apply too if the deployment has an error that the reset before has removed', () => {
    const known = { name: 'hc', namespace: 'demo', status: 'Healthy', lastChangeTime: at('11:00:00') };
    const knownHealth = [{ ...known, lastErrorTime: at('10:00:00') }];
    const head = { timestamp: at('11:00:00'), appliedTime: at('11:30:00'), knownHealth };
    const { name: _, namespace: __, ...status } = known;
    expect(needsReset({ ...check(), status }, [rollout({ head })], NOW)).toBe(true);
  });

  const PENDING = { status: 'Pending', lastChangeTime: at('11:00:00') };
  it.each([
    ['a report', { ...PENDING, status: 'Healthy' }, 'kustomization', true],
    ['nothing', PENDING, 'kustomization', false],
    ['an error', { ...PENDING, lastErrorTime: at('11:01:00') }, 'kustomization', true],
    ['nothing, for a reporter that may wait for the reset', PENDING, 'datadog', true],
  ])('at the arrival removes %s', (_, status, kind, expected) => {
    const knownHealth = [{ name: 'hc', namespace: 'demo', ...status }];
    const applied = { timestamp: at('10:59:00'), appliedTime: at('11:30:00'), knownHealth };
    const object = { ...check(), spec: { class: kind }, status };
    expect(needsReset(object, [rollout({ head: applied })], NOW)).toBe(expected);
    const retried = { ...applied, lastRetryTimestamp: at('11:40:00') };
    expect(needsReset(object, [rollout({ head: retried })], NOW)).toBe(true);
  });

  it.each([
    ['H5: older than the deployment', { status: 'Healthy', lastChangeTime: at('10:00:00') }, '11:00:00', true],
    [
      'H7: newer than the deployment',
      { status: 'Healthy', lastChangeTime: at('11:30:00'), lastErrorTime: at('09:00:00') },
      '11:00:00',
      false,
    ],
    ['H6: an error and no change', { status: 'Unhealthy', lastErrorTime: at('10:00:00') }, '11:00:00', true],
    ['H9: Healthy without times', { status: 'Healthy' }, '11:00:00', true],
    ['of the same second', { status: 'Healthy', lastChangeTime: at('11:00:00') }, '11:00:00', false],
    [
      'H15: failed after the retry',
      { status: 'Unhealthy', lastChangeTime: at('11:55:00'), lastErrorTime: at('11:55:00') },
      '11:30:00',
      false,
    ],
    ['no status', undefined, '11:00:00', true],
    ['a time that does not parse', { lastChangeTime: 'soon' }, '11:00:00', true],
    ['nothing deployed', { status: 'Healthy' }, undefined, false],
  ])('%s', (_, status, cutoff, expected) => {
    const rollouts = cutoff === undefined ? [] : [rollout({ head: { timestamp: at(cutoff) } })];
    expect(needsReset({ ...check(), ...(status && { status }) }, rollouts, NOW)).toBe(expected);
  });

  it('needs no time to have passed if the report at the deployment is known: the clock was set back since', () => {
    const status = { status: 'Healthy', lastChangeTime: at('10:00:00') };
    const knownHealth = [{ name: 'hc', namespace: 'demo', ...status }];
    const ahead = { timestamp: at('18:00:00') };
    const resets = (status: HealthCheck['status'], head: Partial<HistoryEntry>) =>
      needsReset({ ...check(), status }, [rollout({ head })], NOW);
    expect(resets(status, { ...ahead, knownHealth })).toBe(true);
    expect(resets(resetStatus(status, NOW), { ...ahead, knownHealth })).toBe(false);
    expect(resets(status, ahead)).toBe(false);
  });

  it('compares whole seconds: a cutoff with a fraction resets once, not for ever', () => {
    const fraction = rollout({ head: { timestamp: '2026-01-02T11:59:59.999Z' } });
    const after = { ...check(), status: resetStatus(undefined, Date.parse('2026-01-02T11:59:59.999Z')) };
    expect(needsReset(after, [fraction], NOW)).toBe(false);
  });

  it('H11: Pending, with the time and without the error', () => {
    expect(resetStatus(undefined, NOW)).toEqual({
      status: 'Pending',
      message: 'Health check reset due to new deployment',
      lastChangeTime: at('12:00:00'),
    });
  });
});

describe('association', () => {
  const web = { matchLabels: { app: 'web' } };
  const test = { matchLabels: { environment: 'test' } };
  type Row = [string, RolloutSpec['healthCheckSelector'], HealthCheck, Record<string, string> | undefined, string];
  const rows: Row[] = [
    ['no selector, same namespace', undefined, check(), undefined, 'implied'],
    ['no selector, another namespace', undefined, check({}, 'other'), undefined, 'none'],
    [
      'H13: namespaceSelector only, matching',
      { namespaceSelector: test },
      check({}, 'labeled-namespace'),
      { environment: 'test' },
      'implied',
    ],
    ['H13: namespaceSelector only, own namespace without the label', { namespaceSelector: test }, check(), {}, 'none'],
    ['selector', { selector: web }, check({ app: 'web' }), undefined, 'watched'],
    ['selector, other labels', { selector: web }, check({ app: 'db' }), undefined, 'none'],
    ['short form', { matchLabels: { app: 'web' } }, check({ app: 'web' }), undefined, 'watched'],
    ['empty selector', { selector: {} }, check({ app: 'db' }), undefined, 'watched'],
    [
      'Q20: another namespace',
      { selector: web, namespaceSelector: test },
      check({ app: 'web' }, 'other'),
      { environment: 'test' },
      'watched',
    ],
    [
      'namespace unknown',
      { selector: web, namespaceSelector: test },
      check({ app: 'web' }, 'other'),
      undefined,
      'none',
    ],
    ['every namespace', { selector: web, namespaceSelector: {} }, check({ app: 'web' }, 'other'), undefined, 'watched'],
    [
      'a selector that does not compile',
      { selector: { matchExpressions: [{ key: 'app', operator: 'Near' }] } },
      check({ app: 'web' }),
      undefined,
      'none',
    ],
  ];
  it.each(rows)('%s', (_, selector, healthCheck, namespaceLabels, expected) => {
    expect(association(rollout(selector ? { selector } : {}), healthCheck, namespaceLabels)).toBe(expected);
  });

  it('Q19: a Rollout without a selector does not reset HealthChecks of another Rollout', () => {
    const watching = rollout({ name: 'web', selector: { selector: web } });
    const plain = rollout({ name: 'plain' });
    expect(associatedRollouts([plain, watching], check({ app: 'web' }), undefined)).toEqual([watching]);
    expect(associatedRollouts([plain, watching], check({ app: 'db' }), undefined)).toEqual([plain]);
  });
});
