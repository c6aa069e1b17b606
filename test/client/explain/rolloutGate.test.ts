import { expect, it } from 'vitest';
import { explainRolloutGate } from '../../../client/explain/kinds/explainGates.ts';
import { NO_RELATED } from '../../../client/explain/related.ts';
import { rolloutGateSteps } from '../../../client/explain/rollout/rolloutGateSteps.ts';
import { objectOf } from '../../support/objects.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');

const gate = objectOf('RolloutGate', {
  metadata: { namespace: 'shop', name: 'two' },
  spec: { rolloutRef: { name: 'web' }, passing: true, approvals: { required: 2 } },
});

const withList = (allowedVersions: string[]) =>
  objectOf('Rollout', {
    metadata: { namespace: 'shop', name: 'web' },
    spec: { releasesImagePolicy: { name: 'web' } },
    status: { gates: [{ name: 'two', passing: true, allowedVersions }] },
  });

const { approvals: _, ...withoutApprovals } = gate.spec!;

it.each([
  ['an empty list', [], withoutApprovals, 'allows no version yet'],
  ['approvals', [], gate.spec, 'each version needs 2 approvals'],
  ['a list', ['1.1.0', '1.2.0'], gate.spec, 'allows 1.1.0, 1.2.0'],
  [
    'a list of which a version is rejected',
    ['1.1.0', '1.2.0'],
    { ...gate.spec!, rejectedVersions: ['1.2.0'] },
    'allows 1.1.0; rejects 1.2.0',
  ],
])('a RolloutGate with %s says so where nothing waits', (_, list, spec, text) => {
  const { causes } = explainRolloutGate({ ...gate, spec }, withList(list), NOW);
  expect(causes[0]?.text).toBe(`RolloutGate two of Rollout web: ${text}`);
});

it.each<[string, object, string]>([
  ['lets a version through', { allowedVersions: ['1.2.0'] }, 'allowedVersions'],
  ['rejects it', { rejectedVersions: ['1.2.0'] }, 'rejectedVersions'],
  ['is closed', { passing: false }, 'passing'],
])('that somebody %s says who, since when and why', (_, spec, field) => {
  const version = field === 'passing' ? {} : { version: '1.2.0' };
  const record = [{ field, ...version, by: 'sre', at: '2026-03-01T12:00:00Z', reason: 'QA-88' }];
  const qa = objectOf('RolloutGate', {
    metadata: {
      namespace: 'shop',
      name: 'two',
      annotations: { 'rollout.kuberik.com/listed': JSON.stringify(record) },
    },
    spec: { rolloutRef: { name: 'web' }, passing: true, ...spec },
  });
  const { status, ...rest } = withList(['1.2.0']);
  const gates = [{ name: 'two', passing: field !== 'passing', allowedVersions: ['1.2.0'] }];
  const rollout = { ...rest, status: { ...status, pendingVersion: '1.2.0', gates } };
  expect(explainRolloutGate(qa, rollout, NOW).causes[0]?.text).toContain(', by sre at 2026-03-01T12:00:00Z: QA-88');
  expect(rolloutGateSteps(rollout, { ...NO_RELATED, rolloutGates: [qa] }, '1.2.0', NOW)).toMatchObject([
    { by: 'sre', since: '2026-03-01T12:00:00Z', reason: 'QA-88' },
  ]);
});

const waitingAt = (passing: boolean, status: object) =>
  objectOf('Rollout', {
    metadata: { namespace: 'shop', name: 'web' },
    spec: { releasesImagePolicy: { name: 'web' } },
    status: { pendingVersion: '1.2.0', gates: [{ name: 'two', passing }], blockers: [], ...status },
  });

it('a RolloutGate that the shortened list of blockers may leave out is not shown as passed', () => {
  const shortened = { type: 'StatusShortened', status: 'True', reason: 'TooLarge', message: '' };
  const stateWith = (conditions: object[]) =>
    rolloutGateSteps(waitingAt(false, { conditions }), NO_RELATED, '1.2.0', NOW)[0]?.state;
  expect(stateWith([])).toBe('passed');
  expect(stateWith([shortened])).toBe('blocks');
});

it('a RolloutGate that rejects the pending version holds it', () => {
  const rejecting = { ...gate, spec: { rolloutRef: { name: 'web' }, passing: true, rejectedVersions: ['1.2.0'] } };
  const object = { kind: 'RolloutGate', namespace: 'shop', name: 'two' };
  const blockers = [{ type: 'RolloutGate', effect: 'Blocks', reason: 'ReleaseRejected', version: '1.2.0', object }];
  expect(explainRolloutGate(rejecting, waitingAt(true, { blockers }), NOW)).toMatchObject({
    state: 'held',
    headline: 'rejects 1.2.0',
    causes: [{ code: 'RolloutGatesBlocking' }, { code: 'RolloutGatesBlocking' }, { code: 'Rejects' }],
    actions: [{ request: { type: 'approve', object: { name: 'two' }, version: '1.2.0' } }],
  });
});

it('a RolloutGate of a schedule says when it opens', () => {
  const annotations = { 'gate.kuberik.com/until': '2026-03-02T08:00:00Z' };
  const spec = { rolloutRef: { name: 'web' }, passing: false };
  const labels = { 'gate.kuberik.com/schedule-name': 'nights' };
  const nights = { ...gate, metadata: { ...gate.metadata, annotations, labels }, spec };
  const object = { kind: 'RolloutGate', namespace: 'shop', name: 'two' };
  const blockers = [{ type: 'RolloutGate', effect: 'Waits', reason: 'RolloutGatesBlocking', version: '1.2.0', object }];
  expect(explainRolloutGate(nights, waitingAt(false, { blockers }), NOW).next).toEqual({
    text: 'it opens automatically',
    at: '2026-03-02T08:00:00Z',
  });
});

it('a closed RolloutGate that a version bypasses is shown as bypassed', () => {
  const message = 'Gate bypassed for version 1.2.0';
  const gates = [{ name: 'two', passing: false, bypassGates: true, message }];
  expect(rolloutGateSteps(waitingAt(false, { gates }), NO_RELATED, '1.2.0', NOW)).toMatchObject([
    { state: 'passed', detail: message },
  ]);
});
