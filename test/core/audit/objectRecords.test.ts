/** Records from objects of the cluster. */
import { expect, it } from 'vitest';
import type { Rollout } from '../../../api/types.ts';
import { historyGap } from '../../../client/audit/auditReport.ts';
import { formatApprovals } from '../../../core/approval/approvalRecord.ts';
import { type AuditedObject, recordsOfObject } from '../../../core/audit/objectRecords.ts';
import { formatAcceptedRequests } from '../../../core/gate/gateRequests.ts';
import { formatListed } from '../../../core/record/listRecord.ts';

const AT = '2026-03-04T10:00:00Z';
const NOW = Date.parse(AT);
const object = (kind: string, annotations: Record<string, string>, more: object = {}): AuditedObject =>
  ({ apiVersion: 'v1', kind, metadata: { namespace: 'shop', name: 'web', annotations }, spec: {}, ...more }) as never;
const history = (entry: object) => object('Rollout', {}, { status: { history: [entry] } });
const deployment = { id: 3, version: { tag: '1.2.0' }, timestamp: AT, bakeStatus: 'Succeeded' };

it.each<[what: string, object: AuditedObject, lines: string[]]>([
  ['an automatic deployment', history(deployment), ['Deployed Rollout shop/web - 1.2.0 (Succeeded)']],
  [
    'a manual deployment with its message',
    history({ ...deployment, requestedBy: 'alice', message: 'hotfix' }),
    ['Deployed Rollout shop/web alice 1.2.0 hotfix (Succeeded)'],
  ],
  [
    'the approvals and openings that let it through',
    history({
      ...deployment,
      approvals: [
        { gate: 'qa', kind: 'RolloutGate', at: AT, by: 'bob', reason: 'tested' },
        { gate: 'flux-system/freeze', at: AT, by: 'carol' },
      ],
    }),
    [
      'Deployed Rollout shop/web - 1.2.0 (Succeeded)',
      'Approved RolloutGate shop/qa bob 1.2.0 tested',
      'Opened Gate flux-system/freeze carol -',
    ],
  ],
  [
    'a bypass',
    history({ ...deployment, bypass: { by: 'sre', at: AT, reason: 'INC-7', gates: ['flux-system/freeze'] } }),
    ['Deployed Rollout shop/web - 1.2.0 (Succeeded)', 'Bypassed Rollout shop/web sre 1.2.0 INC-7 (flux-system/freeze)'],
  ],
  [
    'a pinned version',
    object(
      'Rollout',
      { 'rollout.kuberik.com/pin': JSON.stringify({ version: '1.1.0', by: 'alice', at: AT, reason: 'stay' }) },
      { spec: { wantedVersion: '1.1.0' } },
    ),
    ['Pinned Rollout shop/web alice 1.1.0 stay'],
  ],
  [
    'a pin that was removed',
    object('Rollout', { 'rollout.kuberik.com/pin': JSON.stringify({ from: '1.1.0', by: 'alice', at: AT }) }),
    ['Unpinned Rollout shop/web alice 1.1.0'],
  ],
  [
    'approvals of a RolloutGate, and a change of who has to approve',
    object('RolloutGate', {
      'rollout.kuberik.com/approvals': formatApprovals({
        given: [{ version: '1.2.0', by: 'bob', at: NOW, reason: 'tested' }],
        changes: [
          {
            number: 1,
            by: 'mallory',
            at: NOW,
            fields: [{ path: 'approvals.required', from: '2', to: '1' }],
            progress: '1/2 for 1.2.0',
          },
        ],
      })!,
    }),
    [
      'Approved RolloutGate shop/web bob 1.2.0 tested',
      'RuleChanged RolloutGate shop/web mallory - (spec.approvals.required: 2 → 1, with 1/2 for 1.2.0)',
    ],
  ],
  [
    'versions on the lists of a RolloutGate, and its closure',
    object(
      'RolloutGate',
      {
        'rollout.kuberik.com/listed': formatListed([
          { field: 'allowedVersions', version: '1.2.0', by: 'alice', at: NOW },
          { field: 'rejectedVersions', version: '1.3.0', by: 'bob', at: NOW, reason: 'broken' },
          { field: 'passing', by: 'carol', at: NOW },
        ])!,
      },
      { spec: { passing: false } },
    ),
    [
      'Allowed RolloutGate shop/web alice 1.2.0',
      'Rejected RolloutGate shop/web bob 1.3.0 broken',
      'Closed RolloutGate shop/web carol -',
    ],
  ],
  [
    'requests of a Gate',
    object('Gate', {
      'gate.fluxcd.io/accepted-request': formatAcceptedRequests({
        current: { action: 'close', at: NOW, by: 'sre', reason: 'INC-7' },
        exception: { action: 'open', at: NOW + 1000, by: 'sre', for: 'shop/web:1.2.0' },
        handled: {},
      }),
    }),
    ['Closed Gate shop/web sre - INC-7', 'OpenPlanned Gate shop/web sre shop/web:1.2.0 (planned for this time)'],
  ],
  [
    'a request by a clock that is ahead, which is in effect: no plan',
    object('Gate', {
      'gate.fluxcd.io/accepted-request': formatAcceptedRequests({
        current: { action: 'open', at: NOW + 30_000, by: 'sre' },
        handled: {},
      }),
    }),
    ['Opened Gate shop/web sre -'],
  ],
  [
    'a planned closure whose time has come',
    object('Gate', {
      'gate.fluxcd.io/accepted-request': formatAcceptedRequests({
        planned: { action: 'close', at: NOW, by: 'sre' },
        handled: {},
      }),
    }),
    ['Closed Gate shop/web sre -'],
  ],
  [
    'the calendar of a Gate',
    object(
      'Gate',
      { 'gate.fluxcd.io/scheduled-by': JSON.stringify({ by: 'sre', at: AT, reason: 'year end' }) },
      { spec: { schedule: { rules: [] } } },
    ),
    ['RuleChanged Gate shop/web sre - year end (spec.schedule)'],
  ],
  [
    'a bypass of what a Gate holds',
    object('Kustomization', { 'gate.fluxcd.io/bypass-reason': 'INC-7', 'gate.fluxcd.io/bypassed-by': `${AT} sre` }),
    ['Bypassed Kustomization shop/web sre - INC-7'],
  ],
  [
    'a version that a budget had stopped',
    object('RolloutBudget', {}, { status: { versions: [{ version: '1.2.0', continuedBy: 'sre', continuedAt: AT }] } }),
    ['Continued RolloutBudget shop/web sre 1.2.0'],
  ],
  [
    'nothing where a tenant has written what only the webhook writes',
    object('Gate', { 'gate.fluxcd.io/accepted-request': 'closed by bob', 'gate.fluxcd.io/approvals': '[' }),
    [],
  ],
])('%s', (_, given, lines) => {
  const records = recordsOfObject(given, NOW).map(
    ({ action, object: { kind, namespace, name }, user, version, reason, detail }) =>
      [action, kind, `${namespace}/${name}`, user ?? '-', version ?? '-', reason, detail && `(${detail})`]
        .filter(Boolean)
        .join(' '),
  );
  expect(records).toEqual(lines);
});

it.each<[what: string, tags: string[], changes: string[]]>([
  ['goes up from the first', ['1.2.0', '1.1.0'], ['Upgrade', 'First']],
  ['goes back, by whoever', ['1.1.0', '1.2.0', '1.1.0'], ['Rollback', 'Upgrade', 'First']],
  ['goes up again after that', ['1.2.0', '1.1.0', '1.2.0', '1.1.0'], ['Upgrade', 'Rollback', 'Upgrade', 'First']],
  ['deploys one version twice', ['1.1.0', '1.1.0'], ['Upgrade', 'First']],
])('a history that %s', (_, tags, changes) => {
  const entries = tags.map((tag, index) => ({ ...deployment, id: tags.length - index, version: { tag } }));
  const records = recordsOfObject(object('Rollout', {}, { status: { history: entries } }), NOW);
  expect(records.map(({ change }) => change)).toEqual(changes);
});

it('a rollback of the hooks is one, and a history that was cut does not begin with a first deployment', () => {
  const digest = `sha256:${'a'.repeat(64)}`;
  const entry = { ...deployment, version: { tag: '1.1.0', digest }, rolledBackFrom: '1.2.0' };
  expect(recordsOfObject(history(entry), NOW)).toMatchObject([{ change: 'Rollback', digest }]);
  expect(recordsOfObject(history(deployment), NOW)).toMatchObject([{ change: 'Upgrade' }]);
});

it.each<[what: string, id: number, since: string, isGap: boolean]>([
  ['begins later, and older entries were dropped', 3, '2026-03-01T00:00:00Z', true],
  ['begins with the first deployment', 1, '2026-03-01T00:00:00Z', false],
  ['reaches back far enough', 3, '2026-03-05T00:00:00Z', false],
])('a history that %s', (_, id, since, isGap) => {
  const rollout = history({ ...deployment, id }) as Rollout;
  const gap = { kind: 'HistoryBegins', object: { kind: 'Rollout', namespace: 'shop', name: 'web' }, at: AT };
  expect(historyGap(rollout, Date.parse(since))).toEqual(isGap ? [gap] : []);
});
