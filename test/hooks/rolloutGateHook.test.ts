/** Events of a RolloutGate about its approvals. */
import { describe, expect, it } from 'vitest';
import type { HookCall } from '../../api/ports.ts';
import type { Rollout, RolloutGate } from '../../api/types.ts';
import { fakeHookCall } from '../../dev/fakes/ports.ts';
import { controller, decorating } from '../../dev/fakes/requests.ts';
import { rolloutGateHook } from '../../hooks/rolloutGateHook.ts';
import { objectOf } from '../support/objects.ts';
import { requestedBy } from '../support/requestRecords.ts';

const P = 'rollout.kuberik.com/';
const T = (time: string) => `2026-03-01T${time}Z`;

type Rule = NonNullable<NonNullable<RolloutGate['spec']>['approvals']>;
type Record = { given?: object[]; changes?: object[] };

const alice = { version: '1.1.0', by: 'alice', at: T('10:00:00'), reason: 'CHG-1' };
const bob = { version: '1.1.0', by: 'bob', at: T('10:05:00') };

function gateOf(approvals: Rule | undefined, record: Record, status?: RolloutGate['status']): RolloutGate {
  return objectOf('RolloutGate', 'shop/prod', {
    metadata: {
      uid: 'u-1',
      labels: { [`${P}rollout-name`]: 'app' },
      annotations: { [`${P}approvals`]: JSON.stringify({ given: [], ...record }) },
    },
    spec: { rolloutRef: { name: 'app' }, passing: true, ...(approvals && { approvals }) },
    ...(status && { status }),
  });
}

const rolloutOf = (annotations: { [key: string]: string } = {}): Rollout =>
  objectOf('Rollout', 'shop/app', {
    metadata: { annotations },
    spec: { releasesImagePolicy: { name: 'app' } },
    status: { pendingVersion: '1.1.0', releaseAuthors: [{ tag: '1.1.0', authors: 'Carol' }] },
  });

async function sync(gate: RolloutGate, at: string, rollout: Rollout = rolloutOf()) {
  const { call, events } = fakeHookCall({ now: Date.parse(at) });
  const answer = await rolloutGateHook.sync(decorating(gate, { related: [rollout] }), call);
  const status = answer.status as RolloutGate['status'];
  return {
    status,
    resync: answer.resyncAfterSeconds,
    involvedObjects: events.map(({ involvedObjects }) => involvedObjects),
    said: events.map(({ type, reason, message }) => `${type === 'Normal' ? '' : `${type} `}${reason}: ${message}`),
  };
}

describe('the status of a RolloutGate', () => {
  it('reports the approvals of the pending version, with their users', async () => {
    const { status, resync, said, involvedObjects } = await sync(
      gateOf({ required: 2, expireAfter: '1h' }, { given: [alice] }),
      T('10:01:00'),
    );
    expect(status?.approvals).toEqual({
      required: 2,
      progress: '1/2 for 1.1.0',
      versions: [
        {
          version: '1.1.0',
          count: 1,
          enough: false,
          given: [{ by: 'alice', at: T('10:00:00'), reason: 'CHG-1', expiresAt: T('11:00:00') }],
        },
      ],
    });
    // Until it is stored; then until the approval expires.
    expect(resync).toBe(1);
    expect(said).toEqual(['Approved: 1.1.0 is approved by alice: CHG-1 (1 of 2 approvals)']);
    expect(involvedObjects).toEqual([[{ kind: 'Rollout', namespace: 'shop', name: 'app' }]]);
    const stored = gateOf({ required: 2, expireAfter: '1h' }, { given: [alice] }, status);
    const again = await sync(stored, T('10:01:00'));
    expect([again.status, again.resync, again.said]).toEqual([status, 59 * 60, []]);
  });

  it('reports 0 of a pending version without approvals, and only the required number if none is pending', async () => {
    expect((await sync(gateOf({ required: 2 }, {}), T('10:00:00'))).status?.approvals?.progress).toBe('0/2 for 1.1.0');
    const idle = objectOf('Rollout', { ...rolloutOf(), status: {} });
    expect((await sync(gateOf({ required: 2 }, {}), T('10:00:00'), idle)).status?.approvals?.progress).toBe('0/2');
  });

  it('reports the requester and the writer', async () => {
    const carol = { version: '1.1.0', by: 'carol', at: T('10:06:00') };
    const rollout = rolloutOf({ [`${P}force-deploy`]: '1.1.0', ...requestedBy({ 'force-deploy': 'bob' }) });
    const rule: Rule = { required: 2, notBy: ['requester', 'author'] };
    const { status } = await sync(gateOf(rule, { given: [alice, bob, carol] }), T('10:10:00'), rollout);
    const [version] = status?.approvals?.versions ?? [];
    expect(version?.count).toBe(1);
    expect(version?.given.map(({ doesNotCount }) => doesNotCount)).toEqual([
      undefined,
      'requested it',
      'is named as its author',
    ]);
  });

  it.each([
    ['Carol', requestedBy({ 'force-deploy': 'bob' }), 'requested it'],
    [undefined, {}, 'the authors of the release are unknown'],
  ])('names in the Event why an approval does not count, with authors %s', async (authors, requesters, why) => {
    const requested = rolloutOf({ [`${P}force-deploy`]: '1.1.0', ...requesters });
    const status = { ...requested.status, releaseAuthors: authors === undefined ? [] : [{ tag: '1.1.0', authors }] };
    const rollout = objectOf('Rollout', { ...requested, status });
    const rule: Rule = { required: 1, notBy: ['requester', 'author'] };
    const { said } = await sync(gateOf(rule, { given: [bob] }), T('10:10:00'), rollout);
    expect(said).toEqual([`Approved: 1.1.0 is approved by bob (doesn't count: ${why}) (0 of 1 approval)`]);
  });

  describe('once the version is deployed', () => {
    const deployed = (status: object, annotations = {}) =>
      objectOf<'Rollout'>('Rollout', { ...rolloutOf(annotations), status: { ...rolloutOf().status, ...status } });
    const entry = { id: 2, version: { tag: '1.1.0' }, timestamp: T('10:08:00') };
    const rule: Rule = { required: 1, notBy: ['requester', 'author'] };
    const versionOf = async (rollout: Rollout, given = [alice, bob]) => {
      const { status, said } = await sync(gateOf(rule, { given }), T('10:10:00'), rollout);
      const version = status?.approvals?.versions?.[0];
      const aside = version?.given.flatMap(({ by, doesNotCount }) => (doesNotCount ? `${by} ${doesNotCount}` : []));
      return { progress: status?.approvals?.progress, count: version?.count, aside, said };
    };

    it.each([
      ['does not count who requested it', { ...entry, requestedBy: 'bob' }, ['bob requested it']],
      [
        'does not count for whom it was asked',
        { ...entry, requestedBy: 'ci', triggeredBy: { kind: 'User', name: 'Bob' } },
        ['bob is named as its requester'],
      ],
    ])('%s', async (_, head, aside) => {
      const rollout = deployed({ pendingVersion: undefined, history: [head] });
      expect(await versionOf(rollout)).toMatchObject({ progress: '1/1 for 1.1.0', count: 1, aside });
    });

    it('counts approvals even if its pin has no record of its user', async () => {
      const rollout = deployed({ pendingVersion: undefined, history: [entry] });
      const pinned = { ...rollout, spec: { ...rollout.spec!, wantedVersion: '1.1.0' } };
      expect(await versionOf(pinned)).toMatchObject({ count: 2, aside: [] });
    });

    it('uses the current requester if the version is to be deployed again', async () => {
      const again = { [`${P}force-deploy`]: '1.1.0', ...requestedBy({ 'force-deploy': 'alice' }) };
      const rollout = deployed({ history: [{ ...entry, requestedBy: 'bob' }] }, again);
      expect(await versionOf(rollout)).toMatchObject({ count: 1, aside: ['alice requested it'] });
    });
  });

  it('reports complete, expired and withdrawn approvals', async () => {
    const rule: Rule = { required: 2, expireAfter: '1h' };
    const first = await sync(gateOf(rule, { given: [alice] }), T('10:01:00'));
    const both = await sync(gateOf(rule, { given: [alice, bob] }, first.status), T('10:06:00'));
    expect(both.said).toEqual([
      'Approved: 1.1.0 is approved by bob (2 of 2 approvals)',
      'ApprovalsComplete: 1.1.0 has 2 of 2 approvals: alice, bob',
    ]);
    const later = await sync(gateOf(rule, { given: [alice, bob] }, both.status), T('11:00:00'));
    expect(later.said).toEqual(['ApprovalExpired: The approval of 1.1.0 by alice has expired']);
    const without = await sync(gateOf(rule, { given: [] }, later.status), T('11:01:00'));
    expect(without.said).toEqual([
      'ApprovalWithdrawn: The approval of 1.1.0 by bob no longer counts: it was withdrawn, revoked or dropped',
    ]);
    expect(without.status?.approvals).not.toHaveProperty('versions');
  });

  const required = (from: string | undefined, to: string | undefined) => ({ path: 'approvals.required', from, to });
  const change = (number: number, at: string, ...fields: object[]) => ({ number, by: 'sre', at: T(at), fields });

  it('reports each change of the rule once, with its user, and drops approvals if none are required', async () => {
    const first = await sync(gateOf({ required: 2 }, { given: [alice] }), T('10:01:00'));
    const lowered = { ...change(1, '10:02:00', required('2', '1')), progress: '1/2 for 1.1.0' };
    const record = { given: [alice], changes: [lowered] };
    const fewer = await sync(gateOf({ required: 1 }, record, first.status), T('10:12:00'));
    expect(fewer.status?.approvals).toMatchObject({
      required: 1,
      changedBy: 'sre',
      changedAt: T('10:02:00'),
      changes: 1,
    });
    expect(fewer.said[0]).toBe(
      `Warning ApprovalsChanged: sre changed spec.approvals.required from 2 to 1 at ${T('10:02:00')}; approvals until then: 1/2 for 1.1.0`,
    );
    expect((await sync(gateOf({ required: 1 }, record, fewer.status), T('10:13:30'))).said).toEqual([]);
    const removed = change(2, '10:13:00', required('1', undefined));
    const gone = await sync(gateOf(undefined, { changes: [lowered, removed] }, fewer.status), T('10:23:00'));
    expect(gone.status).not.toHaveProperty('approvals');
    expect(gone.said).toEqual([
      `Warning ApprovalsChanged: sre changed spec.approvals.required from 1 to none at ${T('10:13:00')}`,
    ]);
  });

  it('reports several changes between two syncs, of more approvals and of another Rollout too', async () => {
    const first = await sync(gateOf({ required: 2 }, {}), T('10:00:00'));
    const changes = [
      change(1, '10:01:00', { path: 'rolloutRef.name', from: 'app', to: 'other' }),
      change(
        2,
        '10:01:01',
        { path: 'rolloutRef.name', from: 'other', to: 'app' },
        { path: 'approvals.notBy', from: 'requester' },
      ),
      change(3, '10:01:02', required('2', '3')),
    ];
    const { said } = await sync(gateOf({ required: 3 }, { changes }, first.status), T('11:00:00'));
    expect(said).toEqual([
      `Warning ApprovalsChanged: sre changed spec.rolloutRef.name from app to other at ${T('10:01:00')}`,
      `Warning ApprovalsChanged: sre changed spec.rolloutRef.name from other to app, spec.approvals.notBy from requester to none at ${T('10:01:01')}`,
      `Warning ApprovalsChanged: sre changed spec.approvals.required from 2 to 3 at ${T('10:01:02')}`,
    ]);
  });

  it('reports a change of the last minute whatever the status has, which a client may have written', async () => {
    const changes = [change(1, '10:01:00', required('2', '1'))];
    const forged = { approvals: { required: 1, changes: 7 } };
    for (const status of [undefined, forged]) {
      const { said } = await sync(gateOf({ required: 1 }, { changes }, status), T('10:01:05'));
      expect(said).toEqual([expect.stringContaining('sre changed spec.approvals.required')]);
      expect((await sync(gateOf({ required: 1 }, { changes }, status), T('11:01:00'))).said).toEqual([]);
    }
  });

  it('reports a change that the webhook has not seen, without a user', async () => {
    const { said } = await sync(gateOf({ required: 1 }, {}, { approvals: { required: 2 } }), T('10:00:00'));
    expect(said).toEqual([
      'Warning ApprovalsChanged: spec.approvals.required changed from 2 to 1 while the webhook was down: user unknown',
    ]);
  });

  it.each([
    [{}, 'True', 'Passing', 'Passing'],
    [{ passing: true, allowedVersions: ['1.0.0'] }, 'True', 'Passing', 'Passing: the versions of spec.allowedVersions'],
    [{ passing: false }, 'False', 'NotPassing', 'spec.passing is false: no version passes'],
  ])('says whether it is passing: %j', async (spec, status, reason, message) => {
    const gate = gateOf(undefined, {});
    const own = { ...gate, metadata: { ...gate.metadata, generation: 3 }, spec: { ...gate.spec!, ...spec } };
    const lastTransitionTime = T('10:00:00');
    const conditions = [{ type: 'Ready', status, reason, message, observedGeneration: 3, lastTransitionTime }];
    const first = await sync(own, T('10:00:00'));
    expect(first.status).toEqual({ observedGeneration: 3, conditions });
    expect((await sync({ ...own, status: first.status }, T('10:00:09'))).status).toEqual(first.status);
  });
});

it('only a gate that requires approvals relates its Rollout', async () => {
  const rules = async (gate: RolloutGate) =>
    (await rolloutGateHook.customize!({ controller, parent: gate }, {} as HookCall)).relatedResources;
  expect(await rules(gateOf(undefined, {}))).toEqual([]);
  expect(await rules(gateOf({ required: 1 }, {}))).toMatchObject([
    { resource: 'rollouts', namespace: 'shop', names: ['app'] },
  ]);
});
